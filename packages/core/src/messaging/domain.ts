// The messaging domain: who accounts are to each other, and what they write.
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { messagingFiles } from './account-files.ts';
import { bundledTransport } from './bundled/bundled-transport.ts';
import { removeParty } from './bundled/queries.ts';
import { publishingMessages } from './notices.ts';
import { requireServerName } from './provisioning.ts';
import { type MessagingRoute, messagingRoutes } from './routes.ts';

export function messagingDomain(context: CoreContext): Domain<MessagingRoute> {
  const transport = bundledTransport(context);
  return {
    handlers: messagingRoutes(context, transport),
    jobs: [publishingMessages(context, transport.find)],
    starting: () => requireServerName(context),
    accountDeleted: (trx, accountKey) => removeParty(trx, accountKey),
    filesOf: ({ accountKey }) => messagingFiles(transport, accountKey),
  };
}
