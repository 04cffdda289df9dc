// A version can be taken back by one: what the former version asks of the database still works on the schema of this
// one, and nothing that it stored is lost. `npm run statements` made the fixture from the former version itself.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import semver from 'semver';
import { type TestDatabase, testDatabase } from '../../../../tests/support/postgres.ts';
import { PLATFORM_VERSION } from '../version.ts';
import { type Migration, migrate, ownMigrations, readMigration } from './migrate.ts';

interface FormerVersion {
  readonly version: string;
  readonly lastMigration: string;
  readonly statements: readonly string[];
}

const former: FormerVersion = JSON.parse(readFileSync(new URL('./former-version.json', import.meta.url), 'utf8'));
const migrations = await ownMigrations();
const formerMigrations = migrations.filter(({ name }) => name <= former.lastMigration);
/** Stands for the next version, where a test brings a migration of its own. */
const next = `${semver.inc(PLATFORM_VERSION, 'minor')}`;

async function withDatabase(use: (client: pg.Client, database: TestDatabase) => Promise<void>): Promise<void> {
  const database = await testDatabase();
  const client = new pg.Client({ connectionString: database.url });
  try {
    await client.connect();
    await use(client, database);
  } finally {
    await client.end();
    await database.drop();
  }
}

/** The statements of the former version that the schema no longer takes, each with what PostgreSQL says. */
async function brokenStatements(client: pg.Client): Promise<string[]> {
  const broken: string[] = [];
  for (const statement of former.statements) {
    try {
      // Prepares and plans: only planning finds the constraint that ON CONFLICT names.
      await client.query(`EXPLAIN (GENERIC_PLAN) ${statement}`);
    } catch (error) {
      broken.push(`${error instanceof Error ? error.message : error}: ${statement}`);
    }
  }
  return broken;
}

/** Columns that a row must name, by table: an INSERT that does not know one prepares, and fails when it runs. */
async function demandedColumns(client: pg.Client): Promise<Set<string>> {
  const { rows } = await client.query<{ name: string }>(`
    SELECT table_name || '.' || column_name AS name FROM information_schema.columns
     WHERE table_schema = 'public' AND is_nullable = 'NO' AND column_default IS NULL
       AND is_identity = 'NO' AND is_generated = 'NEVER' AND table_name <> 'schema_migrations'`);
  return new Set(rows.map(({ name }) => name));
}

async function tables(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'schema_migrations' ORDER BY 1",
  );
  return rows.map(({ name }) => name);
}

/** Why the former version cannot run on what the migrations after its own make; empty when it can. */
async function obstacles(later: readonly Migration[]): Promise<string[]> {
  const found: string[] = [];
  await withDatabase(async (client, { url }) => {
    await migrate(url, { version: former.version, migrations: formerMigrations });
    const known = await tables(client);
    const before = await demandedColumns(client);
    assert.deepEqual(await brokenStatements(client), [], 'the fixture fits the schema of its own version');
    await migrate(url, { version: next, migrations: [...formerMigrations, ...later] });
    found.push(...(await brokenStatements(client)));
    for (const column of await demandedColumns(client)) {
      const [table = ''] = column.split('.');
      if (known.includes(table) && !before.has(column)) found.push(`${column} has no default, and rows must name it`);
    }
  });
  return found;
}

const later = migrations.filter(({ name }) => name > former.lastMigration);

test('the former version can run on the schema of this one', async () => {
  assert.deepEqual(await obstacles(later), []);
});

test('no migration shuts the former version out, and each names a version that exists', () => {
  for (const { name, oldestVersion } of migrations) {
    assert.ok(
      semver.lte(oldestVersion, former.version),
      `${name} contracts: that waits for the version after this one`,
    );
  }
  assert.ok(semver.lte(former.version, PLATFORM_VERSION));
});

const HEADER = `-- Runs with version ${former.version} or later.\n`;
const contractions: readonly (readonly [string, string])[] = [
  ['a column that is dropped', 'ALTER TABLE accounts DROP COLUMN paused_at CASCADE'],
  ['a column that is renamed', 'ALTER TABLE installations RENAME COLUMN grants TO permissions'],
  ['a table that is dropped', 'DROP TABLE work_leases'],
  ['a table that is renamed', 'ALTER TABLE passkeys RENAME TO credentials'],
  ['a column of another type', 'ALTER TABLE accounts ALTER COLUMN created_at TYPE bigint USING 0'],
  ['a constraint that an upsert names', 'ALTER TABLE installation_status DROP CONSTRAINT installation_status_pkey'],
  ['a new column that every row must name', 'ALTER TABLE accounts ADD COLUMN colour text NOT NULL'],
  ['a column that every row must name from now on', 'ALTER TABLE sessions ALTER COLUMN user_agent SET NOT NULL'],
];
for (const [what, sql] of contractions) {
  test(`${what} is found to shut the former version out`, async () => {
    assert.notDeepEqual(await obstacles([...later, readMigration('9999-contraction.sql', HEADER + sql)]), []);
  });
}

test('a new table, and a new column that needs no value, leave the former version alone', async () => {
  const sql = `${HEADER}CREATE TABLE colours (name text PRIMARY KEY); ALTER TABLE accounts ADD COLUMN colour text;
    ALTER TABLE sessions ADD COLUMN colour text NOT NULL DEFAULT 'blue'`;
  assert.deepEqual(await obstacles([...later, readMigration('9999-expansion.sql', sql)]), []);
});

const SEED = `
  INSERT INTO accounts (key, name, created_at) VALUES ('acct-1', 'alice', now()), ('acct-2', 'bob', now());
  INSERT INTO passkeys (id, account_key, public_key, counter, backup_eligible, backed_up, label, created_at)
    VALUES ('cred', 'acct-1', '\\x01', 7, true, false, 'Blue key', now());
  INSERT INTO sessions (id, token_hash, account_key, created_at, last_used_at, expires_at)
    VALUES ('ses-1', '\\x02', 'acct-1', now(), now(), now() + '1 day');
  INSERT INTO package_blobs VALUES (repeat('0', 64), 10, now());
  INSERT INTO apps (app_id, owner_key, created_at) VALUES ('notes', 'acct-1', now());
  INSERT INTO app_versions VALUES ('notes', '1.0.0', repeat('0', 64), '{"id":"notes"}', true, now());
  INSERT INTO nodes (id, name, credential_hash) VALUES ('node-1', 'first', '\\x03');
  INSERT INTO installations (id, account_key, app_id, version, host_label, endpoint_id, grants, installed_at)
    VALUES ('inst-1', 'acct-1', 'notes', '1.0.0', 'label', 'endpoint', '[{"id":"search.index","resources":["self"]}]', now());
  INSERT INTO notifications (id, account_key, installation_id, app_id, topic, title, body, priority, delivery, created_at)
    VALUES ('ntf-1', 'acct-1', 'inst-1', 'notes', 'news', 'Title', 'Body', 'normal', 'inbox', now());
  INSERT INTO work_leases (id, installation_id, duration_seconds, reason, expires_at)
    VALUES ('lease-1', 'inst-1', 60, 'Encoding', now());`;

test('an upgrade from the former version keeps every row, also of a database from before versions were recorded', async () => {
  await withDatabase(async (client, { url }) => {
    await migrate(url, { version: former.version, migrations: formerMigrations });
    await client.query('ALTER TABLE schema_migrations DROP COLUMN oldest_version');
    await client.query(SEED);
    const names = await tables(client);
    const rowsOf = async (name: string) =>
      (
        await client.query<{ row: Record<string, unknown> }>(
          `SELECT to_jsonb(t) AS row FROM ${name} t ORDER BY t::text`,
        )
      ).rows;
    const before = new Map<string, Record<string, unknown>[]>();
    for (const name of names)
      before.set(
        name,
        (await rowsOf(name)).map(({ row }) => row),
      );
    assert.deepEqual(
      await migrate(url),
      later.map(({ name }) => name),
    );
    for (const [name, rows] of before) {
      const after = (await rowsOf(name)).map(({ row }) => row);
      for (const row of rows) {
        const kept = after.some((candidate) => isDeepStrictEqual({ ...candidate, ...row }, candidate));
        assert.ok(kept, `${name} lost ${JSON.stringify(row)}`);
      }
    }
    const { rows } = await client.query('SELECT name FROM schema_migrations ORDER BY name');
    assert.deepEqual(
      rows.map(({ name }) => name),
      migrations.map(({ name }) => name),
    );
  });
});
