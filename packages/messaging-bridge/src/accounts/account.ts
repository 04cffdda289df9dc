// One account while it is open: its store, its device, and its turns, in which everything happens that speaks to the
// homeserver or changes what is kept.
import { type Book, openBook } from '../conversations/book.ts';
import type { Fetched } from '../conversations/gaps.ts';
import { OperationError } from '../failure.ts';
import type { Log } from '../log.ts';
import type { Homeserver } from '../matrix/homeserver.ts';
import { type Machine, openMachine } from '../matrix/machine.ts';
import { type AccountStore, openAccountStore } from '../store/account-store.ts';
import type { Card } from '../store/cards.ts';
import { attachIndexedDb } from '../store/durable-indexed-db.ts';
import type { Turns } from './turns.ts';

export interface Account {
  readonly userId: string;
  readonly as: { readonly userId: string; readonly deviceId: string };
  readonly homeserver: Homeserver;
  readonly machine: Machine;
  readonly store: AccountStore;
  readonly book: Book;
  /** When rooms of a conversation may be joined again, one of which could not be, and how often that was so. */
  readonly joinsAgain: Map<string, { readonly at: number; readonly failures: number }>;
  /** What was fetched so far of what is missing, by its rooms. */
  readonly fetched: Map<string, Fetched>;
  /** Rooms of which something is being fetched. */
  readonly fetching: Set<string>;
  /** Says that something of a room is missing. */
  missing(roomId: string): void;
  /**
   * Within a turn: waits for another server, while other work of the account goes on. What is kept may be another one after it.
   *
   * @throws OperationError `unavailable` where the account was closed meanwhile, or the bridge ends
   */
  apart<Result>(work: () => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

export interface AccountOptions {
  readonly homeserver: Homeserver;
  readonly turns: Turns;
  /** Aborts when the bridge ends. */
  readonly ending: AbortSignal;
  readonly log: Log;
  /** Called for each room of which something is missing. */
  readonly onMissing: (roomId: string) => void;
}

/** @throws DamagedStoreError */
export async function openAccount(card: Card, options: AccountOptions): Promise<Account> {
  const { homeserver, turns, ending, log, onMissing } = options;
  let isClosed = false;
  const store = await openAccountStore(card.logFile, card.key);
  try {
    const prefix = card.folder;
    const detach = await attachIndexedDb(prefix, store);
    try {
      const as = { userId: card.userId, deviceId: card.deviceId };
      const machine = await openMachine(homeserver, as, prefix, () =>
        log.warn({ userId: card.userId }, 'a message to a device was malformed and is dropped'),
      );
      const book = openBook(store);
      for (const { roomId } of book.held.values()) onMissing(roomId);
      return {
        userId: card.userId,
        as,
        homeserver,
        machine,
        store,
        book,
        joinsAgain: new Map(),
        fetched: new Map(),
        fetching: new Set(),
        missing: onMissing,
        async apart(work) {
          const result = await turns.apart(() => unlessEnding(ending, work()));
          if (isClosed) throw new OperationError('unavailable', 'The account was closed meanwhile. Try again.');
          return result;
        },
        async close() {
          isClosed = true;
          try {
            machine.close();
          } finally {
            detach();
            await store.close();
          }
        },
      };
    } catch (error) {
      detach();
      throw error;
    }
  } catch (error) {
    await store.close();
    throw error;
  }
}

function unlessEnding<Result>(ending: AbortSignal, work: Promise<Result>): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const end = () => reject(new OperationError('unavailable', 'The bridge is ending.'));
  if (ending.aborted) end();
  ending.addEventListener('abort', end, { once: true });
  return Promise.race([work, promise]).finally(() => ending.removeEventListener('abort', end));
}
