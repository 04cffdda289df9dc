// The messaging domain: who accounts are to each other, and what they write.
import type { RefusalError } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { messagingFiles } from './account-files.ts';
import { queueForgetting } from './bridge/forget-accounts.ts';
import { removeParty } from './bundled/queries.ts';
import { countReadable } from './bundled/read-queries.ts';
import { chooseTransport } from './choose-transport.ts';
import { publishingMessages } from './notices.ts';
import { requireServerName } from './provisioning.ts';
import { type MessagingRoute, messagingRoutes } from './routes.ts';
import { messagingTools } from './tools.ts';

export function messagingDomain(context: CoreContext): Domain<MessagingRoute> {
  const chosen = chooseTransport(context);
  const handlers = messagingRoutes(context, chosen.transport);
  return {
    handlers: chosen.unavailable === null ? handlers : refusing(handlers, chosen.unavailable),
    tools: messagingTools,
    // What a bridge carries is counted by nobody here.
    opens: { 'messaging.read': ({ accountKey }) => countReadable(context.database, accountKey) },
    jobs: [publishingMessages(context, chosen.bundled.find), ...chosen.jobs],
    workers: chosen.workers,
    starting: () => requireServerName(context),
    async accountDeleted(trx, accountKey) {
      await removeParty(trx, accountKey);
      await queueForgetting(context, trx, accountKey);
    },
    filesOf: ({ accountKey }) => messagingFiles(chosen, accountKey),
  };
}

function refusing(handlers: HandlersOf<MessagingRoute>, refusal: () => RefusalError): HandlersOf<MessagingRoute> {
  const refuseAll = async (): Promise<never> => {
    throw refusal();
  };
  return Object.fromEntries(
    Object.keys(handlers).map((id) => [id, refuseAll]),
  ) as unknown as HandlersOf<MessagingRoute>;
}
