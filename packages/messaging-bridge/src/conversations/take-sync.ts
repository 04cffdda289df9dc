// Asks the homeserver what is new for an account, and takes it in. What was pushed is a doorbell; this is the truth: keys
// first, then rooms, then where the next sync begins, so that whatever is lost by a crash comes again.
import type { Account } from '../accounts/account.ts';
import { HomeserverGoneError, MatrixError, saysNotThere, whoIs } from '../matrix/homeserver.ts';
import { anything, type JoinedRoom, syncAnswer } from '../matrix/shapes.ts';
import type { Room } from './book.ts';
import { declineComparisons } from './decline-comparisons.ts';
import { expectedOf } from './expected.ts';
import { hear } from './gaps.ts';
import { MOST_ROOMS } from './rules.ts';
import { sayNewIdentity } from './say-keys.ts';
import { hasUnshown, note, retryUndecrypted } from './take-events.ts';
import {
  afterMembers,
  conversationWith,
  forgetEnded,
  NOBODY,
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
    account_data: { types: ['m.fully_read'] },
    ephemeral: { types: ['m.receipt'] },
    timeline: { limit: 50 },
    state: { types: STATE_TYPES, lazy_load_members: false },
  },
});

/** Accounts that were synced since they were opened. */
const looked = new WeakSet<Account>();

/**
 * Takes in all there is, within the account's turn.
 *
 * @param clock milliseconds
 */
export async function takeSync(account: Account, clock: () => number): Promise<void> {
  // What was taken in before a crash may have had keys.
  let hasKeys = !looked.has(account);
  for (let count = 0; count < MOST_SYNCS; count += 1) {
    const hasMore = await takeOne(account, clock());
    if (!hasMore) break;
    hasKeys = true;
  }
  // Trying costs time for each of them: what is shown as unreadable is tried only when keys came.
  if (account.book.undecrypted.size > 0 && (hasKeys || hasUnshown(account.book)))
    await retryUndecrypted(account, clock());
  looked.add(account);
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
  forgetEnded(book, now);
  book.meta.set('since', answer.next_batch);
  await store.commit();
  await machine.talk();
  return answer.to_device.events.length > 0;
}

async function takeJoined(account: Account, roomId: string, joined: JoinedRoom, now: number): Promise<void> {
  const { book, userId } = account;
  const known = book.rooms.get(roomId);
  const stateEvents = [...joined.state.events, ...joined.timeline.events];
  const room = known ?? withState(newRoom(book, roomId, NOBODY, 'join'), stateEvents, userId);
  const seen = withState(room, stateEvents, userId);
  const conversation = room.conversation === NOBODY ? conversationOf(account, seen, now) : room.conversation;
  if (conversation === null) {
    // What it is like is told once: it may be one that is being made, and whom it is with comes with a later sync.
    if (known !== undefined || book.roomsOf(NOBODY).length < MOST_ROOMS) book.rooms.set(roomId, seen);
    return;
  }
  const isNew = known?.filled !== true;
  const next = {
    ...withState({ ...seen, conversation, mine: 'join' }, stateEvents, userId),
    filled: true,
    dead: false,
  };
  book.rooms.set(roomId, next);
  await hear(account, next, { isNew, joined }, now);
  afterMembers(book, next);
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
  // Once, also where another sync comes to it meanwhile.
  book.rooms.set(room.id, { ...room, mine: 'leave', dead: true });
  await leaveRoom(account, room.id).catch((error: unknown) => {
    book.rooms.set(room.id, { ...room, mine: 'join' });
    throw error;
  });
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
  // Nobody else tries meanwhile.
  joinsAgain.set(room.conversation, { at: clock() + PASSING_MS + FIRST_PAUSE_MS, failures });
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
    await account.apart(() =>
      homeserver.request(as, {
        method: 'POST',
        path: ['_matrix', 'client', 'v3', 'join', room.id],
        query: via === undefined ? {} : { server_name: via, via },
        body: {},
        answer: anything,
        patience,
        asksOthers: true,
      }),
    );
    book.rooms.set(room.id, { ...(book.rooms.get(room.id) ?? room), mine: 'join' });
    return true;
  } catch (error) {
    if (!(error instanceof MatrixError)) throw error;
    if (await isOfRoom(account, error)) book.rooms.set(room.id, { ...(book.rooms.get(room.id) ?? room), dead: true });
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
  // One upgrade after the other would have the account in rooms without end.
  if (there === undefined && book.roomsOf(conversation).length >= MOST_ROOMS) return false;
  const room = there ?? newRoom(book, replacement.roomId, conversation, 'invite');
  book.rooms.set(room.id, room);
  return joinInPassing(account, room, clock, replacement.via);
}

/**
 * Whether a refusal says that a room is not there for an account, and will not be. Where the homeserver takes nothing of the
 * account, as with another registration, it says nothing of the room.
 *
 * @throws MatrixError, HomeserverGoneError where it takes nothing
 */
export async function isOfRoom({ homeserver, as }: Account, error: unknown): Promise<boolean> {
  return saysNotThere(error) && (await whoIs(homeserver, as)) === as.userId;
}

/** Leaves a room for good. */
export async function leaveRoom(account: Account, roomId: string): Promise<void> {
  const { homeserver, as, book } = account;
  await account.apart(() =>
    homeserver
      .request(as, {
        method: 'POST',
        path: ['_matrix', 'client', 'v3', 'rooms', roomId, 'leave'],
        body: {},
        answer: anything,
        asksOthers: true,
      })
      .catch(async (error: unknown) => {
        // It is as if left where the account is not in it any more.
        if (!(await isOfRoom(account, error))) throw error;
      }),
  );
  const room = book.rooms.get(roomId);
  if (room !== undefined) book.rooms.set(roomId, { ...room, mine: 'leave', dead: true });
}
