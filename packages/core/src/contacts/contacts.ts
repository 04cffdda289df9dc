// The people that an account knows, as its owner keeps them.
import {
  type addContactBody,
  type Contact,
  type ContactId,
  type changeContactBody,
  contactId,
  limits,
  type RouteQuery,
  refuse,
} from '@platform/contract';
import type * as z from 'zod';
import type { CoreContext } from '../context.ts';
import { newId } from '../credentials/ids.ts';
import { accountOfAddress, addressText, parseAddress, userIdOf } from '../messaging/face.ts';
import {
  type ContactRow,
  countContacts,
  deleteContact,
  insertContact,
  lockContacts,
  selectContacts,
  updateContact,
} from './queries.ts';

export async function listContacts(
  { database, cursors }: CoreContext,
  accountKey: string,
  { limit, cursor }: RouteQuery<'account.contacts.list'>,
): Promise<{ items: Contact[]; nextCursor: string | null }> {
  const list = `contacts:${accountKey}`;
  const after = cursor === undefined ? '' : contactId.parse(cursors.decode(list, cursor));
  const rows = await selectContacts(database, accountKey, { after, limit: limit + 1 });
  const items = rows.slice(0, limit).map(contactOf);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last !== undefined ? cursors.encode(list, last.id) : null };
}

/**
 * @throws RefusalError `invalid_request` for what is no address, one's own, and beyond `limits.contacts`; `not_found` for an
 *   account of this platform that is not there; `contact_exists`
 */
export async function addContact(
  context: CoreContext,
  accountKey: string,
  wanted: z.output<typeof addContactBody>,
): Promise<Contact> {
  const { serverName } = context.config.messaging;
  const address = parseAddress(wanted.address, serverName);
  const wrong = (message: string, detail: string) =>
    refuse('invalid_request', detail, { errors: [{ path: 'address', message }] });
  if (address === null)
    throw wrong(
      'is no address',
      `That isn’t an address. Write a name such as ben, or an address such as ben@${serverName} or @ben:example.org.`,
    );
  const account = await accountOfAddress(context, address);
  if (address.kind === 'local' && account === undefined)
    throw refuse('not_found', `There is no account named ${address.name}.`);
  if (account?.key === accountKey) throw wrong('is your own', 'That is your own address.');
  const now = context.clock();
  const row: ContactRow = {
    id: contactId.parse(newId('ctc', context)),
    account_key: accountKey,
    address: addressText(address, serverName),
    external: address.kind === 'external',
    transport_user_id: address.kind === 'local' ? userIdOf(address, serverName) : null,
    resolved_at: address.kind === 'local' ? now : null,
    label: wanted.label,
    note: wanted.note,
    created_at: now,
  };
  return context.database.transaction().execute(async (trx) => {
    await lockContacts(trx, accountKey);
    const most = limits.contacts.value;
    if ((await countContacts(trx, accountKey)) >= most)
      throw refuse('invalid_request', `An account has at most ${most} contacts. Remove one first.`);
    const stored = await insertContact(trx, row);
    if (stored === undefined) throw refuse('contact_exists', `${row.address} is in your contacts.`);
    return contactOf(stored);
  });
}

/** @throws RefusalError `not_found` */
export async function changeContact(
  { database }: CoreContext,
  contact: { readonly accountKey: string; readonly id: ContactId },
  change: z.output<typeof changeContactBody>,
): Promise<Contact> {
  const row = await updateContact(database, contact, change);
  if (row === undefined) throw missing();
  return contactOf(row);
}

/** @throws RefusalError `not_found` */
export async function removeContact({ database }: CoreContext, accountKey: string, id: ContactId): Promise<void> {
  if (!(await deleteContact(database, accountKey, id))) throw missing();
}

function contactOf(row: ContactRow): Contact {
  const { transport_user_id: userId, resolved_at: resolvedAt } = row;
  return {
    id: row.id,
    address: row.address,
    external: row.external,
    transport: userId === null || resolvedAt === null ? null : { userId, resolvedAt: resolvedAt.toISOString() },
    label: row.label,
    note: row.note,
    createdAt: row.created_at.toISOString(),
  };
}

function missing(): Error {
  return refuse('not_found', 'There is no such contact, or it was removed.');
}
