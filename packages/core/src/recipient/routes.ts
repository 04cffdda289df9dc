// The recipient of the account over HTTP, for the shell.
import type { DomainRoute } from '@platform/contract';
import { ceremonyRefused } from '../accounts/face.ts';
import type { CoreContext } from '../context.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { putRecipient } from './put-recipient.ts';
import { selectRecipient } from './queries.ts';

export type RecipientRoute = DomainRoute<'recipient'>;

export function recipientRoutes(context: CoreContext): HandlersOf<RecipientRoute> {
  return {
    'recipient.read': async ({ caller: { accountKey } }) => ({
      status: 200,
      body: { recipient: await selectRecipient(context.database, accountKey) },
    }),
    'recipient.put': async ({ caller, body, request }) => {
      const refused = (fault: Parameters<typeof ceremonyRefused>[3]) =>
        ceremonyRefused(context.log, request, 'replace-recipient', fault);
      return { status: 200, body: { recipient: await putRecipient(context, { caller, refused }, body) } };
    },
  };
}
