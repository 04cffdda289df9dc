// The SQL of the feed: which external search index is configured, and how far it has been filled.
import { type Kysely, type Selectable, sql } from 'kysely';
import type { DatabaseSchema } from '../database/schema.ts';

type Executor = Kysely<DatabaseSchema>;

export type FeedRow = Selectable<DatabaseSchema['search_feeds']>;

/** An external index that may answer: its name and the address of its server. */
export interface Readiness {
  readonly index_name: string;
  readonly address: string;
}

/**
 * The external index that may answer searches of the account: it is filled, and the account has no pending updates.
 * `undefined` when PostgreSQL must answer.
 */
export async function readyIndex(db: Executor, accountKey: string): Promise<Readiness | undefined> {
  return db
    .selectFrom('search_feeds')
    .select(['index_name', 'address'])
    .where('state', '=', 'ready')
    .where(sql<boolean>`NOT EXISTS (SELECT FROM search_outbox WHERE account_key = ${accountKey})`)
    .executeTakeFirst();
}

/** The configured feed; `undefined` while there is none. */
export async function selectFeed(db: Executor): Promise<FeedRow | undefined> {
  return db.selectFrom('search_feeds').selectAll().executeTakeFirst();
}

/** Whether updates are pending, or the feed to this address is missing, unfilled or has indexes to delete. */
export async function feedHasWork(db: Executor, address: string): Promise<boolean> {
  const { rows } = await sql`
    SELECT FROM search_outbox
    UNION ALL
    SELECT WHERE NOT EXISTS (
      SELECT FROM search_feeds WHERE state = 'ready' AND address = ${address} AND obsolete = '{}')
    LIMIT 1`.execute(db);
  return rows.length > 0;
}

/** The feed, locked until the transaction ends; `undefined` while there is none. */
export async function lockFeed(trx: Executor): Promise<FeedRow | undefined> {
  return trx.selectFrom('search_feeds').selectAll().forUpdate().executeTakeFirst();
}

/** Removes deleted indexes from the list of those still to be deleted. */
export async function clearObsolete(trx: Executor, deleted: readonly string[]): Promise<void> {
  await sql`
    UPDATE search_feeds
       SET obsolete = ARRAY(SELECT name FROM unnest(obsolete) AS name WHERE NOT name = ANY(${[...deleted]}::text[]))`.execute(
    trx,
  );
}

/**
 * Creates the feed, unless there is one. Locks the entries first: a transaction that began before there was a feed
 * queues no updates, so it must have finished before the index is filled.
 */
export async function insertFeed(trx: Executor, address: string, indexName: string): Promise<void> {
  await sql`LOCK TABLE search_entries IN SHARE ROW EXCLUSIVE MODE`.execute(trx);
  await trx
    .insertInto('search_feeds')
    .values({ engine: 'opensearch', address, index_name: indexName })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Starts filling a new index; the former one will be deleted. @returns whether there is a feed */
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

/** Starts filling a new index at another address. Indexes at the former address are left there. */
export async function moveFeed(trx: Executor, address: string, indexName: string): Promise<void> {
  await trx
    .updateTable('search_feeds')
    .set({ address, index_name: indexName, state: 'filling', filled_to: '', obsolete: [] })
    .execute();
}

/** Deletes the feed and all pending updates. */
export async function deleteFeed(trx: Executor): Promise<void> {
  await trx.deleteFrom('search_feeds').execute();
  await sql`TRUNCATE search_outbox`.execute(trx);
}

/** Sets the given columns of the feed. */
export async function updateFeed(trx: Executor, change: Partial<Omit<FeedRow, 'engine'>>): Promise<void> {
  await trx.updateTable('search_feeds').set(change).execute();
}

/** The next installation with entries, by id, after `after`; `undefined` at the end. */
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

/** Queues all entries of an installation; the caller holds its index (`holdIndex`). */
export async function queueAll(trx: Executor, installationId: string): Promise<void> {
  await sql`
    INSERT INTO search_outbox (installation_id, entry_id, account_key)
    SELECT installation_id, id, account_key FROM search_entries WHERE installation_id = ${installationId}
    ON CONFLICT DO NOTHING`.execute(trx);
}
