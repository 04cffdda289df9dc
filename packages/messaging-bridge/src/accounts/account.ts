// One account while it is open: its store, its device, and its turns, in which everything happens that speaks to the
// homeserver or changes what is kept.
import { type Book, openBook } from '../conversations/book.ts';
import type { Log } from '../log.ts';
import type { Homeserver } from '../matrix/homeserver.ts';
import { type Machine, openMachine } from '../matrix/machine.ts';
import { type AccountStore, openAccountStore } from '../store/account-store.ts';
import type { Card } from '../store/cards.ts';
import { attachIndexedDb } from '../store/durable-indexed-db.ts';

export interface Account {
  readonly userId: string;
  readonly as: { readonly userId: string; readonly deviceId: string };
  readonly homeserver: Homeserver;
  readonly machine: Machine;
  readonly store: AccountStore;
  readonly book: Book;
  /** When rooms of a conversation may be joined again, one of which could not be, and how often that was so. */
  readonly joinsAgain: Map<string, { readonly at: number; readonly failures: number }>;
  close(): Promise<void>;
}

/** @throws DamagedStoreError */
export async function openAccount(homeserver: Homeserver, card: Card, log: Log): Promise<Account> {
  const store = await openAccountStore(card.logFile, card.key);
  try {
    const prefix = card.folder;
    const detach = await attachIndexedDb(prefix, store);
    try {
      const as = { userId: card.userId, deviceId: card.deviceId };
      const machine = await openMachine(homeserver, as, prefix, () =>
        log.warn({ userId: card.userId }, 'a message to a device was malformed and is dropped'),
      );
      return {
        userId: card.userId,
        as,
        homeserver,
        machine,
        store,
        book: openBook(store),
        joinsAgain: new Map(),
        async close() {
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
