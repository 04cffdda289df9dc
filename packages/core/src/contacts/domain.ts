// The contacts domain: the address book of each account.
import { limits } from '@platform/contract';
import { everyItem, jsonLines } from '../account-files.ts';
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { listContacts } from './contacts.ts';
import { type ContactRoute, contactRoutes } from './routes.ts';
import { contactTools } from './tools.ts';

export function contactDomain(context: CoreContext): Domain<ContactRoute> {
  return {
    handlers: contactRoutes(context),
    tools: contactTools,
    filesOf: ({ accountKey }) =>
      jsonLines(
        'contacts',
        everyItem((cursor) => listContacts(context, accountKey, { limit: limits.pageMaximum.value, cursor })),
      ),
  };
}
