// Migrations run once, whoever starts at the same time, and refuse a database they do not understand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { testDatabase } from '../../../../tests/support/postgres.ts';
import { StartError } from '../config/start-error.ts';
import { migrate } from './migrate.ts';

async function query(url: string, text: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await client.query(text);
  } finally {
    await client.end();
  }
}

test('of six replicas that start together exactly one migrates, and all go on', async () => {
  const database = await testDatabase();
  try {
    const ran = await Promise.all(Array.from({ length: 6 }, () => migrate(database.url)));
    const files = ran.flat();
    assert.equal(new Set(files).size, files.length, 'no file ran twice');
    assert.ok(files.length > 0);
    const { rows } = await query(database.url, 'SELECT count(*)::int AS n FROM schema_migrations');
    assert.equal(rows[0].n, files.length);
    assert.deepEqual(await migrate(database.url), []);
  } finally {
    await database.drop();
  }
});

test('an applied migration that was changed afterwards stops the start', async () => {
  const database = await testDatabase();
  try {
    await migrate(database.url);
    await query(database.url, "UPDATE schema_migrations SET checksum = 'other'");
    await assert.rejects(
      migrate(database.url),
      (error: unknown) => error instanceof StartError && error.code === 'migration_changed',
    );
  } finally {
    await database.drop();
  }
});

test('a database of a later version stops the start', async () => {
  const database = await testDatabase();
  try {
    await migrate(database.url);
    await query(database.url, "INSERT INTO schema_migrations (name, checksum) VALUES ('9999-future.sql', 'x')");
    await assert.rejects(
      migrate(database.url),
      (error: unknown) => error instanceof StartError && error.code === 'database_newer',
    );
  } finally {
    await database.drop();
  }
});
