// What each side of a direct conversation may do and sees happen (contract 4f). Pure: a change is applied to both sides as they
// were read, and what became of them is stored by others. Nobody learns from an answer that the other side declined, left or
// blocked: only what arrives there depends on it.
import { type ConversationState, limits, type RefusalError, refuse } from '@platform/contract';

export interface Side {
  readonly accountKey: string;
  state: ConversationState;
  blocked: boolean;
  /** It was open once: the other side has accepted. */
  wasOpen: boolean;
  declinedAt: Date | null;
  askedAt: Date | null;
  askedMessages: number;
  unread: number;
  readChange: number;
  lastMessageAt: Date | null;
  latestChange: number;
  changed: number;
}

/** An account that takes part, and what of it the rules go by. */
export interface Party {
  readonly accountKey: string;
  /** The number of its last change. */
  changes: number;
  sentBytes: number;
  /** Requests that it made within a day. */
  requests: number;
}

/** An account and its side; `undefined` before the conversation began. */
export interface Seat {
  readonly party: Party;
  side: Side | undefined;
}

export interface Moment {
  readonly now: Date;
  /** A time that has certainly passed. */
  readonly proven: Date;
}

const DAY = 86_400_000;
const REQUEST_MILLISECONDS = limits.messagingRequestDays.value * DAY;

/**
 * `own` opens the conversation with `other`, or asks again, or accepts what waits for it.
 *
 * @returns whether it is new
 * @throws RefusalError `rate_limited` beyond `limits.messagingRequests`
 */
export function open(own: Seat, other: Seat, moment: Moment): boolean {
  if (own.side === undefined) {
    requireRequests(own.party);
    own.side = newSide(own.party.accountKey);
    other.side = newSide(other.party.accountKey);
    ask(own, moment);
    arrive(other);
    return true;
  }
  const { state } = own.side;
  if (state === 'request') accept(own, other);
  else if (state === 'left') comeBack(own, other, moment);
  else if (state === 'requested') askAgain(own, other, moment);
  return false;
}

/** @throws RefusalError `conversation_conflict` */
export function accept(own: Seat, other: Seat | null): void {
  const side = present(own);
  if (side.state === 'open') return;
  if (side.state !== 'request')
    throw conflict(
      side.state === 'requested'
        ? 'This is your own request: the other side accepts it.'
        : 'You left this conversation. Open it with the address of the other side.',
    );
  begin(own);
  if (other?.side?.state === 'requested') begin(other);
}

/** @throws RefusalError `conversation_conflict` */
export function decline(own: Seat, { now }: Pick<Moment, 'now'>): void {
  const side = present(own);
  if (side.state === 'left') return;
  if (side.state !== 'request') throw conflict('Only a request can be declined. Leave the conversation, or block it.');
  leave(own, { now });
}

/** Of a request, the same as to decline it. */
export function leave(own: Seat, { now }: Pick<Moment, 'now'>): void {
  const side = present(own);
  if (side.state === 'left') return;
  if (side.state === 'request') side.declinedAt = now;
  side.state = 'left';
  side.unread = 0;
  side.readChange = own.party.changes;
  touch(own);
}

export function block(own: Seat, moment: Pick<Moment, 'now'>): void {
  const side = present(own);
  if (side.blocked) return;
  leave(own, moment);
  side.blocked = true;
  touch(own);
}

export interface Arrivals {
  /** The change by which it comes to the sender. */
  readonly own: number;
  /** To the other side; `null` when it does not arrive. */
  readonly other: number | null;
}

/**
 * @param other `null` when its account was deleted
 * @param bytes that the account's store grows by
 * @throws RefusalError `conversation_conflict`, `disk_quota`
 */
export function send(own: Seat, other: Seat | null, bytes: number, { now }: Moment): Arrivals {
  const side = present(own);
  if (other === null) throw conflict('The account of the other side was deleted.');
  if (side.state === 'left') throw conflict('You left this conversation. Open it with the address of the other side.');
  if (side.state === 'request') throw conflict('This is a request. Accept it before you answer.');
  if (side.state === 'requested') {
    const most = limits.messagingRequestMessages.value;
    if (side.askedMessages >= most)
      throw conflict(`The other side has not accepted yet; until then you may send ${most} messages.`);
    side.askedMessages += 1;
  }
  if (own.party.sentBytes + bytes > limits.messageStore.value)
    throw refuse('disk_quota', 'The messages of your account have reached their limit. Ask the operator.');
  own.party.sentBytes += bytes;
  side.lastMessageAt = now;
  touchLatest(own);
  const arrives = other.side !== undefined && other.side.state !== 'left';
  if (arrives && other.side !== undefined) {
    other.side.lastMessageAt = now;
    other.side.unread += 1;
    touchLatest(other);
  }
  return { own: own.party.changes, other: arrives ? other.party.changes : null };
}

/** @param unread messages of the other side after `change` */
export function markRead(own: Seat, change: number, unread: number): void {
  const side = present(own);
  if (change <= side.readChange) return;
  side.readChange = change;
  if (side.unread === unread) return;
  side.unread = unread;
  touch(own);
}

function begin(seat: Seat): void {
  const side = present(seat);
  side.state = 'open';
  side.wasOpen = true;
  side.askedMessages = 0;
  touch(seat);
}

function ask(own: Seat, { now }: Moment): void {
  const side = present(own);
  requireRequests(own.party);
  own.party.requests += 1;
  side.state = 'requested';
  side.askedAt = now;
  side.askedMessages = 0;
  touchLatest(own);
}

function requireRequests({ requests }: Party): void {
  const most = limits.messagingRequests.value;
  if (requests >= most)
    throw refuse('rate_limited', `An account may write to ${most} new people a day. Try again tomorrow.`, {
      retryAfter: DAY / 1_000,
    });
}

function arrive(other: Seat): void {
  const side = present(other);
  side.state = 'request';
  side.declinedAt = null;
  touchLatest(other);
}

/** A request that waits, and one that was declined, are asked again alike. */
function askAgain(own: Seat, other: Seat, moment: Moment): void {
  if (present(own).askedAt === null || isPast(own.side?.askedAt, moment)) ask(own, moment);
  const theirs = present(other);
  if (theirs.state === 'left' && !theirs.blocked && isPast(theirs.declinedAt, moment)) arrive(other);
}

/** What was declined, left or blocked is taken up again by the one who did. */
function comeBack(own: Seat, other: Seat, moment: Moment): void {
  const side = present(own);
  const theirs = present(other).state;
  if (theirs === 'requested') {
    side.state = 'request';
    accept(own, other);
  } else if (side.wasOpen || theirs === 'open') begin(own);
  else {
    askAgain(own, other, moment);
    side.state = 'requested';
    touch(own);
  }
  side.blocked = false;
  side.declinedAt = null;
}

function newSide(accountKey: string): Side {
  return {
    accountKey,
    // Until it is asked or arrives, in the same change.
    state: 'left',
    blocked: false,
    wasOpen: false,
    declinedAt: null,
    askedAt: null,
    askedMessages: 0,
    unread: 0,
    readChange: 0,
    lastMessageAt: null,
    latestChange: 0,
    changed: 0,
  };
}

function touch({ party, side }: Seat): void {
  if (side === undefined) return;
  party.changes += 1;
  side.changed = party.changes;
}

function touchLatest(seat: Seat): void {
  touch(seat);
  if (seat.side !== undefined) seat.side.latestChange = seat.side.changed;
}

function isPast(since: Date | null | undefined, { proven }: Moment): boolean {
  return since !== null && since !== undefined && since.getTime() <= proven.getTime() - REQUEST_MILLISECONDS;
}

function present({ side }: Seat): Side {
  if (side === undefined) throw refuse('not_found');
  return side;
}

function conflict(detail: string): RefusalError {
  return refuse('conversation_conflict', detail);
}
