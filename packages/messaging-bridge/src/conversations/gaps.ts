// What a sync left out of a room's timeline. It is fetched page by page, each apart, so that all else of the account goes on. What
// came after it is held until it is there, and what syncs have of the room meanwhile, so that everything is taken in in its order.
// What is held is kept with the sync that it is of; pages are not, and are fetched again after a restart.
import { setTimeout as delay } from 'node:timers/promises';
import type { Account } from '../accounts/account.ts';
import { HomeserverGoneError, MatrixError, whoIs } from '../matrix/homeserver.ts';
import { type JoinedRoom, messagesAnswer, type RoomEvent } from '../matrix/shapes.ts';
import type { Book, Held, Room } from './book.ts';
import {
  BACKFILL_BYTES,
  BACKFILL_EVENTS,
  BACKFILL_MS,
  BACKFILL_PAGES,
  BACKFILL_TRIES,
  EVENTS_AT_ONCE,
  MOST_HELD,
} from './rules.ts';
import { note, takeEvents, wasAbsent } from './take-events.ts';
import { takeReceipts } from './take-receipts.ts';
import { MISSED } from './words.ts';

const LOOK_MS = 50;
const FIRST_PAUSE_MS = 500;
/** Of a homeserver that is away, or limits what it is asked. */
const LONG_PAUSE_MS = 5_000;

/** What was fetched so far of what is missing before something that is held. */
export interface Fetched {
  /** Of what is held. */
  readonly place: number;
  /** Where the next page begins; `null` once all is there. */
  readonly next: string | null;
  /** The newest first. */
  readonly events: readonly RoomEvent[];
  readonly pages: number;
  readonly bytes: number;
  /** It goes back to what is known. */
  readonly isWhole: boolean;
}

/** Takes in what a sync has of a room, or holds it where something before it is missing. */
export async function hear(
  account: Account,
  room: Room,
  { joined, isNew }: { readonly joined: JoinedRoom; readonly isNew: boolean },
  now: number,
): Promise<void> {
  const { book } = account;
  const { prev_batch: before, limited } = joined.timeline;
  if (book.conversations.get(room.conversation)?.state === 'left') {
    // Nothing of it is heard, later neither.
    dropHeld(account, room.id);
    await take(account, room, joined, now);
    return;
  }
  const held = heldOf(book, room.id);
  const canFetch = before !== undefined && book.meta.get('replacement') !== 'yes';
  const isMissing = canFetch && (limited || isNew);
  if (!isMissing && held.length === 0) {
    await take(account, room, joined, now);
    return;
  }
  // What is fetched goes back to what is known, so it has what was held as well.
  const isCrowded = canFetch && held.length >= MOST_HELD;
  if (isCrowded) dropHeld(account, room.id);
  const place = book.count();
  const from = isMissing || isCrowded ? (before ?? null) : null;
  book.held.set(String(place), { roomId: room.id, place, joined, from, tries: 0 });
  account.missing(room.id);
}

function dropHeld({ book, fetched }: Account, roomId: string): void {
  fetched.delete(roomId);
  for (const { place } of heldOf(book, roomId)) book.held.delete(String(place));
}

const heldOf = (book: Book, roomId: string) =>
  [...book.held.values()].filter((one) => one.roomId === roomId).toSorted((a, b) => a.place - b.place);

/** Takes in what a sync has of a room. */
async function take(account: Account, { id }: Room, joined: JoinedRoom, now: number): Promise<void> {
  const { book } = account;
  const room = book.rooms.get(id);
  if (room === undefined) return;
  await takeEvents(account, room, heardOf(room, joined.timeline.events), now);
  takeReceipts(account, room, joined);
  const last = joined.timeline.events.at(-1);
  const current = book.rooms.get(id);
  if (last !== undefined && current !== undefined && book.conversations.get(room.conversation)?.state === 'left')
    book.rooms.set(id, { ...current, unheardTo: last.event_id });
}

/** Without what was said while this account did not listen, or was away. */
function heardOf({ unheardTo, wasLeft }: Room, events: readonly RoomEvent[]): readonly RoomEvent[] {
  const heard = events.slice(events.findLastIndex(({ event_id: id }) => id === unheardTo) + 1);
  return wasLeft === true ? heard.filter((event) => !wasAbsent(event)) : heard;
}

/**
 * Fetches one page of what is missing in a room, within the account's turn, and takes in all that is complete by then.
 *
 * @returns milliseconds until it should go on; `null` where nothing is missing, or somebody else sees to it
 */
export async function fetchMissing(account: Account, roomId: string, clock: () => number): Promise<number | null> {
  const { book, fetching, store } = account;
  const [first] = heldOf(book, roomId);
  const room = book.rooms.get(roomId);
  if (first === undefined || fetching.has(roomId)) return null;
  // Its conversation was forgotten.
  if (room === undefined) dropHeld(account, roomId);
  if (room === undefined) return null;
  fetching.add(roomId);
  try {
    const pause = first.from === null ? null : await fetchPage(account, room, { ...first, from: first.from });
    if (pause !== null) return pause;
    await fill(account, room, clock());
    await store.commit();
    return heldOf(book, roomId).length === 0 ? null : 0;
  } finally {
    fetching.delete(roomId);
  }
}

/** @returns milliseconds to wait where the page could not be had */
async function fetchPage(account: Account, room: Room, held: Held & { readonly from: string }): Promise<number | null> {
  const { book, homeserver, as, fetched, store } = account;
  const { place, from } = held;
  const known = fetched.get(room.id);
  const before: Fetched =
    known?.place === place ? known : { place, next: from, events: [], pages: 0, bytes: 0, isWhole: false };
  if (before.next === null) return null;
  const query = { dir: 'b', from: before.next, limit: String(BACKFILL_EVENTS) };
  const path = ['_matrix', 'client', 'v3', 'rooms', room.id, 'messages'];
  // The homeserver may ask others for it.
  const request = {
    method: 'GET',
    path,
    query,
    answer: messagesAnswer,
    patience: BACKFILL_MS,
    asksOthers: true,
  } as const;
  try {
    const { chunk, end } = await account.apart(() => homeserver.request(as, request));
    fetched.set(room.id, withPage(book, room, before, { chunk, end: end ?? null }));
    return null;
  } catch (error) {
    if (!(error instanceof HomeserverGoneError || error instanceof MatrixError)) throw error;
    if (error instanceof MatrixError && error.status === 429) return error.retryAfter ?? LONG_PAUSE_MS;
    // Whose homeserver is away knows no more of this room than of any.
    const isThere = await whoIs(homeserver, as).then(
      () => true,
      () => false,
    );
    if (!isThere || book.held.get(String(place)) === undefined) return LONG_PAUSE_MS;
    const tries = held.tries + 1;
    book.held.set(String(place), { ...held, tries });
    await store.commit();
    if (tries < BACKFILL_TRIES) return FIRST_PAUSE_MS * 2 ** tries;
    // The history may be at a server that never answers.
    fetched.set(room.id, { ...before, next: null });
    return null;
  }
}

function withPage(
  book: Book,
  room: Room,
  before: Fetched,
  { chunk, end }: { readonly chunk: readonly RoomEvent[]; readonly end: string | null },
): Fetched {
  const isKnown = ({ event_id: id }: RoomEvent) =>
    id === room.unheardTo || book.messages.get(id) !== undefined || book.undecrypted.get(id) !== undefined;
  const known = chunk.findIndex(isKnown);
  const fresh = known === -1 ? chunk : chunk.slice(0, known);
  const events = [...before.events, ...fresh];
  const pages = before.pages + 1;
  const bytes = before.bytes + JSON.stringify(fresh).length;
  const isWhole = known !== -1 || chunk.length === 0 || end === null;
  const isEnough = isWhole || pages >= BACKFILL_PAGES || bytes >= BACKFILL_BYTES;
  return { place: before.place, next: isEnough ? null : end, events, pages, bytes, isWhole };
}

/** Takes in what is held before which nothing is missing any more, in its order: other work goes on in between. */
async function fill(account: Account, { id }: Room, now: number): Promise<void> {
  const { book, fetched } = account;
  for (;;) {
    const [first] = heldOf(book, id);
    const room = book.rooms.get(id);
    if (first === undefined || room === undefined) return;
    if (first.from !== null) {
      const missed = fetched.get(id);
      if (missed?.place !== first.place || missed.next !== null) return;
      await takeMissed(account, room, missed, now);
    }
    // Whoever left the conversation meanwhile hears none of it.
    if (book.held.get(String(first.place)) === undefined) return;
    await take(account, room, first.joined, now);
    book.held.delete(String(first.place));
    fetched.delete(id);
    await othersGoOn(account);
  }
}

async function takeMissed(
  account: Account,
  room: Room,
  { place, events, isWhole }: Fetched,
  now: number,
): Promise<void> {
  const { book } = account;
  const conversation = book.conversations.get(room.conversation);
  if (!isWhole && conversation !== undefined) note(account, conversation, conversation.other, MISSED, now);
  const heard = heardOf(room, events.toReversed());
  for (let at = 0; at < heard.length && book.held.get(String(place)) !== undefined; at += EVENTS_AT_ONCE) {
    await takeEvents(account, book.rooms.get(room.id) ?? room, heard.slice(at, at + EVENTS_AT_ONCE), now);
    await othersGoOn(account);
  }
}

const othersGoOn = ({ apart }: Account) => apart(() => new Promise<void>((resolve) => setImmediate(resolve)));

/** Waits until what was said in a conversation before is there. @returns whether it is, after so many milliseconds at most */
export async function isHeard(account: Account, conversationId: string, milliseconds: number): Promise<boolean> {
  const { book } = account;
  const begun = performance.now();
  while (book.roomsOf(conversationId).some(({ id }) => heldOf(book, id).length > 0)) {
    if (performance.now() - begun > milliseconds) return false;
    await account.apart(() => delay(LOOK_MS));
  }
  return true;
}
