// What PostgreSQL ends because two transactions wait for each other begins anew, in every way in which core changes anything.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { type Kysely, sql } from 'kysely';
import { testDatabase } from '../../../../tests/support/postgres.ts';
import { until } from '../../../../tests/support/wait.ts';
import { changing } from './changing.ts';
import { type OpenDatabase, openDatabase } from './open-database.ts';
import type { DatabaseSchema } from './schema.ts';

let opened: OpenDatabase;

before(async () => {
  const { url } = await testDatabase({ key: 'patient', migrate: async () => undefined });
  opened = openDatabase({ url, onError: () => undefined });
  // In one statement: first the first row, then the second.
  await opened.pool.query(`
    CREATE TABLE counters (name text PRIMARY KEY, value integer NOT NULL DEFAULT 0);
    CREATE FUNCTION count_both() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
      UPDATE counters SET value = value + 1 WHERE name = 'first';
      UPDATE counters SET value = value + 1 WHERE name = 'second';
    END $$`);
});
after(() => opened.close());
beforeEach(() => opened.pool.query(`DELETE FROM counters; INSERT INTO counters VALUES ('first'), ('second')`));

const BOTH = 'SELECT count_both()';
const inOne = (db: Kysely<DatabaseSchema>) => sql.raw(BOTH).execute(db);
const one = (db: Kysely<DatabaseSchema>, name: string) =>
  sql`UPDATE counters SET value = value + 1 WHERE name = ${name}`.execute(db);

const ways: Readonly<Record<string, () => Promise<unknown>>> = {
  'a statement of the pool': () => opened.pool.query(BOTH),
  'a statement of the query builder': () => inOne(opened.database),
  'a transaction of one statement': () => opened.database.transaction().execute(inOne),
  'a transaction of several': () =>
    opened.database.transaction().execute(async (trx) => {
      await one(trx, 'first');
      await one(trx, 'second');
    }),
  'a change with consequences': () => changing({ database: opened.database }, inOne),
};

for (const [what, change] of Object.entries(ways)) {
  test(`${what} that another one met begins anew, and has changed everything once`, async () => {
    const other = await opened.pool.connect();
    try {
      // So it is not the other one that notices.
      await other.query(`SET deadlock_timeout = '10min'`);
      await other.query('BEGIN');
      await other.query(`UPDATE counters SET value = value + 100 WHERE name = 'second'`);
      const changed = change();
      changed.catch(() => undefined);
      await until('the change to wait', async () => {
        const { rows } = await opened.pool.query('SELECT FROM pg_locks WHERE NOT granted');
        return rows.length > 0;
      });
      await other.query(`UPDATE counters SET value = value + 100 WHERE name = 'first'`);
      await other.query('COMMIT');
      await changed;
    } finally {
      await other.query('ROLLBACK').catch(() => undefined);
      await other.query('RESET deadlock_timeout').catch(() => undefined);
      other.release();
    }
    const { rows } = await opened.pool.query('SELECT name, value FROM counters ORDER BY name');
    assert.deepEqual(rows, [
      { name: 'first', value: 101 },
      { name: 'second', value: 101 },
    ]);
  });
}
