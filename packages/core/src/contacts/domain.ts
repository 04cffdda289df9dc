// The contacts domain: the address book of each account.
import { limits } from '@platform/contract';
import { everyItem, jsonLines } from '../account-files.ts';
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { listContacts } from './contacts.ts';
import { type ContactRoute, contactRoutes } from './routes.ts';

export function contactDomain(context: CoreContext): Domain<ContactRoute> {
  return {
    handlers: contactRoutes(context),
    filesOf: ({ accountKey }) =>
      jsonLines(
        'contacts',
        everyItem((cursor) => listContacts(context, accountKey, { limit: limits.pageMaximum.value, cursor })),
      ),
  };
}
