// What becomes of a pool whose database ends connections, as it does when it is restarted.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { type TestDatabase, testDatabase } from '../../../../tests/support/postgres.ts';
import { until } from '../../../../tests/support/wait.ts';
import { type OpenDatabase, openDatabase } from './open-database.ts';

const errors: object[] = [];
let place: TestDatabase;
let open: OpenDatabase;
before(async () => {
  place = await testDatabase();
  open = openDatabase({ url: place.url, connections: 2, onError: (error) => errors.push(Object(error)) });
});
after(async () => {
  await open.close();
  await place.drop();
});

async function ownPid(database: OpenDatabase['database']): Promise<number> {
  const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(database);
  return rows[0]?.pid ?? 0;
}

/** Resolves when the server has ended the connection. */
async function end(pid: number): Promise<void> {
  await open.pool.query('SELECT pg_terminate_backend($1)', [pid]);
  await until('the connection to be gone', async () => {
    const { rowCount } = await open.pool.query('SELECT FROM pg_stat_activity WHERE pid = $1', [pid]);
    return rowCount === 0;
  });
}

test('a connection that breaks between two statements of a transaction fails the next one, and nothing else', async () => {
  await assert.rejects(
    open.database.transaction().execute(async (trx) => {
      await end(await ownPid(trx));
      await ownPid(trx);
    }),
    /terminat|not queryable|closed|ECONNRESET/i,
  );
  assert.ok((await ownPid(open.database)) > 0, 'the pool makes a new one');
});

test('a broken idle connection is reported without the secret that could cancel its queries', async () => {
  const [idle, other] = await Promise.all([open.pool.connect(), open.pool.connect()]);
  const { rows } = await idle.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  idle.release();
  await other.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
  other.release();
  const error = await until('the break to be reported', () => errors.at(-1));
  assert.equal('client' in error, false);
});
