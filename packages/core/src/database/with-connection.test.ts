// Promise of a connection apart from any pool: when it breaks while nothing is asked of it, the next statement fails and
// the process goes on.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDatabase } from '../../../../tests/support/postgres.ts';
import { withConnection } from './with-connection.ts';

test('a connection that the server ends between two statements fails the second, and nothing else', async (t) => {
  const database = await testDatabase();
  t.after(() => database.drop());
  const options = { connectionString: database.url };
  const asked = withConnection(options, async (client) => {
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const ended = new Promise<void>((resolve) => client.once('end', resolve));
    await withConnection(options, (other) => other.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]));
    await ended;
    return client.query('SELECT 1');
  });
  await assert.rejects(asked, /not queryable|Connection terminated/);
  assert.equal(await withConnection(options, async (client) => (await client.query('SELECT 1')).rowCount), 1);
});
