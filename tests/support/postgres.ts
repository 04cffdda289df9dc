// A fresh PostgreSQL database for a test: in the cluster that `npm test` started for all files, or,
// for a test file run alone, in a cluster of its own that ends with the process.

import { createHash, randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { withConnection } from '@platform/core/database';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@platform/core/embedded-postgres';
import type pg from 'pg';

export interface TestDatabase {
  /** Superuser access to this database alone. */
  readonly url: string;
  /** Removes the database, ending whatever is still connected. Calling it again does nothing. */
  drop(): Promise<void>;
}

export interface TestTemplate {
  /** Names the template within the cluster; the same key must always mean the same migrations. */
  readonly key: string;
  /** Fills an empty database, and has closed its connections when its promise resolves. */
  readonly migrate: (url: string) => Promise<unknown>;
}

/**
 * Makes an empty database, or a copy of a template that the first caller migrates and all later
 * callers, of every test file, only copy.
 *
 *     const database = await testDatabase({ key: "core", migrate });
 *     after(() => database.drop());
 */
export async function testDatabase(template?: TestTemplate): Promise<TestDatabase> {
  const cluster = await testCluster();
  const source = template === undefined ? 'template0' : await ensureTemplate(cluster, template);
  const name = `test_${randomBytes(8).toString('hex')}`;
  await asAdmin(cluster, (client) => client.query(`CREATE DATABASE ${name} TEMPLATE ${source} STRATEGY file_copy`));
  return {
    url: databaseUrl(cluster, name),
    async drop() {
      await asAdmin(cluster, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
    },
  };
}

/** Settings of a cluster whose data may be lost, with room for several test files at a time. */
export const testSettings: Readonly<Record<string, string>> = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '300',
  max_wal_size: '1GB',
};

let own: Promise<string> | undefined;

/** Superuser URL of the cluster in use; starts one if none is running. */
export function testCluster(): Promise<string> {
  const given = process.env.PLATFORM_TEST_DATABASE_URL;
  if (given !== undefined && given !== '') return Promise.resolve(given);
  own ??= startOwnCluster();
  return own;
}

async function startOwnCluster(): Promise<string> {
  const folder = makeClusterFolder();
  const server = await startEmbeddedPostgres({ dataDir: folder, log: () => {}, settings: testSettings });
  process.once('exit', () => endNow(server, folder));
  return server.url;
}

/**
 * A folder that the server's user can enter, for a cluster that is thrown away: in memory where
 * there is room, because a database is hundreds of files. `name` is part of the folder's name.
 */
export function makeClusterFolder(name = 'platform-test-'): string {
  const place = roomInMemory() ? memory : tmpdir();
  removeAbandoned(place);
  const folder = fs.mkdtempSync(path.join(place, `${prefix}${process.pid}-${name}`));
  if (process.getuid?.() === 0) fs.chmodSync(folder, 0o711);
  return folder;
}

const memory = '/dev/shm';
const prefix = 'platform-cluster-';

function roomInMemory(): boolean {
  if (!fs.existsSync(memory)) return false;
  const { bavail, bsize } = fs.statfsSync(memory);
  if (bavail * bsize < 2 * 1024 ** 3) return false;
  const mount = fs
    .readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .find((line) => line.split(' ')[1] === memory);
  // As root the server's programs are copied there as well.
  return mount !== undefined && !/\bnoexec\b/.test(mount);
}

/** Folders of processes that were killed before they could remove them. */
function removeAbandoned(place: string): void {
  for (const name of fs.readdirSync(place)) {
    const pid = /^platform-cluster-(\d+)-/.exec(name)?.[1];
    const folder = path.join(place, name);
    if (pid === undefined || fs.existsSync(`/proc/${pid}`)) continue;
    const owner = fs.statSync(folder, { throwIfNoEntry: false })?.uid;
    if (owner === process.getuid?.()) fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** An exiting process can wait for nothing but the kernel, so this does not use the server's own stop. */
function endNow(server: EmbeddedPostgres, folder: string): void {
  process.kill(server.pid, 'SIGQUIT');
  const deadline = performance.now() + 5_000;
  const never = new Int32Array(new SharedArrayBuffer(4));
  while (isRunning(server.pid) && performance.now() < deadline) Atomics.wait(never, 0, 0, 5);
  fs.rmSync(folder, { recursive: true, force: true });
}

function isRunning(pid: number): boolean {
  const stat = fs.existsSync(`/proc/${pid}/stat`) ? fs.readFileSync(`/proc/${pid}/stat`, 'utf8') : '';
  // Nothing reaps the process any more, so it stays as a zombie.
  return stat !== '' && !/\) [ZX] /.test(stat);
}

/** Builds the template under another name first, so that a half-migrated one is never copied. */
function ensureTemplate(cluster: string, { key, migrate }: TestTemplate): Promise<string> {
  const name = `template_${createHash('sha256').update(key).digest('hex').slice(0, 16)}`;
  return asAdmin(cluster, async (client) => {
    await client.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [name]);
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (found.rowCount === 0) {
      await client.query(`DROP DATABASE IF EXISTS ${name}_half WITH (FORCE)`);
      await client.query(`CREATE DATABASE ${name}_half TEMPLATE template0`);
      await migrate(databaseUrl(cluster, `${name}_half`));
      await client.query(`ALTER DATABASE ${name}_half RENAME TO ${name}`);
    }
    return name;
  });
}

/** The lock above, if taken, ends with this connection. */
function asAdmin<T>(cluster: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  return withConnection({ connectionString: cluster }, work);
}

function databaseUrl(cluster: string, name: string): string {
  const url = new URL(cluster);
  url.pathname = `/${name}`;
  return url.href;
}
