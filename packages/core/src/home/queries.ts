// All SQL of the home screen's tiles.
import type { HomeTiles } from '@platform/contract';
import type { Kysely, Transaction } from 'kysely';
import { builtInAppIds } from '../catalog/face.ts';
import type { DatabaseSchema } from '../database/schema.ts';

type Executor = Kysely<DatabaseSchema>;

/** Default: nothing was arranged. */
export async function selectTiles(db: Executor, accountKey: string): Promise<HomeTiles> {
  const row = await db
    .selectFrom('home_tiles')
    .select(['pinned', 'tile_order as order'])
    .where('account_key', '=', accountKey)
    .executeTakeFirst();
  return row ?? { pinned: [], order: [] };
}

/** The tiles, locked until the transaction ends: two changes of one account come one after the other. */
export async function lockTiles(trx: Transaction<DatabaseSchema>, accountKey: string): Promise<HomeTiles> {
  const empty = { account_key: accountKey, pinned: [], tile_order: [] };
  await trx
    .insertInto('home_tiles')
    .values(empty)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await trx.selectFrom('home_tiles').select('account_key').where('account_key', '=', accountKey).forUpdate().execute();
  return selectTiles(trx, accountKey);
}

export async function updateTiles(
  trx: Transaction<DatabaseSchema>,
  accountKey: string,
  { pinned, order }: HomeTiles,
): Promise<void> {
  await trx
    .updateTable('home_tiles')
    .set({ pinned, tile_order: order })
    .where('account_key', '=', accountKey)
    .execute();
}

export async function selectInstalledIds(db: Executor, accountKey: string): Promise<string[]> {
  const rows = await db.selectFrom('installed_apps').select('app_id').where('account_key', '=', accountKey).execute();
  return rows.map(({ app_id }) => app_id);
}

/** Whether the account ever installed an app that is no part of the platform. What was removed and withdrawn counts too. */
export async function hasBegun(db: Executor, accountKey: string): Promise<boolean> {
  const row = await db
    .selectFrom('kept_installations as i')
    .leftJoin('published_apps as p', 'p.app_id', 'i.app_id')
    .select('i.app_id')
    .where('i.account_key', '=', accountKey)
    .where((is) => is.not(is.and([is('p.system', 'is', true), is('i.app_id', 'in', builtInAppIds)])))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
