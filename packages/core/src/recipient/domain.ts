// The recipient domain: the public key for which apps encrypt for a person, and what their passkeys open it with. Nothing here
// opens it.
import { jsonFile } from '../account-files.ts';
import { publicId } from '../accounts/face.ts';
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { dropWrapping, selectRecipient } from './queries.ts';
import { type RecipientRoute, recipientRoutes } from './routes.ts';

export function recipientDomain(context: CoreContext): Domain<RecipientRoute> {
  return {
    handlers: recipientRoutes(context),
    passkeyRemoved: (trx, { accountKey, passkeyId }) => dropWrapping(trx, accountKey, publicId(passkeyId)),
    async *filesOf({ accountKey }) {
      yield jsonFile('recipient.json', { recipient: await selectRecipient(context.database, accountKey) });
    },
  };
}
