// The address book: whole for the platform's own Contacts, and one person at a time, whom the person picks, for every other app.
import type { ContactId } from '@platform/contract';
import type { MethodsOf } from '../method.ts';
import { addressText, contactIdText, cursorText, labelText, noteText, optional, wholeNumber } from '../params.ts';

const FOR_CONTACTS = { only: ['contacts'] } as const;

export const contactMethods: MethodsOf<'contacts'> = {
  'contacts.list': {
    ...FOR_CONTACTS,
    params: { limit: optional(wholeNumber(1, 200)), cursor: optional(cursorText) },
    run: ({ shell, params }) => shell.call('account.contacts.list', { query: { ...params } }),
  },
  'contacts.add': {
    ...FOR_CONTACTS,
    params: { address: addressText, label: optional(labelText), note: optional(noteText) },
    run: async ({ shell, params }) => (await shell.call('account.contacts.add', { body: params })).contact,
  },
  'contacts.edit': {
    ...FOR_CONTACTS,
    params: { id: contactIdText, label: optional(labelText), note: optional(noteText) },
    run: async ({ shell, params: { id, ...body } }) =>
      (await shell.call('account.contacts.change', { params: { contactId: id as ContactId }, body })).contact,
  },
  'contacts.remove': {
    ...FOR_CONTACTS,
    params: { id: contactIdText },
    run: async ({ shell, params }) => {
      await shell.call('account.contacts.remove', { params: { contactId: params.id as ContactId } });
      return null;
    },
  },
  'contacts.pick': {
    params: {},
    front: true,
    asks: ({ shell, caller }) => shell.pickContact(caller.appId),
    run: (_, contact) => ({ contact }),
  },
};
