// What the bridge knows of an account's conversations: with whom, in which rooms, what was said. A conversation is all there
// is with one person: rooms come and go, by upgrades and by either side beginning anew.
import { createHash, randomBytes } from 'node:crypto';
import type { ConversationState } from '@platform/contract';
import type { JoinedRoom, RoomEvent } from '../matrix/shapes.ts';
import type { AccountStore, Table } from '../store/account-store.ts';
import type { Told } from './attention.ts';
import { MESSAGE_BYTES, MOST_BYTES } from './rules.ts';
import type { Said } from './words.ts';

export interface Conversation {
  readonly id: string;
  /** A Matrix user id. */
  readonly other: string;
  readonly state: ConversationState;
  /** Why it is `left`, and since when. */
  readonly closed: { readonly by: 'declined' | 'left' | 'blocked' | 'withdrawn'; readonly at: number } | null;
  /** Whether the other side ever accepted or asked. */
  readonly answered: boolean;
  /** Messages of this account while it is `requested`. */
  readonly asked: number;
  readonly createdAt: number;
  readonly lastMessageAt: number | null;
  /** Messages up to this place are read. */
  readonly readTo: number;
  readonly unread: number;
  /** Number of its last change. */
  readonly changed: number;
  /** Number of its begin, or of its last message. */
  readonly active: number;
}

export type Membership = 'join' | 'invite' | 'leave';

export interface Room {
  readonly id: string;
  readonly conversation: string;
  readonly mine: Membership;
  /** Everybody else, by user id. */
  readonly others: Readonly<Record<string, Membership>>;
  readonly encrypted: boolean;
  /** The room that an upgrade put in its place, and a server that is in it. */
  readonly replacement: { readonly roomId: string; readonly via: string } | null;
  /** A sync has shown it since this account joined. */
  readonly filled: boolean;
  /** Cannot be joined: the invitation was withdrawn, or the room is no more. */
  readonly dead: boolean;
  /** The last event that came while the conversation was left: what is up to it stays unheard. Stores of before have none. */
  readonly unheardTo?: string;
  /** This account was in it before, and left. */
  readonly wasLeft?: boolean;
  /** Number of its begin. */
  readonly since: number;
}

export interface Message {
  /** Of the event. */
  readonly id: string;
  readonly conversation: string;
  readonly sender: string;
  readonly kind: Said['kind'];
  readonly body: string;
  readonly sentAt: number;
  /** Names what was decrypted; `null` for what was not. */
  readonly cipher: string | null;
  /** Its place in the conversation. */
  readonly place: number;
  /** Number of its last change. */
  readonly changed: number;
}

/** A message whose key has not come. */
export interface Undecrypted {
  readonly roomId: string;
  readonly event: RoomEvent;
  readonly place: number;
  readonly since: number;
}

/** What a sync had of a room while something before it was missing; by its place. */
export interface Held {
  readonly roomId: string;
  readonly place: number;
  readonly joined: JoinedRoom;
  /** Where fetching what is missing right before it begins, backwards; `null` where that is held too. */
  readonly from: string | null;
  /** Fetches that failed. */
  readonly tries: number;
}

/** A message of this account, from before it was sent. */
export interface Sending {
  /** As the homeserver knows it. */
  readonly transactionId: string;
  readonly conversation: string;
  /** SHA-256 of the body. */
  readonly digest: string;
  readonly roomId: string;
  /** What goes to the room; `null` once it is there. */
  readonly content: object | null;
  readonly body: string;
  readonly messageId: string | null;
}

/** A request to compare keys, which is to be declined; by its room. */
export interface Comparison {
  /** Of the event. */
  readonly id: string;
  readonly roomId: string;
}

/** How many messages to this account's device somebody may still send. */
export interface Allowance {
  readonly left: number;
  /** Milliseconds. */
  readonly at: number;
}

export interface Book {
  readonly conversations: Table<Conversation>;
  readonly rooms: Table<Room>;
  readonly messages: Table<Message>;
  readonly undecrypted: Table<Undecrypted>;
  readonly held: Table<Held>;
  readonly sendings: Table<Sending>;
  readonly comparisons: Table<Comparison>;
  /** By the other side of a conversation. */
  readonly allowances: Table<Allowance>;
  /** By the conversation. */
  readonly told: Table<Told>;
  readonly meta: Table<string>;
  /** Names this book: another one of the same account counts anew. */
  epoch(): string;
  /** Number of the last change. */
  last(): number;
  /** The next number. */
  count(): number;
  put(conversation: Omit<Conversation, 'changed'>): Conversation;
  say(message: Omit<Message, 'changed'>): void;
  /** Whether another event had the same ciphertext. */
  isReplay(cipher: string, id: string): boolean;
  /** What waits for keys, about. */
  undecryptedBytes(): number;
  /** Removes a conversation in which nothing was said, with all that is known of it. */
  forget(conversation: string): void;
  /** Those that were forgotten since this was last asked. */
  forgotten(): readonly string[];
  /** Of one conversation, in their places. */
  messagesOf(conversation: string): readonly string[];
  /** Messages that changed after a number, in the order of their changes. */
  changedAfter(number: number): Iterable<Message>;
  roomsOf(conversation: string): readonly Room[];
}

const weightOf = (body: string) => MESSAGE_BYTES + 2 * body.length;

export const conversationIdOf = (other: string) => createHash('sha256').update(other).digest('hex').slice(0, 40);

export function openBook(store: AccountStore): Book {
  const conversations = store.table<Conversation>('conversations');
  const rooms = store.table<Room>('rooms');
  const messages = store.table<Message>('messages');
  const meta = store.table<string>('meta');
  const undecrypted = measured(store.table<Undecrypted>('undecrypted'));
  const held = store.table<Held>('held');
  const allowances = store.table<Allowance>('allowances');
  const told = store.table<Told>('told');
  const epoch = meta.get('epoch') ?? randomBytes(8).toString('hex');
  if (meta.get('epoch') === undefined) meta.set('epoch', epoch);
  let last = 0;
  for (const { changed, active } of conversations.values()) last = Math.max(last, changed, active);
  for (const { changed, place } of messages.values()) last = Math.max(last, changed, place);
  for (const { since } of rooms.values()) last = Math.max(last, since);
  for (const { place } of undecrypted.values()) last = Math.max(last, place);
  for (const { place } of held.values()) last = Math.max(last, place);
  let feed = [...messages.values()]
    .toSorted((a, b) => a.changed - b.changed)
    .map(({ id, changed }) => ({ id, changed }));
  const placed = new Map<string, { id: string; place: number }[]>();
  const listOf = (conversation: string) => {
    const list = placed.get(conversation) ?? [];
    placed.set(conversation, list);
    return list;
  };
  const ciphers = new Map<string, string>();
  let forgotten: string[] = [];
  const bytesOf = new Map<string, number>();
  const weigh = (conversation: string, bytes: number) => {
    const total = (bytesOf.get(conversation) ?? 0) + bytes;
    bytesOf.set(conversation, total);
    return total;
  };
  for (const { id, conversation, place, cipher, body } of messages.values()) {
    listOf(conversation).push({ id, place });
    weigh(conversation, weightOf(body));
    if (cipher !== null) ciphers.set(cipher, id);
  }
  for (const list of placed.values()) list.sort((a, b) => a.place - b.place);

  const count = () => {
    last += 1;
    return last;
  };

  /** An eighth at once, so that it is not done for each message. */
  function forgetOldest(conversation: string): void {
    const list = listOf(conversation);
    let count = 0;
    for (const { id } of list) {
      const message = messages.get(id);
      if (message === undefined || (bytesOf.get(conversation) ?? 0) <= MOST_BYTES - MOST_BYTES / 8) break;
      weigh(conversation, -weightOf(message.body));
      messages.delete(id);
      if (message.cipher !== null) ciphers.delete(message.cipher);
      count += 1;
    }
    list.splice(0, count);
    feed = feed.filter(({ id }) => messages.get(id) !== undefined);
  }

  return {
    conversations,
    rooms,
    messages,
    undecrypted,
    held,
    sendings: store.table('sendings'),
    comparisons: store.table('comparisons'),
    allowances,
    told,
    meta,
    epoch: () => epoch,
    last: () => last,
    count,
    put(conversation) {
      const kept = { ...conversation, changed: count() };
      conversations.set(kept.id, kept);
      return kept;
    },
    say(message) {
      const kept = { ...message, changed: count() };
      const before = messages.get(kept.id);
      const total = weigh(kept.conversation, weightOf(kept.body) - (before === undefined ? 0 : weightOf(before.body)));
      if (before === undefined) {
        const list = listOf(kept.conversation);
        // Nearly always at the end.
        const at = list.findLastIndex(({ place }) => place <= kept.place) + 1;
        list.splice(at, 0, { id: kept.id, place: kept.place });
      }
      messages.set(kept.id, kept);
      if (kept.cipher !== null) ciphers.set(kept.cipher, kept.id);
      feed.push({ id: kept.id, changed: kept.changed });
      if (total > MOST_BYTES) forgetOldest(kept.conversation);
    },
    isReplay: (cipher, id) => (ciphers.get(cipher) ?? id) !== id,
    undecryptedBytes: undecrypted.bytes,
    forget(conversation) {
      conversations.delete(conversation);
      allowances.delete(conversation);
      told.delete(conversation);
      placed.delete(conversation);
      forgotten.push(conversation);
      for (const room of [...rooms.values()]) if (room.conversation === conversation) rooms.delete(room.id);
    },
    forgotten() {
      const gone = forgotten;
      forgotten = [];
      return gone;
    },
    messagesOf: (conversation) => listOf(conversation).map(({ id }) => id),
    *changedAfter(number) {
      for (let at = firstAfter(feed, number); at < feed.length; at += 1) {
        const entry = feed[at];
        const message = entry && messages.get(entry.id);
        // It changed again since: it comes later.
        if (message !== undefined && message.changed === entry?.changed) yield message;
      }
    },
    roomsOf: (conversation) =>
      [...rooms.values()].filter((room) => room.conversation === conversation).toSorted((a, b) => b.since - a.since),
  };
}

/** Knows how much there is. */
function measured<Value>(table: Table<Value>): Table<Value> & { bytes(): number } {
  const sizeOf = (value: Value | undefined) => (value === undefined ? 0 : JSON.stringify(value).length);
  let bytes = 0;
  for (const value of table.values()) bytes += sizeOf(value);
  return {
    get: table.get,
    set(key, value) {
      bytes += sizeOf(value) - sizeOf(table.get(key));
      table.set(key, value);
    },
    delete(key) {
      bytes -= sizeOf(table.get(key));
      table.delete(key);
    },
    values: table.values,
    get size() {
      return table.size;
    },
    bytes: () => bytes,
  };
}

function firstAfter(feed: readonly { readonly changed: number }[], number: number): number {
  let [low, high] = [0, feed.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((feed[middle]?.changed ?? 0) > number) high = middle;
    else low = middle + 1;
  }
  return low;
}
