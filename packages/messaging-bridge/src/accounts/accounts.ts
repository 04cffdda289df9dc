// All accounts of the bridge. One is open while it is used, and for some minutes after: its store and its device are in
// memory only then. Everything that speaks to the homeserver for it happens in its turn.
import { EventEmitter, once } from 'node:events';
import type { MessagingBridgeSubject } from '@platform/contract';
import { beginTelling, keepTold } from '../conversations/attention.ts';
import { type Awaited, awaitedBy } from '../conversations/awaited.ts';
import { fetchMissing } from '../conversations/gaps.ts';
import { takeSync } from '../conversations/take-sync.ts';
import { OperationError } from '../failure.ts';
import type { Log } from '../log.ts';
import { type Homeserver, serverOf } from '../matrix/homeserver.ts';
import type { Heard, Notices } from '../notices.ts';
import type { Card, Cards } from '../store/cards.ts';
import { DamagedStoreError } from '../store/sealed-log.ts';
import { type Account, openAccount } from './account.ts';
import { deactivate, publishKeys, register, requireCard } from './provisioning.ts';
import { openTurns, type Turns } from './turns.ts';

export interface AccountsOptions {
  readonly homeserver: Homeserver;
  readonly serverName: string;
  readonly cards: Cards;
  readonly clock: () => number;
  readonly log: Log;
  /** Milliseconds for which an account stays open that nobody uses. */
  readonly idle: number;
  readonly notices: Notices;
  /** Aborts when the bridge ends. */
  readonly ending: AbortSignal;
  /** Throws while nothing may be done for any account. */
  requireReady(): void;
}

export interface Accounts {
  /**
   * Works with an account, in its turn; it is made known to the homeserver first where it is not.
   *
   * @param conversation whose works come one after the other, also while one of them waits apart
   */
  use<Result>(
    subject: MessagingBridgeSubject,
    work: (account: Account) => Promise<Result>,
    conversation?: string,
  ): Promise<Result>;
  /** Takes in what is new for one that is known, which stays open only if it was. @returns what is waited for after that */
  refresh(accountId: string): Promise<Awaited | null>;
  /** Keeps what core was told of an account. */
  keepTold(accountId: string, heard: readonly Heard[]): Promise<void>;
  /**
   * Ends an account at the homeserver and here. It can be repeated, and nothing is done for it any more.
   *
   * @throws OperationError `conflict` where the transport's account is bound to another one
   */
  forget(subject: MessagingBridgeSubject): Promise<void>;
  /**
   * Fetches a piece of what is missing in a room of an account that is known, which stays open only if it was.
   *
   * @returns milliseconds until it should go on; `null` where nothing is missing
   */
  fetchMissing(accountId: string, roomId: string): Promise<number | null>;
  /** Has a listener called with every room of which something is missing. */
  onMissing(listener: (accountId: string, roomId: string) => void): void;
  /** Has a listener called with every account that waits for something after it was used. */
  onWaiting(listener: (accountId: string) => void): void;
  /** Resolves after the next change of an account, or when `signal` aborts. */
  changed(accountId: string, signal: AbortSignal): Promise<void>;
  idOf(userId: string): string | undefined;
  /** Accounts in a room, as far as they were open since the start. */
  inRoom(roomId: string): readonly string[];
  all(): readonly string[];
  /** Those that are in memory. */
  open(): readonly string[];
  close(): Promise<void>;
}

interface Entry {
  readonly turns: Turns;
  /** Of conversations in which something is done now. Theirs is taken before the account's. */
  readonly conversations: Map<string, Turns>;
  account: Account | null;
  usedAt: number;
}

/** Most milliseconds between two looks for accounts that nobody uses. */
const LOOK_MS = 30_000;

export function openAccounts(options: AccountsOptions): Accounts {
  const { homeserver, serverName, cards, clock, log, idle, notices, ending, requireReady } = options;
  const entries = new Map<string, Entry>();
  const rooms = new Map<string, Set<string>>();
  const changes = new EventEmitter().setMaxListeners(0);
  const waiting = new EventEmitter<{ account: [accountId: string]; room: [accountId: string, roomId: string] }>();
  /** Accounts that are no more: a call from before would make one anew. */
  const forgotten = new Set<string>();
  let isClosing = false;

  const entryOf = (accountId: string): Entry => {
    const entry = entries.get(accountId) ?? {
      turns: openTurns(),
      conversations: new Map(),
      account: null,
      usedAt: clock(),
    };
    entries.set(accountId, entry);
    return entry;
  };

  async function openCard(card: Card): Promise<Account> {
    try {
      const { accountId } = card;
      const onMissing = (roomId: string) => void waiting.emit('room', accountId, roomId);
      return await openAccount(card, { homeserver, turns: entryOf(accountId).turns, ending, log, onMissing });
    } catch (error) {
      if (!(error instanceof DamagedStoreError)) throw error;
      log.error({ userId: card.userId }, error.message);
      throw new OperationError('unavailable', 'The keys of this account cannot be read. The operator has to look.', {
        cause: error,
      });
    }
  }

  async function provision(card: Card, name: string): Promise<Account> {
    const isReplacement = (await register(homeserver, card, name)) || card.isReplacement;
    const account = await openCard(card);
    try {
      await publishKeys(account, isReplacement);
      await takeSync(account, clock);
      await cards.markReady(card);
      return account;
    } catch (error) {
      await account.close();
      throw error;
    }
  }

  async function within<Result>(
    accountId: string,
    find: () => Promise<{ readonly card: Card; readonly name: string }>,
    work: (account: Account) => Promise<Result>,
  ): Promise<Result> {
    const entry = entryOf(accountId);
    return entry.turns.take(async () => {
      if (isClosing) throw new OperationError('unavailable', 'The bridge is ending.');
      requireReady();
      const isOpen = entry.account !== null;
      if (entry.account === null) {
        if (forgotten.has(accountId)) throw new OperationError('not_found', 'This account is no more.');
        const { card, name } = await find();
        entry.account = card.ready ? await openCard(card) : await provision(card, name);
        beginTelling(entry.account.book);
      }
      const { account } = entry;
      entry.usedAt = clock();
      const before = account.book.last();
      try {
        return await work(account);
      } finally {
        noteRooms(accountId, account);
        if (entry.account === account) noteNews(accountId, account, isOpen ? before : -1);
        // Memory is ahead of the disk, so both are read again. Another work may have seen to it.
        if (entry.account === account && account.store.failed) {
          entry.account = null;
          await account.close().catch(() => undefined);
        } else if (account.book.last() > before) changes.emit(accountId);
      }
    });
  }

  async function inOrder<Result>(
    accountId: string,
    conversation: string | undefined,
    work: () => Promise<Result>,
  ): Promise<Result> {
    if (conversation === undefined) return work();
    const { conversations } = entryOf(accountId);
    const turns = conversations.get(conversation) ?? openTurns();
    conversations.set(conversation, turns);
    try {
      return await turns.take(work);
    } finally {
      if (turns.isIdle) conversations.delete(conversation);
    }
  }

  function noteRooms(accountId: string, { book }: Account): void {
    for (const { id } of book.rooms.values()) {
      const present = rooms.get(id) ?? new Set<string>();
      rooms.set(id, present.add(accountId));
    }
  }

  function noteNews(accountId: string, account: Account, after: number): void {
    const { book } = account;
    for (const id of book.forgotten()) notices.dropConversation(accountId, id);
    if (book.last() <= after) return;
    notices.look(
      accountId,
      account,
      [...book.conversations.values()].filter(({ changed }) => changed > after),
    );
  }

  /** The card of one that the homeserver knows. */
  async function knownCard(accountId: string): Promise<{ readonly card: Card; readonly name: string }> {
    const card = cards.of(accountId);
    if (card?.ready !== true || !cards.hasStore(card))
      throw new OperationError('not_found', 'There is no such account.');
    return { card, name: '' };
  }

  /** Works with an account for which nobody asked. @returns `null` where it was forgotten since */
  async function unused<Result>(
    accountId: string,
    work: (account: Account) => Promise<Result>,
  ): Promise<Result | null> {
    if (cards.of(accountId) === undefined) return null;
    const entry = entryOf(accountId);
    const { usedAt } = entry;
    const wasOpen = entry.account !== null;
    return within(
      accountId,
      () => knownCard(accountId),
      async (account) => {
        const { usedAt: begun } = entry;
        const result = await work(account);
        // Unless somebody used it while this waited apart.
        if (entry.usedAt === begun) entry.usedAt = wasOpen ? usedAt : clock() - idle;
        return result;
      },
    );
  }

  async function forget({ accountId, transportUserId: userId }: MessagingBridgeSubject): Promise<void> {
    requireReady();
    if (serverOf(userId) !== serverName) throw new OperationError('conflict', `${userId} is of another homeserver.`);
    const bound = cards.ofUser(userId);
    if ((bound ?? { accountId }).accountId !== accountId || (cards.of(accountId) ?? { userId }).userId !== userId)
      throw new OperationError('conflict', `${userId} is bound to another account.`);
    forgotten.add(accountId);
    await deactivate(homeserver, userId);
    const entry = entryOf(accountId);
    await entry.turns.take(async () => {
      const { account } = entry;
      entry.account = null;
      await account?.close().catch(() => undefined);
      const card = cards.of(accountId);
      if (card !== undefined) await cards.remove(card);
    });
    notices.drop(accountId);
    for (const [roomId, present] of rooms) {
      present.delete(accountId);
      if (present.size === 0) rooms.delete(roomId);
    }
    entries.delete(accountId);
    // Who waits for its news is told so.
    changes.emit(accountId);
  }

  async function closeUnused(): Promise<void> {
    for (const entry of entries.values()) {
      // What was fetched of what is missing is in memory alone.
      const isUnused = () => entry.account?.book.held.size === 0 && clock() - entry.usedAt >= idle;
      if (!entry.turns.isIdle || !isUnused()) continue;
      await entry.turns.take(async () => {
        const { account } = entry;
        if (account === null || !isUnused()) return;
        entry.account = null;
        await account.close();
      });
    }
  }
  const looking = setInterval(
    () => {
      closeUnused().catch((error: unknown) => log.error({ err: error }, 'an account could not be closed'));
    },
    Math.min(LOOK_MS, idle),
  );
  looking.unref();

  return {
    use: (subject, work, conversation) =>
      inOrder(subject.accountId, conversation, () =>
        within(
          subject.accountId,
          async () => ({ card: await requireCard(cards, subject, serverName), name: subject.platformName }),
          async (account) => {
            // Also where it is open already: an answer is of whom core asks for, or none.
            if (account.userId !== subject.transportUserId)
              throw new OperationError('conflict', `The account is bound to ${account.userId}.`);
            try {
              return await work(account);
            } finally {
              if (awaitedBy(account) !== null) waiting.emit('account', subject.accountId);
            }
          },
        ),
      ),
    async keepTold(accountId, heard) {
      await within(
        accountId,
        () => knownCard(accountId),
        async (account) => {
          const { book, store } = account;
          for (const { conversationId, attention } of heard) keepTold(book, conversationId, attention);
          await store.commit();
          const ids = heard.map(({ conversationId }) => conversationId);
          notices.look(
            accountId,
            account,
            ids.flatMap((id) => book.conversations.get(id) ?? []),
          );
        },
      );
    },
    forget,
    onWaiting: (listener) => void waiting.on('account', listener),
    onMissing: (listener) => void waiting.on('room', listener),
    fetchMissing: (accountId, roomId) => unused(accountId, (account) => fetchMissing(account, roomId, clock)),
    refresh: (accountId) =>
      unused(accountId, async (account) => {
        await takeSync(account, clock);
        return awaitedBy(account);
      }),
    async changed(accountId, signal) {
      await once(changes, accountId, { signal }).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    },
    idOf: (userId) => cards.ofUser(userId)?.accountId,
    inRoom: (roomId) => [...(rooms.get(roomId) ?? [])],
    all: () => [...cards.all()].filter(({ ready }) => ready).map(({ accountId }) => accountId),
    open: () => [...entries].flatMap(([accountId, { account }]) => (account === null ? [] : [accountId])),
    async close() {
      isClosing = true;
      clearInterval(looking);
      await Promise.all(
        [...entries.values()].map(({ turns }) => turns.take(async () => undefined).catch(() => undefined)),
      );
      for (const entry of entries.values()) {
        const { account } = entry;
        entry.account = null;
        await account?.close();
      }
    },
  };
}
