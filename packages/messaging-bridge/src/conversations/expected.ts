// Of the messages to this account's device those that are taken: each can leave a key in the store, which is in memory while
// the account is used, and anybody on Matrix can send them. Whoever has a conversation with this account sends few; nobody
// else has a reason to.
import type { Account } from '../accounts/account.ts';
import type { SyncAnswer, ToDeviceEvent } from '../matrix/shapes.ts';
import { conversationIdOf } from './book.ts';
import { MOST_TO_DEVICE, TO_DEVICE_MS } from './rules.ts';
import { isFull } from './take-rooms.ts';

export function expectedOf(account: Account, { to_device, rooms }: SyncAnswer, now: number): ToDeviceEvent[] {
  const { book, userId } = account;
  if (to_device.events.length === 0) return [];
  // Those whom this sync makes known, since keys are taken in before rooms.
  const shown = new Set<string>();
  for (const { invite_state } of isFull(book) ? [] : Object.values(rooms.invite))
    for (const { type, state_key, sender } of invite_state.events)
      if (type === 'm.room.member' && state_key === userId) shown.add(sender);
  for (const { state, timeline } of Object.values(rooms.join))
    for (const { type, state_key } of [...state.events, ...timeline.events])
      if (type === 'm.room.member' && state_key !== undefined) shown.add(state_key);
  return to_device.events.filter(({ sender }) => {
    if (sender === userId) return true;
    const id = conversationIdOf(sender);
    if (book.conversations.get(id) === undefined) return shown.has(sender);
    const { left, at } = book.allowances.get(id) ?? { left: MOST_TO_DEVICE, at: now };
    const grown = Math.min(MOST_TO_DEVICE, left + Math.max(0, now - at) / TO_DEVICE_MS);
    if (grown < 1) return false;
    book.allowances.set(id, { left: grown - 1, at: now });
    return true;
  });
}
