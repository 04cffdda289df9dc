// Sends changed entries to an external search index. One replica at a time holds the feed's lease. It reads pending
// updates, sends them, and then deletes them from the outbox, each step in its own transaction. Updates that a killed
// replica sent but did not delete are sent again. A slow replica that sends after another took over does no harm: an
// entry's version is the sequence of its change, and the index keeps the newest.
import type { Transaction } from 'kysely';
import { endNamedLease, isNamedLeaseHeld, namedLeaseDue, takeNamedLease } from '../background/lease-queries.ts';
import { backOff, type Lease, type LeasedWork } from '../background/leased-worker.ts';
import type { CoreContext } from '../context.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import type { FedIndex, IndexUpdate } from './engine.ts';
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
import { deleteSentUpdates, nextPending, type PendingEntry, wordsOf } from './outbox-queries.ts';

type Trx = Transaction<DatabaseSchema>;

const LEASE = 'search-feed';
/** Renewed with each batch. Longer than a batch's two requests may take, so that none is sent after the lease ends. */
const LEASE_MILLISECONDS = 60_000;
/** The longest that sending a batch takes; with less of the lease left, no batch is started. */
const SEND_MILLISECONDS = 25_000;
/** Entries per request. */
const BATCH = 250;
const LATER_MILLISECONDS = 250;
/** How often the feed checks that its index still exists, also while no updates are pending. */
const LOOK_MILLISECONDS = 14_000;
const RETRY = { first: 500, longest: 60_000 };

/** `later`: the remaining entries are locked by transactions that are changing them. */
type Piece = 'more' | 'idle' | 'later';

export class FeedWork implements LeasedWork<Date> {
  readonly name = 'the external search index';
  readonly wakeOn = 'search-queued';
  readonly slots = 1;
  readonly leaseMilliseconds = LEASE_MILLISECONDS;
  /** A batch under way at shutdown stays in the outbox and is sent again after the next start. */
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
        if (this.#failures === 0) log.warn({ err: error }, 'updates could not be sent to the external search index');
        wait = backOff(this.#context, this.#failures, RETRY);
        this.#failures += 1;
      }
    }
    await endNamedLease(pool, LEASE, { until, next: new Date(clock().getTime() + wait) });
  }

  /** When another replica's lease, or the back-off after a failure, ends; `null` when neither applies. */
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
    if (this.#failures > 0) this.#context.log.info({}, 'the external search index accepts updates again');
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
    return feed.state === 'filling' ? this.#fill(until, feed) : this.#send(until, feed);
  }

  /** Queues all entries of the next installation. */
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

  async #send(until: Date, feed: FeedRow): Promise<Piece> {
    const { database, clock, log, at, random } = this.#context;
    const { index_name: index } = feed;
    const pending = await nextPending(database, BATCH);
    const updates = await this.#updatesFor(pending);
    await at('search.feed.read');
    if (!(await this.#index.exists(index))) {
      log.warn({ index }, 'the external search index no longer exists; filling a new one');
      return this.#note(until, feed, async (trx) => void (await restartFeed(trx, newIndexName(random))));
    }
    if (pending.length === 0) {
      if (feed.state === 'ready') return 'idle';
      const noted = await this.#note(until, feed, (trx) => updateFeed(trx, { state: 'ready' }));
      log.info({ index }, 'the external search index is filled and answers searches');
      return noted;
    }
    if (until.getTime() - clock().getTime() < SEND_MILLISECONDS) return 'more';
    await this.#index.update(index, updates);
    await at('search.feed.sent');
    let deleted = 0;
    const noted = await this.#note(until, feed, async (trx) => {
      deleted = await deleteSentUpdates(trx, pending);
    });
    return noted === 'more' && deleted === 0 ? 'later' : noted;
  }

  /**
   * The updates for pending entries. Words are read after the sequence: an entry that changed in between is sent with
   * its newer words now, and again under its next sequence.
   */
  async #updatesFor(pending: readonly PendingEntry[]): Promise<IndexUpdate[]> {
    const { database } = this.#context;
    const keyOf = (row: Pick<PendingEntry, 'installation_id' | 'entry_id'>) => `${row.installation_id}:${row.entry_id}`;
    const indexed = new Map((await wordsOf(database, pending)).map((row) => [keyOf(row), row]));
    return pending.map((entry): IndexUpdate => {
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
   * Records progress, unless another replica took over or the operator restarted the feed since it was read: the
   * updates then went to an index that is no longer used.
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
