// Asks the homeserver what is new for an account, and takes it in. What was pushed is a doorbell; this is the truth: keys
// first, then rooms, then where the next sync begins, so that whatever is lost by a crash comes again.
import type { Account } from '../accounts/account.ts';
import { HomeserverGoneError, MatrixError } from '../matrix/homeserver.ts';
import { anything, type JoinedRoom, messagesAnswer, type RoomEvent, syncAnswer } from '../matrix/shapes.ts';
import type { Room } from './book.ts';
import { declineComparisons } from './decline-comparisons.ts';
import { expectedOf } from './expected.ts';
import { BACKFILL_EVENTS, BACKFILL_PAGES } from './rules.ts';
import { sayNewIdentity } from './say-keys.ts';
import { note, retryUndecrypted, takeEvents, wasAbsent } from './take-events.ts';
import {
  afterMembers,
  conversationWith,
  newRoom,
  presentIn,
  takeInvitation,
  takeLeft,
  withState,
} from './take-rooms.ts';
import { BECAME_GROUP, NEW_DEVICE } from './words.ts';

/** Syncs one after the other at most: a homeserver that has ever more news does not keep a turn. */
const MOST_SYNCS = 50;
/** Milliseconds for a join in passing, and between two of one conversation, the first of which was refused or not answered. */
const PASSING_MS = 5_000;
const FIRST_PAUSE_MS = 250;
const AFTER_SILENCE_MS = 60_000;
const LONGEST_PAUSE_MS = 600_000;
const STATE_TYPES = ['m.room.member', 'm.room.encryption', 'm.room.tombstone', 'm.room.create'];
const FILTER = JSON.stringify({
  presence: { types: [] },
  account_data: { types: [] },
  room: {
    account_data: { types: [] },
    ephemeral: { types: [] },
    timeline: { limit: 50 },
    state: { types: STATE_TYPES, lazy_load_members: false },
  },
});

/**
 * Takes in all there is, within the account's turn.
 *
 * @param clock milliseconds
 */
export async function takeSync(account: Account, clock: () => number): Promise<void> {
  for (let count = 0; count < MOST_SYNCS; count += 1) {
    const hasMore = await takeOne(account, clock());
    if (!hasMore) break;
  }
  if (account.book.undecrypted.size > 0) await retryUndecrypted(account, clock());
  for (const userId of account.machine.identitiesToLookAt()) await sayNewIdentity(account, userId, clock());
  await account.store.commit();
  await followUp(account, clock);
}

/** @returns whether there may be more */
async function takeOne(account: Account, now: number): Promise<boolean> {
  const { book, homeserver, as, machine, store } = account;
  const since = book.meta.get('since');
  const answer = await homeserver.request(as, {
    method: 'GET',
    path: ['_matrix', 'client', 'v3', 'sync'],
    query: { timeout: '0', filter: FILTER, set_presence: 'offline', ...(since === undefined ? {} : { since }) },
    answer: syncAnswer,
  });
  await machine.receive({ ...answer, to_device: { events: expectedOf(account, answer, now) } });
  for (const [roomId, room] of Object.entries(answer.rooms.invite))
    takeInvitation(book, roomId, room, account.userId, now);
  for (const [roomId, room] of Object.entries(answer.rooms.join)) await takeJoined(account, roomId, room, now);
  for (const roomId of Object.keys(answer.rooms.leave)) takeLeft(book, roomId, now);
  book.meta.set('since', answer.next_batch);
  await store.commit();
  await machine.talk();
  return answer.to_device.events.length > 0;
}

async function takeJoined(account: Account, roomId: string, joined: JoinedRoom, now: number): Promise<void> {
  const { book, userId } = account;
  const known = book.rooms.get(roomId);
  const stateEvents = [...joined.state.events, ...joined.timeline.events];
  const room = known ?? withState(newRoom(book, roomId, '', 'join'), stateEvents, userId);
  const conversation = known?.conversation ?? conversationOf(account, room, now);
  // Nobody else was ever in it, or too many: it is nobody's conversation.
  if (conversation === null) return;
  const isNew = known?.filled !== true;
  const next = {
    ...withState({ ...room, conversation, mine: 'join' }, stateEvents, userId),
    filled: true,
    dead: false,
  };
  book.rooms.set(roomId, next);
  const missed = joined.timeline.limited || isNew ? await missedEvents(account, next, joined) : [];
  await takeEvents(account, next, heardOf(next, [...missed, ...joined.timeline.events]), now);
  const last = joined.timeline.events.at(-1);
  if (last !== undefined && book.conversations.get(conversation)?.state === 'left')
    book.rooms.set(roomId, { ...next, unheardTo: last.event_id });
  afterMembers(book, next);
}

/** Without what was said while this account did not listen, or was away. */
function heardOf({ unheardTo, wasLeft }: Room, events: readonly RoomEvent[]): readonly RoomEvent[] {
  const heard = events.slice(events.findLastIndex(({ event_id: id }) => id === unheardTo) + 1);
  return wasLeft === true ? heard.filter((event) => !wasAbsent(event)) : heard;
}

/** Whose conversation a room is in which this account finds itself, such as one whose making was not answered. */
function conversationOf(account: Account, room: Room, now: number): string | null {
  const others = Object.keys(room.others);
  const [other] = presentIn(room).length === 1 ? presentIn(room) : others.length === 1 ? others : [];
  if (other === undefined) return null;
  const isReplacement = account.book.meta.get('replacement') === 'yes';
  const isOpen = room.others[other] === 'join';
  const state = isOpen ? ('open' as const) : ('requested' as const);
  const before = account.book.conversations.size;
  const conversation = conversationWith(account.book, other, { state, answered: isOpen }, now);
  if (isReplacement && account.book.conversations.size > before)
    note(account, conversation, account.userId, NEW_DEVICE, now);
  return conversation.id;
}

/** What the homeserver left out of a timeline, oldest first: back to what is known, or to the begin. */
async function missedEvents(account: Account, room: Room, { timeline }: JoinedRoom): Promise<RoomEvent[]> {
  const { book, homeserver, as } = account;
  const isKnown = ({ event_id: id }: RoomEvent) =>
    id === room.unheardTo || book.messages.get(id) !== undefined || book.undecrypted.get(id) !== undefined;
  // A device that is new cannot read what was before it.
  if (timeline.prev_batch === undefined || book.meta.get('replacement') === 'yes') return [];
  const missed: RoomEvent[] = [];
  let from: string | undefined = timeline.prev_batch;
  for (let page = 0; page < BACKFILL_PAGES && from !== undefined; page += 1) {
    const answer: { chunk: RoomEvent[]; end?: string | undefined } = await homeserver.request(as, {
      method: 'GET',
      path: ['_matrix', 'client', 'v3', 'rooms', room.id, 'messages'],
      query: { dir: 'b', from, limit: String(BACKFILL_EVENTS) },
      answer: messagesAnswer,
    });
    const { chunk, end } = answer;
    const known = chunk.findIndex(isKnown);
    missed.push(...(known === -1 ? chunk : chunk.slice(0, known)));
    if (known !== -1 || chunk.length === 0) break;
    from = end;
  }
  return missed.reverse();
}

/** What follows from what was taken in: rooms to join, and rooms to leave. Each is tried again by the next sync. */
async function followUp(account: Account, clock: () => number): Promise<void> {
  const { book } = account;
  let hasJoined = false;
  for (const { id } of [...book.rooms.values()]) {
    const room = book.rooms.get(id);
    const conversation = room && book.conversations.get(room.conversation);
    if (room === undefined || conversation === undefined || room.dead) continue;
    if (room.mine === 'join' && presentIn(room).some((userId) => userId !== conversation.other))
      await leaveGroup(account, room, clock());
    else if (room.mine === 'invite' && conversation.state === 'open')
      hasJoined = (await joinInPassing(account, room, clock)) || hasJoined;
    else if (room.mine === 'join' && room.replacement !== null)
      hasJoined = (await follow(account, room, clock)) || hasJoined;
  }
  await declineComparisons(account);
  await account.store.commit();
  if (hasJoined) await takeSync(account, clock);
}

async function leaveGroup(account: Account, room: Room, now: number): Promise<void> {
  const { book } = account;
  await leaveRoom(account, room.id);
  book.rooms.set(room.id, { ...room, mine: 'leave', dead: true });
  const conversation = book.conversations.get(room.conversation);
  if (conversation !== undefined) note(account, conversation, conversation.other, BECAME_GROUP, now);
}

/**
 * Joins a room that nobody waits for. Its server may take its time, or never answer, and all of this account would wait for
 * it: so it gets a short while (a homeserver goes on with what nobody waits for, and a sync shows it), and rooms of this
 * person are tried again ever more rarely.
 */
async function joinInPassing(account: Account, room: Room, clock: () => number, via?: string): Promise<boolean> {
  const { joinsAgain } = account;
  const { at, failures } = joinsAgain.get(room.conversation) ?? { at: 0, failures: 0 };
  if (clock() < at) return false;
  let shortest = FIRST_PAUSE_MS;
  const isJoined = await join(account, room, { via, patience: PASSING_MS }).catch((error: unknown) => {
    if (!(error instanceof HomeserverGoneError)) throw error;
    shortest = AFTER_SILENCE_MS;
    return false;
  });
  if (isJoined) joinsAgain.delete(room.conversation);
  else {
    const pause = Math.min(LONGEST_PAUSE_MS, shortest * 2 ** Math.min(failures, 20));
    joinsAgain.set(room.conversation, { at: clock() + pause, failures: failures + 1 });
  }
  return isJoined;
}

/** @returns whether it is joined now. One that cannot be joined any more is not tried again. */
export async function join(
  account: Account,
  room: Room,
  { via, patience = 60_000 }: { readonly via?: string | undefined; readonly patience?: number } = {},
): Promise<boolean> {
  const { homeserver, as, book } = account;
  try {
    await homeserver.request(as, {
      method: 'POST',
      path: ['_matrix', 'client', 'v3', 'join', room.id],
      query: via === undefined ? {} : { server_name: via, via },
      body: {},
      answer: anything,
      patience,
    });
    book.rooms.set(room.id, { ...(book.rooms.get(room.id) ?? room), mine: 'join' });
    return true;
  } catch (error) {
    if (!(error instanceof MatrixError)) throw error;
    if (error.code === 'M_FORBIDDEN' || error.code === 'M_NOT_FOUND')
      book.rooms.set(room.id, { ...(book.rooms.get(room.id) ?? room), dead: true });
    return false;
  }
}

/** Goes to the room that an upgrade put in the place of one. */
async function follow(account: Account, { conversation, replacement }: Room, clock: () => number): Promise<boolean> {
  const { book } = account;
  if (replacement === null) return false;
  const there = book.rooms.get(replacement.roomId);
  if (there !== undefined && (there.mine === 'join' || there.dead)) return false;
  if (there !== undefined && there.conversation !== conversation) return false;
  const room = there ?? newRoom(book, replacement.roomId, conversation, 'invite');
  book.rooms.set(room.id, room);
  return joinInPassing(account, room, clock, replacement.via);
}

export async function leaveRoom({ homeserver, as }: Account, roomId: string): Promise<void> {
  await homeserver
    .request(as, {
      method: 'POST',
      path: ['_matrix', 'client', 'v3', 'rooms', roomId, 'leave'],
      body: {},
      answer: anything,
    })
    .catch((error: unknown) => {
      // It is as if left where the account is not in it any more.
      if (!(error instanceof MatrixError && (error.status === 403 || error.status === 404))) throw error;
    });
}
