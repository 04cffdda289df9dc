// `./platform doctor` before the first start: what would be in its way, each with a cure, and nothing made by looking.
import assert from 'node:assert/strict';
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { emptyPlace, type PlatformPlace } from '../support/platform-process.ts';

const LAUNCHER = fileURLToPath(new URL('../../platform', import.meta.url));
const asRoot = process.getuid?.() === 0;

function doctor({ environment }: PlatformPlace, more: NodeJS.ProcessEnv = {}): SpawnSyncReturns<string> {
  return spawnSync(LAUNCHER, ['doctor'], { env: { ...environment, ...more }, encoding: 'utf8', timeout: 120_000 });
}

async function newPlace(t: TestContext): Promise<PlatformPlace> {
  const place = await emptyPlace();
  t.after(() => place.remove());
  return place;
}

test('it says what it looked at, that the machine is ready, and leaves no trace', async (t) => {
  const place = await newPlace(t);
  const missing = path.join(place.dataDirectory, 'not', 'there');
  const scratch = mkdtempSync(path.join(tmpdir(), 'platform-scratch-'));
  t.after(() => rmSync(scratch, { recursive: true }));
  chmodSync(scratch, 0o711);
  if (asRoot) chmodSync(place.dataDirectory, 0o711);
  const run = doctor(place, { PLATFORM_DATA_DIR: missing, TMPDIR: scratch });
  assert.equal(run.status, 0, run.stdout + run.stderr);
  assert.match(run.stdout, /^The platform was not started here yet\./);
  for (const check of ['data folder', 'port', 'name', 'namespaces', 'cgroups', 'memory', 'disk', 'clock', 'database'])
    assert.match(run.stdout, new RegExp(`^[✓!] ${check}`, 'm'), run.stdout);
  for (const port of [place.port, place.nodePort, place.ingressPort])
    assert.match(run.stdout, new RegExp(`✓ port +${port} on 127.0.0.1 is free`));
  assert.match(run.stdout, /not exist; the first start makes it/);
  // A machine on which something is limited is not called ready.
  const summary = run.stdout.includes('\n! ') ? 'What is marked ! above limits it.' : 'This machine is ready.';
  assert.ok(run.stdout.endsWith(`${summary} Start the platform: ./platform start\n`), run.stdout);
  assert.deepEqual(readdirSync(place.dataDirectory), []);
  assert.deepEqual(readdirSync(scratch), []);
});

test('an empty data folder stays empty: no database is made in it', async (t) => {
  const place = await newPlace(t);
  const run = doctor(place);
  assert.equal(run.status, 0, run.stdout + run.stderr);
  assert.match(run.stdout, /✓ data folder +\S+ holds no platform yet/);
  assert.match(run.stdout, /✓ database +embedded PostgreSQL, which the first start makes/);
  assert.deepEqual(readdirSync(place.dataDirectory), []);
});

test('a taken port, two parts on one port and a sandbox that is not there are named with what to do', async (t) => {
  const place = await newPlace(t);
  const holder = net.createServer().listen(place.port, '127.0.0.1');
  t.after(() => holder.close());
  await once(holder, 'listening');
  const taken = doctor(place, { PLATFORM_RUNTIME_DRIVER: 'docker', PLATFORM_RUNTIME_DOCKER_SOCKET: '/nowhere.sock' });
  assert.equal(taken.status, 1, taken.stdout);
  assert.match(taken.stdout, new RegExp(`✗ port +${place.port} on 127.0.0.1 is taken\\n +→ .*PLATFORM_OS_ORIGIN`));
  assert.match(taken.stdout, /✗ namespaces +no sandbox is available.*\n +→ No container engine listens here/);
  const twice = doctor(place, { PLATFORM_NODE_LISTEN_PORT: String(place.ingressPort) });
  assert.match(twice.stdout, /✗ port +PLATFORM_NODE_LISTEN_PORT and PLATFORM_INGRESS_LISTEN both name port/);
});

test('a data folder that this user cannot make, or PostgreSQL cannot enter, is named with what to do', async (t) => {
  const place = await newPlace(t);
  const closed = path.join(place.dataDirectory, 'closed');
  mkdirSync(closed);
  chmodSync(closed, asRoot ? 0o700 : 0o500);
  const run = doctor(place, { PLATFORM_DATA_DIR: path.join(closed, 'data') });
  assert.equal(run.status, 1, run.stdout);
  const what = asRoot
    ? /✗ data folder +PostgreSQL .*cannot enter .*\n +→ .*chmod o\+x/
    : /✗ data folder .*permission denied\n +→ As root: install -d/;
  assert.match(run.stdout, what);
  assert.equal(existsSync(path.join(closed, 'data')), false);
});
