// What a start says when the master key is missing or another one: the secrets in the database are sealed with it.
import assert from 'node:assert/strict';
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres } from '@platform/core/embedded-postgres';
import { openDataFolder } from '@platform/core/start';
import { ask } from '../support/embedded-postgres.ts';
import { emptyPlace, type PlatformPlace, startPlatform } from '../support/platform-process.ts';

const CLI = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url));

let place: PlatformPlace;
let key: string;
let kept: string;

before(async () => {
  place = await emptyPlace();
  await (await startPlatform(place)).stop();
  key = path.join(place.dataDirectory, 'master.key');
  kept = readFileSync(key, 'utf8');
});
after(() => place.remove());

function platform(args: readonly string[], more: NodeJS.ProcessEnv = {}): SpawnSyncReturns<string> {
  const env = { ...place.environment, ...more };
  return spawnSync(process.execPath, [CLI, ...args], { env, encoding: 'utf8', timeout: 60_000 });
}

function assertRefused(run: SpawnSyncReturns<string>, says: RegExp, exit = 1): void {
  assert.equal(run.status, exit, run.stdout + run.stderr);
  const lines = run.stderr.trim().split('\n');
  assert.equal(lines.length, 1, run.stderr);
  assert.match(lines[0] ?? '', says);
}

/** Statements on the database of the platform, which does not run. */
async function inDatabase(sql: string): Promise<Record<string, unknown>[]> {
  const umask = process.umask();
  const folder = openDataFolder(place.dataDirectory);
  const server = await startEmbeddedPostgres({ dataDir: folder.path, log: () => undefined });
  try {
    return await ask(server.url, sql);
  } finally {
    await server.stop();
    folder.close();
    process.umask(umask);
  }
}

test('a database whose key is missing is not started with a new one: the refusal says where it was expected', () => {
  renameSync(key, `${key}.backup`);
  const says = new RegExp(`expected at ${key}.*Restore the file from your backup.*PLATFORM_MASTER_KEY_FILE`);
  assertRefused(platform(['start']), says);
  assert.ok(!existsSync(key), 'no other key was made');
  assertRefused(platform(['node', 'token']), says);
  assert.ok(!existsSync(key));
});

test('the key may lie where PLATFORM_MASTER_KEY_FILE says', async () => {
  const environment = { ...place.environment, PLATFORM_MASTER_KEY_FILE: `${key}.backup` };
  assert.equal(await (await startPlatform({ ...place, environment })).stop(), 0);
  const elsewhere = { PLATFORM_MASTER_KEY_FILE: path.join(place.dataDirectory, 'elsewhere') };
  assertRefused(platform(['start'], elsewhere), /expected at .*elsewhere/);
  renameSync(`${key}.backup`, key);
});

test('another key is recognised at the start, not at the first use of a secret', async () => {
  writeFileSync(key, `${randomBytes(32).toString('base64url')}\n`);
  assertRefused(platform(['start']), /not the one that the secrets in this database were sealed with.*backup/);
  assertRefused(platform(['node', 'list']), /not the one that the secrets/);
  writeFileSync(key, 'too short\n');
  assertRefused(platform(['start']), /PLATFORM_MASTER_KEY_FILE.*32 bytes/, 78);
  writeFileSync(key, kept);
  assert.equal(await (await startPlatform(place)).stop(), 0);
});

test('in a database from before the check, the right key is believed and another one is not', async () => {
  const [former] = await inDatabase('UPDATE master_key_check SET proof = NULL RETURNING proof');
  assert.deepEqual(former, { proof: null });
  const [{ sealed } = { sealed: 0 }] = await inDatabase('SELECT count(control_credential)::int AS sealed FROM nodes');
  assert.equal(sealed, 1);
  writeFileSync(key, `${randomBytes(32).toString('base64url')}\n`);
  assertRefused(platform(['start']), /not the one that the secrets/);
  rmSync(key);
  assertRefused(platform(['start']), /expected at/);
  writeFileSync(key, kept, { mode: 0o600 });
  assert.equal(await (await startPlatform(place)).stop(), 0);
  const [after] = await inDatabase('SELECT proof IS NOT NULL AS kept FROM master_key_check');
  assert.deepEqual(after, { kept: true });
});

test('where nothing was started there is no key to miss', () => {
  const more = { PLATFORM_DATA_DIR: path.join(place.dataDirectory, 'nothing-here') };
  assertRefused(platform(['node', 'list'], more), /no platform in .*nothing-here/);
  assert.equal(statSync(key).mode & 0o077, 0);
});
