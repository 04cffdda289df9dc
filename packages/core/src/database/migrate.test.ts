// Migrations run once, however many replicas start at the same time, and refuse a database they do not understand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { testDatabase } from '../../../../tests/support/postgres.ts';
import { StartError } from '../config/start-error.ts';
import { PLATFORM_VERSION } from '../version.ts';
import { type Migration, migrate, ownMigrations, readMigration, requireMigrated } from './migrate.ts';

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

test('a command migrates nothing: it refuses an older schema, an empty database and a newer one, and takes its own', async () => {
  const database = await testDatabase();
  const own = await ownMigrations();
  const later = readMigration('9999-later.sql', '-- Runs with version 0.1.0 or later.\nCREATE TABLE later ();');
  const next = { version: '0.2.0', migrations: [...own, later] };
  const refused = (code: string, words: RegExp) => (error: unknown) =>
    error instanceof StartError && error.code === code && words.test(error.message);
  try {
    await assert.rejects(requireMigrated(database.url), refused('database_older', /is empty.*npm start/));
    assert.equal((await query(database.url, "SELECT FROM pg_class WHERE relname = 'schema_migrations'")).rowCount, 0);
    await migrate(database.url);
    await requireMigrated(database.url);
    await assert.rejects(requireMigrated(database.url, next), refused('database_older', /lacks a migration .*0\.2\.0/));
    assert.equal((await query(database.url, "SELECT FROM pg_class WHERE relname = 'later'")).rowCount, 0);
    const announced: string[] = [];
    await migrate(database.url, next, (missing) => announced.push(...missing.map(({ name }) => name)));
    assert.deepEqual(announced, ['9999-later.sql']);
    await requireMigrated(database.url);
    await query(database.url, "UPDATE schema_migrations SET oldest_version = '9.0.0' WHERE name = '9999-later.sql'");
    await assert.rejects(requireMigrated(database.url), refused('database_newer', /9\.0\.0/));
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

/** Another version of the platform, with one migration more than this one. */
async function laterVersion(oldestVersion: string): Promise<{ version: string; migrations: Migration[] }> {
  const sql = `-- What it is for.\n-- Runs with version ${oldestVersion} or later.\nCREATE TABLE future (id text PRIMARY KEY)`;
  return { version: '99.0.0', migrations: [...(await ownMigrations()), readMigration('9999-future.sql', sql)] };
}

test('a database of a later version is taken when that version says that this one still runs on it', async () => {
  const database = await testDatabase();
  try {
    await migrate(database.url, await laterVersion(PLATFORM_VERSION));
    assert.deepEqual(await migrate(database.url), [], 'taken back');
    assert.deepEqual(await migrate(database.url, await laterVersion(PLATFORM_VERSION)), [], 'and forward again');
    await query(database.url, 'SELECT FROM future');
  } finally {
    await database.drop();
  }
});

test('a database that needs a later version stops the start, and the refusal names that version and the way back', async () => {
  const database = await testDatabase();
  try {
    await migrate(database.url, await laterVersion('98.1.0'));
    await assert.rejects(migrate(database.url), (error: unknown) => {
      assert.ok(error instanceof StartError);
      assert.equal(error.code, 'database_newer');
      assert.equal(
        error.message,
        `The database has the migration 9999-future.sql, which needs version 98.1.0 or later; this is version ${PLATFORM_VERSION}. Start version 98.1.0 or later, or restore a backup made before that migration.`,
      );
      return true;
    });
  } finally {
    await database.drop();
  }
});

test('a migration that does not say which version it needs is none', () => {
  assert.throws(() => readMigration('9999-future.sql', 'SELECT 1'), /Runs with version/);
});
