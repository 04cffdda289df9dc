// Brings a database to the schema of this version: forward only, each file once, checked, under one advisory lock. Each
// migration says the oldest version of the platform that still runs on its schema, so that a version can be taken back.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type pg from 'pg';
import semver from 'semver';
import { StartError } from '../config/start-error.ts';
import { PLATFORM_VERSION } from '../version.ts';
import { withConnection } from './with-connection.ts';

const DIRECTORY = new URL('./migrations/', import.meta.url);
/** Any constant will do, as long as every replica uses the same one. */
const LOCK_KEY = 7_305_808_869_231_650;
const NAME = /^\d{4}-[a-z0-9-]+\.sql$/;
const OLDEST_VERSION = /^-- Runs with version (\d+\.\d+\.\d+) or later\.$/m;
/** Those before the rule, which cannot be changed any more: no version before this one was released. */
const FIRST_VERSION = '0.1.0';
const LAST_BEFORE_THE_RULE = '0017-search-word-marks.sql';

export interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
  /** The oldest version of the platform that can run on the schema after this migration. */
  readonly oldestVersion: string;
}

/** @throws Error when a file does not say which version its schema needs */
export function readMigration(name: string, sql: string): Migration {
  const oldestVersion = name <= LAST_BEFORE_THE_RULE ? FIRST_VERSION : OLDEST_VERSION.exec(sql)?.[1];
  if (oldestVersion === undefined)
    throw new Error(`the migration ${name} has no line "-- Runs with version x.y.z or later."`);
  return { name, sql, checksum: createHash('sha256').update(sql).digest('hex'), oldestVersion };
}

/** The migrations of this version, in their order. */
export async function ownMigrations(): Promise<Migration[]> {
  const names = (await readdir(DIRECTORY)).filter((name) => NAME.test(name)).sort();
  return Promise.all(names.map(async (name) => readMigration(name, await readFile(new URL(name, DIRECTORY), 'utf8'))));
}

/** What another version of the platform would bring; this one by default. */
export interface MigratingVersion {
  readonly version: string;
  readonly migrations: readonly Migration[];
}

/**
 * Runs what is missing, each file in its own transaction. Replicas that start together wait for the one that runs. A
 * database that a later version migrated is left as it is, when this version can still run on it.
 *
 * @param announce called before the first of them runs on a database that has a schema already
 * @returns the names of the files that ran now
 * @throws StartError `migration_changed` when an applied file differs from ours, `database_newer` when the schema needs
 *   a later version of the platform
 */
export async function migrate(
  url: string,
  by?: MigratingVersion,
  announce: (missing: readonly Migration[]) => void = () => undefined,
): Promise<string[]> {
  const { version, migrations } = by ?? { version: PLATFORM_VERSION, migrations: await ownMigrations() };
  // Ending the connection releases the lock, whatever happened.
  return withConnection({ connectionString: url, application_name: 'platform-migrate' }, async (client) => {
    await client.query('SELECT pg_advisory_lock($1)', [LOCK_KEY]);
    await client.query(
      `CREATE TABLE IF NOT EXISTS schema_migrations (
         name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`,
    );
    // `oldest_version` came later; a row without one was written by a version that knows no later migration than ours.
    await client.query('ALTER TABLE schema_migrations ADD COLUMN IF NOT EXISTS oldest_version text');
    const { rows } = await client.query<AppliedMigration>(
      'SELECT name, checksum, oldest_version FROM schema_migrations ORDER BY name',
    );
    refuseForeignSchema(rows, { version, migrations });
    const known = new Set(rows.map(({ name }) => name));
    const missing = migrations.filter(({ name }) => !known.has(name));
    if (missing.length > 0 && rows.length > 0) announce(missing);
    for (const migration of missing) await apply(client, migration);
    return missing.map(({ name }) => name);
  });
}

/**
 * For commands, which never migrate: the platform that runs on the database may be of another version.
 *
 * @throws StartError `database_older` when the schema lacks migrations of this version; `migration_changed` and `database_newer` as
 *   {@link migrate}
 */
export async function requireMigrated(url: string, by?: MigratingVersion): Promise<void> {
  const { version, migrations } = by ?? { version: PLATFORM_VERSION, migrations: await ownMigrations() };
  const applied = await withConnection(
    { connectionString: url, application_name: 'platform-command' },
    async (client) => {
      const { rows: tables } = await client.query("SELECT FROM pg_class WHERE oid = to_regclass('schema_migrations')");
      if (tables.length === 0) return [];
      const { rows } = await client.query<AppliedMigration>(
        // The column came later.
        "SELECT name, checksum, to_jsonb(m) ->> 'oldest_version' AS oldest_version FROM schema_migrations m ORDER BY name",
      );
      return rows;
    },
  );
  refuseForeignSchema(applied, { version, migrations });
  const known = new Set(applied.map(({ name }) => name));
  const missing = migrations.filter(({ name }) => !known.has(name)).length;
  if (missing === 0) return;
  throw new StartError(
    'database_older',
    applied.length === 0
      ? 'The database is empty: no platform has run on it yet. Start it once: npm start'
      : `The database lacks ${missing === 1 ? 'a migration' : `${missing} migrations`} of version ${version}, which this command is part of, and a command does not change the schema below a running platform. Start this version once, or use the command of the version that runs.`,
  );
}

interface AppliedMigration {
  readonly name: string;
  readonly checksum: string;
  readonly oldest_version: string | null;
}

function refuseForeignSchema(applied: readonly AppliedMigration[], { version, migrations }: MigratingVersion): void {
  const ours = new Map(migrations.map(({ name, checksum }) => [name, checksum]));
  for (const { name, checksum, oldest_version: oldest } of applied) {
    const expected = ours.get(name);
    if (expected === undefined) {
      if (oldest !== null && semver.lte(oldest, version)) continue;
      const needed = oldest === null ? 'the version that wrote it' : `version ${oldest} or later`;
      throw new StartError(
        'database_newer',
        `The database has the migration ${name}, which needs ${needed}; this is version ${version}. Start ${needed}, or restore a backup made before that migration.`,
      );
    }
    if (expected !== checksum) {
      throw new StartError(
        'migration_changed',
        `The migration ${name} was applied with other contents than this version holds. Restore the original file; applied migrations never change.`,
      );
    }
  }
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(migration.sql);
    await client.query('INSERT INTO schema_migrations (name, checksum, oldest_version) VALUES ($1, $2, $3)', [
      migration.name,
      migration.checksum,
      migration.oldestVersion,
    ]);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}
