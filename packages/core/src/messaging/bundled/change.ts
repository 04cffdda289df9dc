// Operations on conversations that were read under the locks of their accounts: each is applied to what the ones before it left,
// or refused without a trace.
import { isDeepStrictEqual } from 'node:util';
import { RefusalError, refuse } from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import {
  accept,
  block,
  decline,
  leave,
  type Moment,
  markRead,
  open,
  type Party,
  type Seat,
  send,
} from './conversation-rules.ts';
import { type Changed, type Operation, pairOf, type Sending } from './operations.ts';
import type { ConversationRow, NewMessage, SentRow, StoredSide } from './queries.ts';
import { newConversationKey, openBody, openConversationKey, sealBody } from './sealed-messages.ts';

interface Loaded {
  readonly moment: Moment;
  readonly parties: readonly Party[];
  readonly conversations: readonly ConversationRow[];
  readonly sides: readonly StoredSide[];
  /** What was sent before under the transactions of the operations. */
  readonly sent: readonly SentRow[];
  readonly readPlaces: ReadonlyMap<Operation, { readonly change: number; readonly after: number } | undefined>;
  readonly newId: () => string;
}

interface Seats {
  readonly row: ConversationRow;
  readonly low: boolean;
  readonly own: Seat;
  readonly other: Seat | null;
}

export class Change {
  readonly #context: Pick<CoreContext, 'masterKey' | 'random'>;
  readonly #loaded: Loaded;
  readonly #parties: Map<string, Party>;
  readonly #conversations: Map<string, ConversationRow>;
  readonly #sides: Map<string, StoredSide>;
  readonly #sent: Map<string, SentRow>;
  readonly #keys = new Map<string, Buffer>();
  readonly #newConversations: ConversationRow[] = [];
  readonly #newMessages: NewMessage[] = [];
  readonly #changedParties = new Set<string>();
  readonly #changedSides = new Set<string>();
  readonly #noticed = new Set<string>();
  /** Messages that these operations brought to a side. */
  readonly #arrived = new Map<string, number>();

  constructor(context: Pick<CoreContext, 'masterKey' | 'random'>, loaded: Loaded) {
    this.#context = context;
    this.#loaded = loaded;
    this.#parties = new Map(loaded.parties.map((one) => [one.accountKey, one]));
    this.#conversations = new Map(loaded.conversations.map((one) => [one.id, one]));
    this.#sides = new Map(loaded.sides.map((one) => [sideKey(one.accountKey, one.conversationId), one]));
    this.#sent = new Map(loaded.sent.map((one) => [transactionKey(one), one]));
  }

  /** What is to be written. */
  get stored() {
    return {
      conversations: this.#newConversations,
      sides: [...this.#changedSides].flatMap((key) => this.#sides.get(key) ?? []),
      messages: this.#newMessages,
      parties: [...this.#changedParties].flatMap((key) => this.#parties.get(key) ?? []),
      /** To which a first unread message or a request came. */
      noticed: [...this.#noticed].flatMap((key) => this.#sides.get(key) ?? []),
    };
  }

  apply(operation: Operation): Changed | RefusalError {
    try {
      return operation.do === 'open' ? this.#open(operation) : this.#change(operation);
    } catch (error) {
      if (error instanceof RefusalError) return error;
      throw error;
    }
  }

  #open({ accountKey, otherKey }: Extract<Operation, { do: 'open' }>): Changed {
    const pair = pairOf(accountKey, otherKey);
    const former = [...this.#conversations.values()].find(
      ({ lowKey, highKey }) => lowKey === pair.lowKey && highKey === pair.highKey,
    );
    const id = former?.id ?? this.#loaded.newId();
    const row: ConversationRow = former ?? {
      id,
      ...pair,
      lowGone: false,
      highGone: false,
      sealedKey: newConversationKey(this.#context, id),
      createdAt: this.#loaded.moment.now,
    };
    const seats = this.#seats(row, accountKey);
    const { other } = seats;
    if (other === null) throw refuse('not_found', 'Nobody has this address.');
    const created = this.#commit(seats, () => open(seats.own, other, this.#loaded.moment));
    if (former === undefined) {
      this.#conversations.set(id, row);
      this.#newConversations.push(row);
    }
    return { conversationId: id, created };
  }

  #change(operation: Exclude<Operation, { do: 'open' }>): Changed {
    const { accountKey, conversationId } = operation;
    const row = this.#conversations.get(conversationId);
    if (row === undefined || (row.lowKey !== accountKey && row.highKey !== accountKey)) throw refuse('not_found');
    const seats = this.#seats(row, accountKey);
    if (seats.own.side === undefined) throw refuse('not_found');
    if (operation.do === 'send') return this.#send(seats, operation);
    const { own, other } = seats;
    this.#commit(seats, () => {
      if (operation.do === 'accept') accept(own, other);
      else if (operation.do === 'decline') decline(own, this.#loaded.moment);
      else if (operation.do === 'leave') leave(own, this.#loaded.moment);
      else if (operation.do === 'block') block(own, this.#loaded.moment);
      else {
        const place = this.#loaded.readPlaces.get(operation);
        if (place === undefined) throw refuse('not_found');
        const arrived = this.#arrived.get(sideKey(accountKey, conversationId)) ?? 0;
        markRead(own, place.change, place.after + arrived);
      }
    });
    return { conversationId, created: false };
  }

  #send(seats: Seats, sending: Sending): Changed {
    const { row, low, own, other } = seats;
    const place = { conversationId: row.id, senderKey: own.party.accountKey };
    const former = this.#sent.get(transactionKey(sending));
    if (former !== undefined) {
      const same =
        former.conversationId === row.id &&
        former.fromLow === low &&
        openBody(this.#keyOf(row), { ...place, messageId: former.id }, former.sealed) === sending.body;
      if (!same)
        throw refuse('conversation_conflict', 'This transactionId was used for another message. Choose a new one.');
      return this.#sentAs(former, sending.body, false);
    }
    const id = this.#loaded.newId();
    const sealed = sealBody(this.#keyOf(row), { ...place, messageId: id }, sending.body, this.#context.random);
    const { now } = this.#loaded.moment;
    const arrivals = this.#commit(seats, () => send(own, other, sealed.length, this.#loaded.moment));
    const message: NewMessage = {
      id,
      conversationId: row.id,
      fromLow: low,
      sealed,
      sentAt: now,
      installationId: sending.installationId,
      transactionId: sending.transactionId,
      lowChange: low ? arrivals.own : arrivals.other,
      highChange: low ? arrivals.other : arrivals.own,
    };
    if (arrivals.other !== null && other !== null) {
      const key = sideKey(other.party.accountKey, row.id);
      this.#arrived.set(key, (this.#arrived.get(key) ?? 0) + 1);
    }
    this.#newMessages.push(message);
    this.#sent.set(transactionKey(sending), message);
    return this.#sentAs(message, sending.body, true);
  }

  #sentAs({ id, conversationId, sentAt }: SentRow, body: string, created: boolean): Changed {
    return { conversationId, created, message: { id, body, sentAt } };
  }

  #keyOf(row: ConversationRow): Buffer {
    const known = this.#keys.get(row.id) ?? openConversationKey(this.#context, row.id, row.sealedKey);
    this.#keys.set(row.id, known);
    return known;
  }

  #seats(row: ConversationRow, accountKey: string): Seats {
    const low = row.lowKey === accountKey;
    const own = this.#seat(row, accountKey);
    if (own === null) throw refuse('not_found');
    const gone = low ? row.highGone : row.lowGone;
    return { row, low, own, other: gone ? null : this.#seat(row, low ? row.highKey : row.lowKey) };
  }

  /** A copy, which becomes what is stored once the operation was not refused; `null` for an account that was deleted. */
  #seat(row: ConversationRow, accountKey: string): Seat | null {
    const party = this.#parties.get(accountKey);
    if (party === undefined) return null;
    const side = this.#sides.get(sideKey(accountKey, row.id));
    return { party: { ...party }, side: side === undefined ? undefined : { ...side } };
  }

  #commit<Result>({ row, own, other }: Seats, work: () => Result): Result {
    const result = work();
    for (const seat of [own, other]) {
      if (seat === null || seat.side === undefined) continue;
      const { accountKey } = seat.party;
      const key = sideKey(accountKey, row.id);
      const side: StoredSide = { ...seat.side, conversationId: row.id };
      const former = this.#sides.get(key);
      if (isDeepStrictEqual(side, former)) continue;
      if (isNoticed(former, side)) this.#noticed.add(key);
      this.#parties.set(accountKey, seat.party);
      this.#sides.set(key, side);
      this.#changedParties.add(accountKey);
      this.#changedSides.add(key);
    }
    return result;
  }
}

/** Somebody waits for the account: since this change, and only the first time until it looked. */
function isNoticed(former: StoredSide | undefined, { state, unread }: StoredSide): boolean {
  if (state === 'request') return former?.state !== 'request';
  return unread > 0 && (former?.unread ?? 0) === 0;
}

function sideKey(accountKey: string, conversationId: string): string {
  return `${accountKey} ${conversationId}`;
}

function transactionKey({ installationId, transactionId }: Pick<SentRow, 'installationId' | 'transactionId'>): string {
  return `${installationId} ${transactionId}`;
}
