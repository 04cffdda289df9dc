// What a sync says of rooms, taken into the book: who is in them, what they are, who is invited.
import { serverOf } from '../matrix/homeserver.ts';
import type { InvitedRoom, RoomEvent } from '../matrix/shapes.ts';
import { isUserId, membership as membershipShape } from '../matrix/shapes.ts';
import { untoldOf } from './attention.ts';
import { type Book, type Conversation, conversationIdOf, type Membership, type Room } from './book.ts';
import { DECLINED_MS, MOST_ENDED, MOST_REQUESTS, MOST_ROOMS } from './rules.ts';

/** Whatever Matrix has besides these is as if somebody had left. */
function membershipOf(content: unknown): Membership {
  const { data } = membershipShape.safeParse(content);
  return data?.membership === 'join' || data?.membership === 'invite' ? data.membership : 'leave';
}

/** Of rooms in which nobody else is, or several: they are nobody's conversation. */
export const NOBODY = '';

/** A room of which nothing is known yet, with nobody in it. */
export function newRoom(book: Book, id: string, conversation: string, mine: Membership): Room {
  return {
    id,
    conversation,
    mine,
    others: {},
    encrypted: false,
    replacement: null,
    filled: false,
    dead: false,
    since: book.count(),
  };
}

/** What state events make of a room. */
export function withState(room: Room, events: readonly RoomEvent[], self: string): Room {
  let next = room;
  for (const { type, state_key, content, sender } of events) {
    if (state_key === undefined) continue;
    if (type === 'm.room.member') {
      if (state_key === self) next = { ...next, mine: membershipOf(content) };
      else if (isUserId(state_key)) next = { ...next, others: { ...next.others, [state_key]: membershipOf(content) } };
    }
    // It cannot be taken back (client-server API, "m.room.encryption").
    if (type === 'm.room.encryption' && content.algorithm === 'm.megolm.v1.aes-sha2')
      next = { ...next, encrypted: true };
    const { replacement_room: roomId } = content;
    if (type === 'm.room.tombstone' && state_key === '' && typeof roomId === 'string' && roomId.length <= 255)
      next = { ...next, replacement: { roomId, via: serverOf(sender) } };
  }
  return next;
}

/** Everybody else who is in the room or invited to it. */
export const presentIn = ({ others }: Room): string[] =>
  Object.entries(others).flatMap(([userId, membership]) => (membership === 'leave' ? [] : [userId]));

/** The conversation with somebody, which begins where there is none. */
export function conversationWith(
  book: Book,
  other: string,
  begin: Pick<Conversation, 'state' | 'answered'>,
  now: number,
): Conversation {
  const found = book.conversations.get(conversationIdOf(other));
  if (found !== undefined) return found;
  return book.put({
    id: conversationIdOf(other),
    other,
    ...begin,
    closed: null,
    asked: 0,
    createdAt: now,
    lastMessageAt: null,
    readTo: 0,
    unread: 0,
    active: book.count(),
  });
}

/** An invitation, which is a request, or goes on with a conversation that both sides want. */
export function takeInvitation(
  book: Book,
  roomId: string,
  { invite_state: { events } }: InvitedRoom,
  self: string,
  now: number,
): void {
  const own = events.find(({ type, state_key }) => type === 'm.room.member' && state_key === self);
  if (own === undefined || membershipOf(own.content) !== 'invite' || own.sender === self) return;
  const isSpace = events.some(({ type, content }) => type === 'm.room.create' && content.type === 'm.space');
  if (isSpace) return;
  const id = conversationIdOf(own.sender);
  const known = book.conversations.get(id);
  const before = book.rooms.get(roomId);
  if (before?.mine === 'invite' && !before.dead) return;
  // The room of another conversation does not become theirs.
  if (before?.mine === 'join' && !before.dead && before.conversation !== id && before.conversation !== NOBODY) return;
  if (known === undefined && isFull(book)) return;
  if (known !== undefined && before === undefined && book.roomsOf(id).length >= MOST_ROOMS) return;
  const encrypted = events.some(({ type }) => type === 'm.room.encryption');
  const room = { ...newRoom(book, roomId, id, 'invite'), ...(before && heardIn(before)) };
  book.rooms.set(roomId, { ...room, encrypted, others: { [own.sender]: 'join' } });
  const conversation = known ?? conversationWith(book, own.sender, { state: 'request', answered: true }, now);
  if (known === undefined) return;
  book.put(afterInvitation(conversation, now));
}

/** What stays of a room that is joined again: what was not heard in it is not heard later. */
const heardIn = ({ unheardTo, wasLeft, filled }: Room) => ({
  wasLeft: filled || wasLeft === true,
  ...(unheardTo !== undefined && { unheardTo }),
});

function afterInvitation(conversation: Conversation, now: number): Conversation {
  const { state, closed } = conversation;
  if (state === 'requested') return { ...conversation, state: 'open', answered: true };
  if (state !== 'left') return conversation;
  // What comes after one left or blocked the other side, or soon after a request was declined, does not arrive.
  const arrives = closed?.by === 'withdrawn' || (closed?.by === 'declined' && now - closed.at >= DECLINED_MS);
  return arrives ? { ...conversation, state: 'request', closed: null } : conversation;
}

/** Whether no further requests are kept. */
export function isFull(book: Book): boolean {
  let requests = 0;
  for (const { state } of book.conversations.values()) if (state === 'request') requests += 1;
  return requests >= MOST_REQUESTS;
}

/** Rooms that this account is no longer in. */
export function takeLeft(book: Book, roomId: string, now: number): void {
  const room = book.rooms.get(roomId);
  if (room === undefined || room.mine === 'leave') return;
  book.rooms.set(roomId, { ...room, mine: 'leave', dead: true });
  const conversation = book.conversations.get(room.conversation);
  const hasInvitation = book.roomsOf(room.conversation).some(({ mine }) => mine === 'invite');
  if (conversation?.state === 'request' && !hasInvitation)
    book.put({ ...conversation, state: 'left', closed: { by: 'withdrawn', at: now } });
}

/** Whoever asks and takes it back, again and again under other names, does not fill an account with that. */
export function forgetEnded(book: Book, now: number): void {
  const ended = [...book.conversations.values()].filter((conversation) => {
    const { state, closed, lastMessageAt } = conversation;
    const isOver = closed?.by === 'withdrawn' || (closed?.by === 'declined' && now - closed.at >= DECLINED_MS);
    // Core is to hear first that it no longer waits for its person.
    return state === 'left' && lastMessageAt === null && isOver && untoldOf(book, conversation) === null;
  });
  const oldest = ended.toSorted((a, b) => a.changed - b.changed);
  for (const { id } of oldest.slice(0, Math.max(0, ended.length - MOST_ENDED))) book.forget(id);
}

/** What the memberships of a room mean for its conversation. */
export function afterMembers(book: Book, room: Room): void {
  const conversation = book.conversations.get(room.conversation);
  if (conversation?.state === 'requested' && room.mine === 'join' && room.others[conversation.other] === 'join')
    book.put({ ...conversation, state: 'open', answered: true });
}
