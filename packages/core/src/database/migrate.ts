// Brings a database to the schema of this version: forward only, each file once, checked, under one advisory lock.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import { StartError } from '../config/start-error.ts';

const DIRECTORY = new URL('./migrations/', import.meta.url);
/** Any constant will do, as long as every replica uses the same one. */
const LOCK_KEY = 7_305_808_869_231_650;
const NAME = /^\d{4}-[a-z0-9-]+\.sql$/;

interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

async function migrationFiles(): Promise<Migration[]> {
  const names = (await readdir(DIRECTORY)).filter((name) => NAME.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, DIRECTORY), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/**
 * Runs what is missing, each file in its own transaction. Replicas that start together wait for the one that runs.
 *
 * @returns the names of the files that ran now
 * @throws StartError `migration_changed` when an applied file differs from ours, `database_newer` when the database
 *   was written by a later version of the platform
 */
export async function migrate(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url, application_name: 'platform-migrate' });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [LOCK_KEY]);
    await client.query(
      `CREATE TABLE IF NOT EXISTS schema_migrations (
         name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`,
    );
    const applied = await client.query<{ name: string; checksum: string }>(
      'SELECT name, checksum FROM schema_migrations',
    );
    const known = new Map(applied.rows.map((row) => [row.name, row.checksum]));
    const files = await migrationFiles();
    refuseForeignSchema(known, files);
    const missing = files.filter(({ name }) => !known.has(name));
    for (const migration of missing) await apply(client, migration);
    return missing.map(({ name }) => name);
  } finally {
    // Ending the connection releases the lock, whatever happened.
    await client.end();
  }
}

function refuseForeignSchema(known: ReadonlyMap<string, string>, files: readonly Migration[]): void {
  const ours = new Map(files.map((file) => [file.name, file.checksum]));
  for (const [name, checksum] of known) {
    const expected = ours.get(name);
    if (expected === undefined) {
      throw new StartError(
        'database_newer',
        `The database has the migration ${name}, which this version of the platform does not know. Start the version that wrote it, or restore a backup made before.`,
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
    await client.query('INSERT INTO schema_migrations (name, checksum) VALUES ($1, $2)', [
      migration.name,
      migration.checksum,
    ]);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}
