// Contacts over HTTP, for the shell.
import type { DomainRoute } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { addContact, changeContact, listContacts, removeContact } from './contacts.ts';

export type ContactRoute = DomainRoute<'contacts'>;

export function contactRoutes(context: CoreContext): HandlersOf<ContactRoute> {
  return {
    'account.contacts.list': async ({ caller, query }) => ({
      status: 200,
      body: await listContacts(context, caller.accountKey, query),
    }),
    'account.contacts.add': async ({ caller, body }) => ({
      status: 201,
      body: { contact: await addContact(context, caller.accountKey, body) },
    }),
    'account.contacts.change': async ({ caller, params, body }) => {
      const contact = { accountKey: caller.accountKey, id: params.contactId };
      return { status: 200, body: { contact: await changeContact(context, contact, body) } };
    },
    'account.contacts.remove': async ({ caller, params }) => {
      await removeContact(context, caller.accountKey, params.contactId);
      return { status: 204 };
    },
  };
}
