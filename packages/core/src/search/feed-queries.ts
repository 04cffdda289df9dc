// The SQL of the feed: which other engine there is, and how far it has been filled.
import { type Kysely, type Selectable, sql } from 'kysely';
import type { DatabaseSchema } from '../database/schema.ts';

type Executor = Kysely<DatabaseSchema>;

export type FeedRow = Selectable<DatabaseSchema['search_feeds']>;

/** What is needed of a feed before its engine may answer for an account. */
export interface Readiness {
  readonly index_name: string;
  readonly address: string;
}

/**
 * The index that may answer for the account: it is filled, and nothing of the account waits to be told. `undefined`
 * when PostgreSQL must.
 */
export async function readyIndex(db: Executor, accountKey: string): Promise<Readiness | undefined> {
  return db
    .selectFrom('search_feeds')
    .select(['index_name', 'address'])
    .where('state', '=', 'ready')
    .where(sql<boolean>`NOT EXISTS (SELECT FROM search_outbox WHERE account_key = ${accountKey})`)
    .executeTakeFirst();
}

export async function selectFeed(db: Executor): Promise<FeedRow | undefined> {
  return db.selectFrom('search_feeds').selectAll().executeTakeFirst();
}

/** Whether anything is to be done for a feed to this address. */
export async function feedHasWork(db: Executor, address: string): Promise<boolean> {
  const { rows } = await sql`
    SELECT FROM search_outbox
    UNION ALL
    SELECT WHERE NOT EXISTS (
      SELECT FROM search_feeds WHERE state = 'ready' AND address = ${address} AND obsolete = '{}')
    LIMIT 1`.execute(db);
  return rows.length > 0;
}

/** The feed, unchanged until the transaction ends. */
export async function lockFeed(trx: Executor): Promise<FeedRow | undefined> {
  return trx.selectFrom('search_feeds').selectAll().forUpdate().executeTakeFirst();
}

/** These indexes are deleted there. */
export async function clearObsolete(trx: Executor, deleted: readonly string[]): Promise<void> {
  await sql`
    UPDATE search_feeds
       SET obsolete = ARRAY(SELECT name FROM unnest(obsolete) AS name WHERE NOT name = ANY(${[...deleted]}::text[]))`.execute(
    trx,
  );
}

/** Waits for changes under way, which do not know yet that there is somebody to tell; later ones do. */
export async function insertFeed(trx: Executor, address: string, indexName: string): Promise<void> {
  await sql`LOCK TABLE search_entries IN SHARE ROW EXCLUSIVE MODE`.execute(trx);
  await trx
    .insertInto('search_feeds')
    .values({ engine: 'opensearch', address, index_name: indexName })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Begins anew in another index. @returns whether there is a feed */
export async function restartFeed(db: Executor, indexName: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('search_feeds')
    .set({
      index_name: indexName,
      state: 'filling',
      filled_to: '',
      obsolete: sql`array_append(obsolete, index_name)`,
    })
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Begins anew at another address. What lies at the former one is out of reach. */
export async function moveFeed(trx: Executor, address: string, indexName: string): Promise<void> {
  await trx
    .updateTable('search_feeds')
    .set({ address, index_name: indexName, state: 'filling', filled_to: '', obsolete: [] })
    .execute();
}

/** There is nobody to tell any more. */
export async function deleteFeed(trx: Executor): Promise<void> {
  await trx.deleteFrom('search_feeds').execute();
  await sql`TRUNCATE search_outbox`.execute(trx);
}

export async function updateFeed(trx: Executor, change: Partial<Omit<FeedRow, 'engine'>>): Promise<void> {
  await trx.updateTable('search_feeds').set(change).execute();
}

/** The next installation that has entries. */
export async function nextIndexed(trx: Executor, after: string): Promise<string | undefined> {
  const row = await trx
    .selectFrom('search_entries')
    .select('installation_id')
    .where(sql<boolean>`installation_id > ${after}`)
    .orderBy('installation_id')
    .limit(1)
    .executeTakeFirst();
  return row?.installation_id;
}

/** Puts all entries of an installation into the outbox; its index must be held. */
export async function queueAll(trx: Executor, installationId: string): Promise<void> {
  await sql`
    INSERT INTO search_outbox (installation_id, entry_id, account_key)
    SELECT installation_id, id, account_key FROM search_entries WHERE installation_id = ${installationId}
    ON CONFLICT DO NOTHING`.execute(trx);
}
