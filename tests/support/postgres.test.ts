// Promises of the test databases themselves: apart from each other, copied from one template, gone afterwards.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { testDatabase } from './postgres.ts';

async function ask<T extends pg.QueryResultRow>(url: string, sql: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<T>(sql)).rows;
  } finally {
    await client.end();
  }
}

test('two test databases do not see each other', async (t) => {
  const [one, two] = await Promise.all([testDatabase(), testDatabase()]);
  t.after(() => Promise.all([one.drop(), two.drop()]));
  await ask(one.url, 'CREATE TABLE only_here (n int)');
  await assert.rejects(ask(two.url, 'SELECT * FROM only_here'), { code: '42P01' });
});

test('of many callers of one template exactly one migrates and all get the result', async (t) => {
  let migrations = 0;
  const template = {
    key: `template test ${process.pid}`,
    migrate: async (url: string) => {
      migrations += 1;
      await ask(url, 'CREATE TABLE migrated AS SELECT 7 AS n');
    },
  };
  const databases = await Promise.all(Array.from({ length: 6 }, () => testDatabase(template)));
  t.after(() => Promise.all(databases.map((database) => database.drop())));
  for (const { url } of databases) assert.deepEqual(await ask(url, 'SELECT n FROM migrated'), [{ n: 7 }]);
  assert.equal(migrations, 1);
});

test('a template whose migration failed is migrated anew by the next caller', async (t) => {
  const key = `failing template test ${process.pid}`;
  const failing = async (url: string) => {
    await ask(url, 'CREATE TABLE half (n int)');
    throw new Error('the migration failed');
  };
  await assert.rejects(testDatabase({ key, migrate: failing }), /the migration failed/);
  const database = await testDatabase({ key, migrate: (url) => ask(url, 'CREATE TABLE half (n int)') });
  t.after(() => database.drop());
  assert.deepEqual(await ask(database.url, 'SELECT count(*)::int AS n FROM half'), [{ n: 0 }]);
});

test('dropping ends connections that a test forgot, and a second drop does nothing', async () => {
  const database = await testDatabase();
  const forgotten = new pg.Client({ connectionString: database.url });
  const ended = new Promise<Error>((resolve) => forgotten.on('error', resolve));
  await forgotten.connect();
  await database.drop();
  assert.match((await ended).message, /terminating connection|terminated unexpectedly/);
  await database.drop();
  await assert.rejects(ask(database.url, 'SELECT 1'), { code: '3D000' });
});
