// Promise of publishing across SIGKILL: what was acknowledged is there as a whole, what was not leaves nothing that
// outlives the next start.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { testDatabase } from '../../../../../tests/support/postgres.ts';
import { frontendFiles } from '../../../test-support/publish-forever.ts';
import { migrate } from '../../database/migrate.ts';
import { openDatabase } from '../../database/open-database.ts';
import { packageBlobs } from '../package-file.ts';
import { findPublishedHashes } from '../queries.ts';

const KILLS = 25;
const program = new URL('../../../test-support/publish-forever.ts', import.meta.url).pathname;

interface Running {
  readonly child: ChildProcess;
  readonly acknowledged: string[];
}

/** A publisher that has acknowledged `count` versions and goes on. */
async function publishing(
  t: TestContext,
  { url, directory, round, count }: { url: string; directory: string; round: number; count: number },
): Promise<Running> {
  const child = spawn(process.execPath, [program, url, directory, String(round)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  const acknowledged: string[] = [];
  createInterface({ input: child.stdout ?? process.stdin }).on('line', (line) => acknowledged.push(line));
  while (acknowledged.length < count) {
    assert.equal(child.exitCode, null, 'the publisher runs until it is killed');
    await setTimeout(1);
  }
  return { child, acknowledged };
}

test(`${KILLS} kills in the middle of publishing lose nothing that was acknowledged and leave nothing half`, async (t) => {
  const database = await testDatabase({ key: 'core', migrate: async (url) => void (await migrate(url)) });
  t.after(() => database.drop());
  const directory = fs.mkdtempSync(path.join(tmpdir(), 'platform-crash-'));
  t.after(() => fs.rmSync(directory, { recursive: true, force: true }));
  const { pool, database: db, close } = openDatabase({ url: database.url, onError: () => undefined });
  t.after(close);
  const blobs = packageBlobs({ config: { packagesDirectory: directory } });
  const acknowledged = new Set<string>();
  for (let round = 0; round < KILLS; round += 1) {
    const running = await publishing(t, { url: database.url, directory, round, count: 1 + (round % 3) });
    await setTimeout(Math.random() * 60);
    running.child.kill('SIGKILL');
    await once(running.child, 'close');
    for (const version of running.acknowledged) acknowledged.add(version);
    await connectionsGone(database.url);
    await blobs.sweep(pool, (hashes) => findPublishedHashes(db, hashes));
    await assertWhole(pool, directory, acknowledged);
  }
});

/** The lock of a killed publisher ends when the server notices, at once on one machine but not in the same moment. */
async function connectionsGone(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (;;) {
    const { rows } = await client.query(
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'publish-forever'",
    );
    if (rows.length === 0) break;
    await setTimeout(1);
  }
  await client.end();
}

async function assertWhole(pool: pg.Pool, directory: string, acknowledged: ReadonlySet<string>): Promise<void> {
  const { rows } = await pool.query<{ version: string; hash: string; newest: boolean }>(
    'SELECT version, package_hash AS hash, newest FROM app_versions',
  );
  const versions = new Set(rows.map(({ version }) => version));
  for (const version of acknowledged) assert.ok(versions.has(version), `${version} was acknowledged`);
  assert.equal(rows.filter(({ newest }) => newest).length, 1);
  const names = fs.readdirSync(directory).sort();
  assert.deepEqual(names, rows.flatMap(({ hash }) => [hash, `${hash}.tgz`]).sort(), 'published packages and no others');
  for (const { version, hash } of rows) {
    const blob = fs.readFileSync(path.join(directory, `${hash}.tgz`));
    assert.equal(createHash('sha256').update(blob).digest('hex'), hash);
    for (const [name, content] of Object.entries(frontendFiles(version))) {
      assert.equal(fs.readFileSync(path.join(directory, hash, name), 'utf8'), content, `${version} ${name}`);
    }
  }
}
