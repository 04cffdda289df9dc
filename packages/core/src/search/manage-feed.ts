// What an operator does with a search index elsewhere: look how it is, have it filled anew, give it up.
import type { CoreContext } from '../context.ts';
import { notify } from '../database/notify.ts';
import { deleteFeed, restartFeed, selectFeed } from './feed-queries.ts';
import { countWaiting } from './outbox-queries.ts';

export interface FeedStatus {
  /** Without credentials. */
  readonly address: string;
  readonly index: string;
  readonly state: 'filling' | 'draining' | 'ready';
  /** Entries that were not told yet. */
  readonly waiting: number;
}

/** Another one for every filling, so that nothing old is in it, and platforms can share a cluster. */
export function newIndexName(random: CoreContext['random']): string {
  return `platform-search-${random(8).toString('hex')}`;
}

export async function feedStatus({ database }: Pick<CoreContext, 'database'>): Promise<FeedStatus | null> {
  const feed = await selectFeed(database);
  if (feed === undefined) return null;
  const { address, index_name: index, state } = feed;
  return { address, index, state, waiting: await countWaiting(database) };
}

/** Everything is told again, into a new index; meanwhile PostgreSQL answers. @returns whether there is an index elsewhere */
export async function rebuildFeed({ database, random }: Pick<CoreContext, 'database' | 'random'>): Promise<boolean> {
  return database.transaction().execute(async (trx) => {
    const there = await restartFeed(trx, newIndexName(random));
    if (there) await notify(trx, 'search-queued', {});
    return there;
  });
}

/** There is no index elsewhere any more: nothing is noted for it. One that is set later is filled from the beginning. */
export async function giveUpFeed({ database, log }: Pick<CoreContext, 'database' | 'log'>): Promise<void> {
  const feed = await selectFeed(database);
  if (feed === undefined) return;
  await database.transaction().execute(deleteFeed);
  log.info({ index: feed.index_name }, 'no search index elsewhere is set any more; delete this one there');
}
