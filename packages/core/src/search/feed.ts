// Tells an index elsewhere what changed. Every replica has a feed; the one that gets the row of search_feeds works, a
// piece in a transaction each, and what a killed one told without noting it is told again.
import { once } from 'node:events';
import type { Transaction } from 'kysely';
import type { CoreContext } from '../context.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import type { FedIndex, ToldEntry } from './engine.ts';
import {
  type FeedRow,
  holdFeed,
  insertFeed,
  moveFeed,
  nextIndexed,
  queueAll,
  restartFeed,
  selectFeed,
  updateFeed,
} from './feed-queries.ts';
import { holdIndex } from './index-queries.ts';
import { newIndexName } from './manage-feed.ts';
import { forgetTold, nextWaiting, wordsOf } from './outbox-queries.ts';

type Trx = Transaction<DatabaseSchema>;

/** Entries told at once. */
const BATCH = 250;
/** Without a signal it looks this often, and whether its index is still there. */
const IDLE_MILLISECONDS = 15_000;
const FIRST_RETRY_MILLISECONDS = 500;
const LONGEST_RETRY_MILLISECONDS = 60_000;

export class SearchFeed {
  readonly #context: CoreContext;
  readonly #index: FedIndex;
  readonly #stopping = new AbortController();
  #wake = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #unsubscribe: () => void = () => undefined;

  constructor(context: CoreContext, index: FedIndex) {
    this.#context = context;
    this.#index = index;
  }

  start(): void {
    this.#unsubscribe = this.#context.signals.on('search-queued', () => this.#wake.abort());
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#unsubscribe();
    this.#stopping.abort();
    // What is being told is not noted then, and is told again at the next start.
    await this.#index.close();
    await this.#running;
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (!this.#stopping.signal.aborted) {
      this.#wake = new AbortController();
      try {
        while ((await this.#piece()) === 'more') {
          if (failures > 0) this.#context.log.info({}, 'the search index elsewhere is told again');
          failures = 0;
          if (this.#stopping.signal.aborted) return;
        }
        failures = 0;
        await this.#sleep(IDLE_MILLISECONDS, this.#wake.signal);
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        if (failures === 0) this.#context.log.warn({ err: error }, 'the search index elsewhere could not be told');
        failures += 1;
        const wait = Math.min(FIRST_RETRY_MILLISECONDS * 2 ** (failures - 1), LONGEST_RETRY_MILLISECONDS);
        await this.#sleep(wait);
      }
    }
  }

  async #sleep(milliseconds: number, wake?: AbortSignal): Promise<void> {
    const signals = [this.#stopping.signal, ...(wake === undefined ? [] : [wake])];
    const ended = AbortSignal.any(signals);
    if (ended.aborted) return;
    const timer = new AbortController();
    const timeout = setTimeout(() => timer.abort(), milliseconds);
    await Promise.race([once(ended, 'abort'), once(timer.signal, 'abort')]);
    clearTimeout(timeout);
  }

  /** @returns `idle` when there is nothing to do, or another replica does it */
  async #piece(): Promise<'more' | 'idle'> {
    const { database, random } = this.#context;
    const { address } = this.#index;
    const seen = await selectFeed(database);
    if (seen === undefined) {
      await database.transaction().execute((trx) => insertFeed(trx, address, newIndexName(random)));
      return 'more';
    }
    return database.transaction().execute(async (trx) => {
      const feed = await holdFeed(trx);
      if (feed === undefined) return 'idle';
      if (feed.address !== address) {
        await moveFeed(trx, address, newIndexName(random));
        return 'more';
      }
      if (feed.obsolete.length > 0) {
        for (const index of feed.obsolete) await this.#index.drop(index);
        await updateFeed(trx, { obsolete: [] });
      }
      return feed.state === 'filling' ? this.#fill(trx, feed) : this.#tell(trx, feed);
    });
  }

  async #fill(trx: Trx, { index_name: index, filled_to: filledTo }: FeedRow): Promise<'more'> {
    if (filledTo === '') await this.#index.create(index);
    const installationId = await nextIndexed(trx, filledTo);
    if (installationId === undefined) {
      await updateFeed(trx, { state: 'draining' });
      return 'more';
    }
    await holdIndex(trx, installationId);
    await queueAll(trx, installationId);
    await updateFeed(trx, { filled_to: installationId });
    return 'more';
  }

  async #tell(trx: Trx, { index_name: index, state }: FeedRow): Promise<'more' | 'idle'> {
    const waiting = await nextWaiting(trx, BATCH);
    if (!(await this.#index.exists(index))) {
      await restartFeed(trx, newIndexName(this.#context.random));
      this.#context.log.warn({ index }, 'the search index elsewhere was gone; it is filled again');
      return 'more';
    }
    if (waiting.length === 0) {
      if (state === 'draining') {
        await updateFeed(trx, { state: 'ready' });
        this.#context.log.info({ index }, 'the search index elsewhere is filled and answers searches');
      }
      return 'idle';
    }
    const indexed = new Map(
      (await wordsOf(trx, waiting)).map((row) => [`${row.installation_id}:${row.entry_id}`, row]),
    );
    const told = waiting.map(({ installation_id, entry_id, sequence }): ToldEntry => {
      const row = indexed.get(`${installation_id}:${entry_id}`);
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
      return { installationId: installation_id, id: entry_id, version: Number(sequence), words };
    });
    await this.#index.tell(index, told);
    // Whoever is changing one of them now sends a signal in the end.
    return (await forgetTold(trx, waiting)) > 0 ? 'more' : 'idle';
  }
}
