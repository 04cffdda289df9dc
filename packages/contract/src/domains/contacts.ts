// The people that an account knows (contract 4f, Contacts): one book for all its apps, kept by its owner.
import * as z from 'zod';
import { type Errors, KiB, type Limits, type Routes } from '../domain.ts';
import { contactId, timestamp } from '../primitives.ts';
import { readableLine, readableText } from '../text.ts';
import { json, page, pageQuery } from './common.ts';
import { addressInput } from './messaging.ts';

const limits = {
  contacts: { value: 5_000, unit: 'items', meaning: 'contacts of one account' },
  contactLabel: { value: 100, unit: 'characters', meaning: 'label of a contact' },
  contactNote: { value: 1_000, unit: 'characters', meaning: 'note of a contact' },
} as const satisfies Limits;

const errors = {
  contact_exists: {
    status: 409,
    title: 'This person is in the contacts already.',
    help: 'There is one contact for each address, whichever form it is given in. Change that one.',
  },
} as const satisfies Errors;

const label = z
  .string()
  .trim()
  .max(limits.contactLabel.value)
  .regex(...readableLine);
const note = readableText(limits.contactNote.value);

export const addContactBody = z.strictObject({
  address: addressInput,
  label: label.default(''),
  note: note.default(''),
});
export type AddContact = z.input<typeof addContactBody>;

/** What is named changes. */
export const changeContactBody = z
  .strictObject({ label: label.optional(), note: note.optional() })
  .refine((change) => Object.values(change).some((value) => value !== undefined), 'must change something');
export type ChangeContact = z.input<typeof changeContactBody>;

export const contact = z.strictObject({
  id: contactId,
  /** `<name>@<server name>` for an account of this platform, the full transport user id for everybody else. */
  address: z.string(),
  /** Not an account of this platform. */
  external: z.boolean(),
  /** Where messages go; `null` while nothing has looked it up. */
  transport: z.strictObject({ userId: z.string(), resolvedAt: timestamp }).nullable(),
  /** What its owner calls it; may be empty. */
  label: z.string(),
  note: z.string(),
  createdAt: timestamp,
});
export type Contact = z.infer<typeof contact>;
export const contactAnswer = z.strictObject({ contact });

const COLLECTION = '/v1/account/contacts';
const ONE = '/v1/account/contacts/:contactId';
const ofContact = z.strictObject({ contactId });
const byOwner = { callers: ['session'], rate: 'session' } as const;
/** Reversible, and nothing of the account leaves it. */
const confirms = { nothing: 'an entry of the address book gives nobody anything' } as const;
const BODY = 16 * KiB;

const routes = {
  'account.contacts.list': {
    ...byOwner,
    method: 'GET',
    path: COLLECTION,
    summary: 'Contacts of the account, oldest first',
    query: pageQuery,
    answers: { 200: page(contact) },
  },
  'account.contacts.add': {
    ...byOwner,
    method: 'POST',
    path: COLLECTION,
    summary: 'Add a contact',
    origin: 'shell',
    confirms,
    body: json(addContactBody, BODY),
    refuses: ['not_found', 'contact_exists'],
    answers: { 201: contactAnswer },
    fillsDatabase: true,
  },
  'account.contacts.change': {
    ...byOwner,
    method: 'PATCH',
    path: ONE,
    summary: 'Change the label or note of a contact',
    origin: 'shell',
    confirms,
    params: ofContact,
    body: json(changeContactBody, BODY),
    answers: { 200: contactAnswer },
    fillsDatabase: true,
  },
  'account.contacts.remove': {
    ...byOwner,
    method: 'DELETE',
    path: ONE,
    summary: 'Remove a contact',
    origin: 'shell',
    confirms,
    params: ofContact,
    answers: { 204: null },
  },
} as const satisfies Routes;

export const contacts = { limits, errors, routes } as const;

/** What an app learns of a contact that the person picked for it. */
export interface PickedContact {
  readonly address: string;
  /** May be empty. */
  readonly label: string;
}

declare module '../bridge-calls.ts' {
  interface BridgeCalls {
    /** Only for the platform's own Contacts, like the three below: the address book of the account, oldest first. */
    'contacts.list': {
      params: { readonly limit?: number | undefined; readonly cursor?: string | undefined };
      result: BridgePage<Contact>;
    };
    'contacts.add': {
      params: { readonly address: string; readonly label?: string | undefined; readonly note?: string | undefined };
      result: Contact;
    };
    /** What is named changes. */
    'contacts.edit': {
      params: { readonly id: string; readonly label?: string | undefined; readonly note?: string | undefined };
      result: Contact;
    };
    'contacts.remove': { params: { readonly id: string }; result: null };
    /**
     * Every app in front of a visible page may ask. The shell shows the address book, and the app gets the one that the person picks;
     * `contact` is `null` when they picked none.
     */
    'contacts.pick': { params: undefined; result: { readonly contact: PickedContact | null }; asks: true };
  }
}
