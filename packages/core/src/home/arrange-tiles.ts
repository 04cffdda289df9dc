// Arranging the tiles of the home screen. Who arranges them sees installed apps only, so core itself keeps the places of
// the others.
import { type HomeTiles, limits } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { notify } from '../database/notify.ts';
import { lockTiles, selectInstalledIds, updateTiles } from './queries.ts';

export async function arrangeTiles(context: CoreContext, accountKey: string, wanted: HomeTiles): Promise<HomeTiles> {
  return await context.database.transaction().execute(async (trx) => {
    const former = await lockTiles(trx, accountKey);
    const tiles = withAbsent(former, wanted, new Set(await selectInstalledIds(trx, accountKey)));
    await updateTiles(trx, accountKey, tiles);
    await notify(trx, 'home-changed', { accountKey });
    return tiles;
  });
}

/** What is wanted, and each app that is not installed where it was: behind the one it stood behind. */
export function withAbsent(former: HomeTiles, wanted: HomeTiles, installed: ReadonlySet<string>): HomeTiles {
  const named = new Set([...wanted.pinned, ...wanted.order]);
  const kept = (appId: string) => !installed.has(appId) && !named.has(appId);
  return {
    pinned: merged(former.pinned, wanted.pinned, kept),
    // An app is in one of the two.
    order: merged(former.order, wanted.order, kept).filter((appId) => !wanted.pinned.includes(appId)),
  };
}

function merged(former: readonly string[], wanted: readonly string[], kept: (appId: string) => boolean): string[] {
  const result = [...wanted];
  for (const [at, appId] of former.entries()) {
    if (result.length >= limits.homeTiles.value) break;
    if (!kept(appId)) continue;
    const before = former.slice(0, at).findLast((other) => result.includes(other));
    result.splice(before === undefined ? 0 : result.indexOf(before) + 1, 0, appId);
  }
  return result;
}
