// The operator's commands for the external search index: show its status, rebuild it, stop using it.
import type { CoreContext } from '../context.ts';
import { notify } from '../database/notify.ts';
import { deleteFeed, restartFeed, selectFeed } from './feed-queries.ts';
import { countPending } from './outbox-queries.ts';

/** The external index, as the operator sees it. */
export interface FeedStatus {
  /** Without credentials. */
  readonly address: string;
  readonly index: string;
  readonly state: 'filling' | 'draining' | 'ready';
  /** Pending updates. */
  readonly waiting: number;
}

/** A new name for every fill, so that it starts empty and platforms can share a cluster. */
export function newIndexName(random: CoreContext['random']): string {
  return `platform-search-${random(8).toString('hex')}`;
}

/** `null` where no external index is configured. */
export async function feedStatus({ database }: Pick<CoreContext, 'database'>): Promise<FeedStatus | null> {
  const feed = await selectFeed(database);
  if (feed === undefined) return null;
  const { address, index_name: index, state } = feed;
  return { address, index, state, waiting: await countPending(database) };
}

/** Fills a new index; until it is ready PostgreSQL answers. @returns whether an external index is configured */
export async function rebuildFeed({ database, random }: Pick<CoreContext, 'database' | 'random'>): Promise<boolean> {
  return database.transaction().execute(async (trx) => {
    const there = await restartFeed(trx, newIndexName(random));
    if (there) await notify(trx, 'search-queued', {});
    return there;
  });
}

/** Stops using the external index and drops its pending updates. One configured later is filled from scratch. */
export async function giveUpFeed({ database, log }: Pick<CoreContext, 'database' | 'log'>): Promise<void> {
  const feed = await selectFeed(database);
  if (feed === undefined) return;
  await database.transaction().execute(deleteFeed);
  log.info({ index: feed.index_name }, 'an external search index is no longer configured; delete it on its server');
}
