// Feeds an index elsewhere with what changed. One replica at a time holds the lease of the feed; it reads, tells the
// index, and only then notes what it told, each step in a transaction of its own. What a killed one told without noting
// it is told again; what a slow one tells after another took over changes nothing, because the version of an entry is
// the sequence of its change and an index keeps the newest.
import type { Transaction } from 'kysely';
import { endNamedLease, isNamedLeaseHeld, namedLeaseDue, takeNamedLease } from '../background/lease-queries.ts';
import { backOff, type Lease, type LeasedWork } from '../background/leased-worker.ts';
import type { CoreContext } from '../context.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import type { FedIndex, ToldEntry } from './engine.ts';
import {
  clearObsolete,
  type FeedRow,
  feedHasWork,
  insertFeed,
  lockFeed,
  moveFeed,
  nextIndexed,
  queueAll,
  restartFeed,
  selectFeed,
  updateFeed,
} from './feed-queries.ts';
import { holdIndex } from './index-queries.ts';
import { newIndexName } from './manage-feed.ts';
import { forgetTold, nextWaiting, type WaitingEntry, wordsOf } from './outbox-queries.ts';

type Trx = Transaction<DatabaseSchema>;

const LEASE = 'search-feed';
/** Renewed with each piece. Longer than the two requests of a piece may take, so that nothing is told after its end. */
const LEASE_MILLISECONDS = 60_000;
/** The longest that telling a batch takes; with less of the lease left it is not begun. */
const TELLING_MILLISECONDS = 25_000;
/** Entries told at once. */
const BATCH = 250;
const LATER_MILLISECONDS = 250;
/** Whether its index is still there is looked at this often, also when there is nothing to tell. */
const LOOK_MILLISECONDS = 14_000;
const RETRY = { first: 500, longest: 60_000 };

/** `later`: what is left is being changed at this moment. */
type Piece = 'more' | 'idle' | 'later';

export class FeedWork implements LeasedWork<Date> {
  readonly name = 'the search index elsewhere';
  readonly wakeOn = 'search-queued';
  readonly slots = 1;
  readonly leaseMilliseconds = LEASE_MILLISECONDS;
  /** What is being told at a stop is not noted then, and is told again at the next start. */
  readonly graceMilliseconds = 0;
  readonly #context: CoreContext;
  readonly #index: FedIndex;
  #failures = 0;
  #looked = Number.NEGATIVE_INFINITY;
  #closing: Promise<void> | undefined;

  constructor(context: CoreContext, index: FedIndex) {
    this.#context = context;
    this.#index = index;
  }

  async claim({ now, until }: Lease): Promise<Date[]> {
    const { database, pool } = this.#context;
    const idle = performance.now() - this.#looked < LOOK_MILLISECONDS;
    if (idle && !(await feedHasWork(database, this.#index.address))) return [];
    return (await takeNamedLease(pool, LEASE, { due: now, until })) ? [until] : [];
  }

  async run(claimed: Date, _lease: Lease, stopping: AbortSignal): Promise<void> {
    const { pool, clock, log } = this.#context;
    let until = claimed;
    let wait = 0;
    try {
      for (;;) {
        if (stopping.aborted) break;
        const piece = await this.#piece(until);
        this.#recovered();
        if (piece === 'later') wait = LATER_MILLISECONDS;
        if (piece !== 'more') break;
        const next = new Date(clock().getTime() + LEASE_MILLISECONDS);
        if (!(await takeNamedLease(pool, LEASE, { due: until, until: next }))) return;
        until = next;
      }
      this.#looked = performance.now();
    } catch (error) {
      if (!stopping.aborted) {
        if (this.#failures === 0) log.warn({ err: error }, 'the search index elsewhere could not be told');
        wait = backOff(this.#context, this.#failures, RETRY);
        this.#failures += 1;
      }
    }
    await endNamedLease(pool, LEASE, { until, next: new Date(clock().getTime() + wait) });
  }

  /** The end of another replica's lease, or of the wait after a failure; `null` when nothing is to be waited for. */
  async nextDue(): Promise<Date | null> {
    const { pool, clock } = this.#context;
    const due = await namedLeaseDue(pool, LEASE);
    return due !== null && due > clock() ? due : null;
  }

  abort(): void {
    void this.close();
  }

  close(): Promise<void> {
    this.#closing ??= this.#index.close();
    return this.#closing;
  }

  #recovered(): void {
    if (this.#failures > 0) this.#context.log.info({}, 'the search index elsewhere is told again');
    this.#failures = 0;
  }

  async #piece(until: Date): Promise<Piece> {
    const { database, random } = this.#context;
    const { address } = this.#index;
    const feed = await selectFeed(database);
    if (feed === undefined) {
      await database.transaction().execute((trx) => insertFeed(trx, address, newIndexName(random)));
      return 'more';
    }
    if (feed.address !== address) return this.#note(until, feed, (trx) => moveFeed(trx, address, newIndexName(random)));
    if (feed.obsolete.length > 0) {
      for (const index of feed.obsolete) await this.#index.drop(index);
      return this.#note(until, feed, (trx) => clearObsolete(trx, feed.obsolete));
    }
    return feed.state === 'filling' ? this.#fill(until, feed) : this.#tell(until, feed);
  }

  /** Puts the next installation into the outbox. */
  async #fill(until: Date, feed: FeedRow): Promise<Piece> {
    if (feed.filled_to === '') await this.#index.create(feed.index_name);
    const noted = await this.#note(until, feed, async (trx) => {
      const installationId = await nextIndexed(trx, feed.filled_to);
      if (installationId === undefined) return updateFeed(trx, { state: 'draining' });
      await holdIndex(trx, installationId);
      await queueAll(trx, installationId);
      return updateFeed(trx, { filled_to: installationId });
    });
    await this.#context.at('search.feed.filled');
    return noted;
  }

  async #tell(until: Date, feed: FeedRow): Promise<Piece> {
    const { database, clock, log, at, random } = this.#context;
    const { index_name: index } = feed;
    const waiting = await nextWaiting(database, BATCH);
    const told = await this.#entriesOf(waiting);
    await at('search.feed.read');
    if (!(await this.#index.exists(index))) {
      log.warn({ index }, 'the search index elsewhere was gone; it is filled again');
      return this.#note(until, feed, async (trx) => void (await restartFeed(trx, newIndexName(random))));
    }
    if (waiting.length === 0) {
      if (feed.state === 'ready') return 'idle';
      const noted = await this.#note(until, feed, (trx) => updateFeed(trx, { state: 'ready' }));
      log.info({ index }, 'the search index elsewhere is filled and answers searches');
      return noted;
    }
    if (until.getTime() - clock().getTime() < TELLING_MILLISECONDS) return 'more';
    await this.#index.tell(index, told);
    await at('search.feed.told');
    let forgotten = 0;
    const noted = await this.#note(until, feed, async (trx) => {
      forgotten = await forgetTold(trx, waiting);
    });
    return noted === 'more' && forgotten === 0 ? 'later' : noted;
  }

  /** What became of waiting entries. Read after their sequence: newer words are told again under the next one. */
  async #entriesOf(waiting: readonly WaitingEntry[]): Promise<ToldEntry[]> {
    const { database } = this.#context;
    const keyOf = (row: Pick<WaitingEntry, 'installation_id' | 'entry_id'>) => `${row.installation_id}:${row.entry_id}`;
    const indexed = new Map((await wordsOf(database, waiting)).map((row) => [keyOf(row), row]));
    return waiting.map((entry): ToldEntry => {
      const row = indexed.get(keyOf(entry));
      const words =
        row === undefined
          ? null
          : {
              accountKey: row.account_key,
              appId: row.app_id,
              kind: row.kind,
              title: row.title_words,
              other: row.other_words,
            };
      return { installationId: entry.installation_id, id: entry.entry_id, version: Number(entry.sequence), words };
    });
  }

  /**
   * Writes what was done for the feed as it was read: not when another replica took over or the operator began anew
   * meanwhile, because what was told then went into an index that counts no more.
   */
  #note(until: Date, seen: FeedRow, write: (trx: Trx) => Promise<void>): Promise<Piece> {
    return this.#context.database.transaction().execute(async (trx) => {
      const feed = await lockFeed(trx);
      if (feed?.address !== seen.address || feed.index_name !== seen.index_name) return 'more';
      if (!(await isNamedLeaseHeld(trx, LEASE, until))) return 'idle';
      await write(trx);
      return 'more';
    });
  }
}
