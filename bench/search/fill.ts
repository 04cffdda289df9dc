// Fills the database: through the code that apps' requests reach, and beyond that by copies of whole accounts.
import { randomBytes } from 'node:crypto';
import { installationId } from '@platform/contract';
import { openDatabase } from '@platform/core/database';
import pg from 'pg';
import {
  heldItems,
  type IndexOwner,
  MARK_LENGTH,
  newId,
  nothingListens,
  prepareHere,
  replaceIndex,
} from '../../packages/core/test-support/internals.ts';
import type { Corpus } from './corpus.ts';
import { APP, type SearchServer } from './server-line.ts';

/** Accounts are written by so many at a time. */
const WRITERS = 4;

/** The owners of accounts 0 to `count` - 1, each with its notes; the first are those that are signed in. */
export async function fill(server: SearchServer, corpus: Corpus, count: number): Promise<readonly IndexOwner[]> {
  const { pool, database, close } = openDatabase({
    url: server.databaseUrl,
    onError: (error) => process.stderr.write(`${String(error)}\n`),
  });
  try {
    const owners = [...(await signedIn(pool, server)), ...(await insertOwners(pool, count - server.accounts.length))];
    let next = 0;
    const write = async () => {
      for (let owner = owners[next]; owner !== undefined; owner = owners[next]) {
        const account = next;
        next += 1;
        const entries = heldItems(corpus.notesOf(account), ({ id }) => id);
        await replaceIndex(
          { database, at: nothingListens, over: new AbortController().signal, prepare: prepareHere },
          owner,
          entries,
        );
      }
    };
    await Promise.all(Array.from({ length: WRITERS }, write));
    await tidy(server.databaseUrl);
    return owners;
  } finally {
    await close();
  }
}

/** Takes longer than a statement of core may. */
async function tidy(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('VACUUM ANALYZE search_entries, search_words').finally(() => client.end());
}

async function signedIn(pool: pg.Pool, { accounts }: SearchServer): Promise<IndexOwner[]> {
  const ids = accounts.map((account) => account.installationId);
  const { rows } = await pool.query<{ id: string; account_key: string }>(
    'SELECT id, account_key FROM installations WHERE id = ANY($1::text[]) ORDER BY array_position($1::text[], id)',
    [ids],
  );
  return rows.map((row) => ownerOf(row.id, row.account_key));
}

function ownerOf(id: string, accountKey: string): IndexOwner {
  return { installationId: installationId.parse(id), accountKey, appId: APP };
}

async function insertOwners(pool: pg.Pool, count: number): Promise<IndexOwner[]> {
  const source = { clock: () => new Date(), random: randomBytes };
  const owners = Array.from({ length: count }, () => ownerOf(newId('inst', source), newId('acct', source)));
  const [ids, keys] = [owners.map((owner) => owner.installationId), owners.map(({ accountKey }) => accountKey)];
  await pool.query(
    `INSERT INTO accounts (key, name, created_at)
     SELECT key, 'bench-f' || n, now() FROM unnest($1::text[]) WITH ORDINALITY AS k (key, n)`,
    [keys],
  );
  await pool.query(
    `INSERT INTO installations (id, account_key, app_id, version, host_label, endpoint_id, installed_at)
     SELECT id, key, $3, '1.0.0', 'bench-h' || n, 'bench-e' || n, now()
       FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k (id, key, n)`,
    [ids, keys, APP],
  );
  return owners;
}

/** Puts `times` - 1 copies of every account beside it; the indexes are made anew, which is quicker than to extend them. */
export async function multiply(databaseUrl: string, times: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows: indexes } = await client.query<{ name: string; definition: string }>(
      `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index
        WHERE indrelid IN ('search_entries'::regclass, 'search_words'::regclass) AND NOT indisunique`,
    );
    for (const { name } of indexes) await client.query(`DROP INDEX ${name}`);
    // The copies belong to accounts that are nowhere else.
    await client.query('SET session_replication_role = replica');
    await client.query("SET maintenance_work_mem = '512MB'");
    await client.query('CREATE TEMPORARY TABLE entries AS SELECT * FROM search_entries');
    await client.query('CREATE TEMPORARY TABLE words AS SELECT * FROM search_words');
    // Account after account, as their indexes were written.
    for (let copy = 2; copy <= times; copy += 1) {
      const ids = `installation_id || '-${copy}', account_key || '-${copy}'`;
      const document = `replace(document::text, '''' || right(account_key, ${MARK_LENGTH}),
                                '''' || right(account_key || '-${copy}', ${MARK_LENGTH}))::tsvector`;
      await client.query(
        `INSERT INTO search_entries (installation_id, account_key, id, app_id, title, kind, url, digest, document)
         SELECT ${ids}, id, app_id, title, kind, url, digest, ${document} FROM entries`,
      );
      await client.query(
        `INSERT INTO search_words (installation_id, account_key, word, entries, grams, remains)
         SELECT ${ids}, word, entries, grams, remains FROM words`,
      );
    }
    for (const { definition } of indexes) await client.query(definition);
  } finally {
    await client.end();
  }
  await tidy(databaseUrl);
}
