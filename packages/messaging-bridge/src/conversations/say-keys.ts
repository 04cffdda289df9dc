// What the bridge says to a person of somebody's keys: others than before, or a device that those do not confirm. Both are what one sees of
// somebody who sets up encryption anew, or signs in, and of a homeserver that adds keys of its own.
import type { Account } from '../accounts/account.ts';
import { conversationIdOf } from './book.ts';
import { note } from './take-events.ts';
import { DEVICE_ADDED, KEYS_CHANGED } from './words.ts';

/** Says in the conversation with somebody that their keys changed, where they did. */
export async function sayNewIdentity(account: Account, userId: string, now: number): Promise<void> {
  const { book, machine, store } = account;
  const conversation = book.conversations.get(conversationIdOf(userId));
  if (conversation === undefined || !(await machine.hasNewIdentity(userId))) return;
  note(account, conversation, userId, KEYS_CHANGED, now);
  // First what is said: a crash in between has it said twice, and never not at all.
  await store.commit();
  await machine.acceptIdentity(userId);
}

/** Says in the conversation with somebody, once for each, that a device gets keys which their identity does not confirm. */
export async function sayUnconfirmed(account: Account, userId: string, now: number): Promise<void> {
  const { book, machine } = account;
  const conversation = book.conversations.get(conversationIdOf(userId));
  const devices = (await machine.unconfirmedDevices(userId)).toSorted();
  const name = `unconfirmed ${userId}`;
  const said = book.meta.get(name)?.split(' ') ?? [];
  if (conversation === undefined || devices.join(' ') === said.join(' ')) return;
  book.meta.set(name, devices.join(' '));
  if (devices.some((device) => !said.includes(device))) note(account, conversation, userId, DEVICE_ADDED, now);
}
