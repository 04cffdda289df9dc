// What `platform start` promises a person: clear refusals, clean ends, and a way on after `kill -9`.
import assert from 'node:assert/strict';
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { processTree } from '../../bench/platform/process-memory.ts';
import { emptyPlace, type PlatformPlace, startPlatform } from '../support/platform-process.ts';
import { rawRequest } from '../support/raw-http.ts';

const CLI = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url));

let place: PlatformPlace;
before(async () => {
  place = await emptyPlace();
});
after(() => place.remove());

function platform(args: readonly string[], environment: NodeJS.ProcessEnv): SpawnSyncReturns<string> {
  return spawnSync(process.execPath, [CLI, ...args], { env: environment, encoding: 'utf8', timeout: 60_000 });
}

/** The refusal is exactly one line on standard error, and the exit code says so. */
function assertRefused(run: SpawnSyncReturns<string>, says: RegExp, exit = 1): void {
  assert.equal(run.status, exit, run.stdout + run.stderr);
  const lines = run.stderr.trim().split('\n');
  assert.equal(lines.length, 1, run.stderr);
  assert.match(lines[0] ?? '', says);
}

test('a port that is taken is one line and exit 1', async () => {
  const holder = net.createServer();
  await new Promise<void>((resolve) => holder.listen(place.port, '127.0.0.1', resolve));
  try {
    assertRefused(platform(['start'], place.environment), new RegExp(`Port ${place.port} .*PLATFORM_OS_ORIGIN`));
  } finally {
    await new Promise((resolve) => holder.close(resolve));
  }
});

test('two parts on one port are one line that names both variables, and exit 78', () => {
  assertRefused(
    platform(['start'], { ...place.environment, PLATFORM_INGRESS_LISTEN: `127.0.0.1:${place.nodePort}` }),
    /PLATFORM_NODE_ORIGIN and PLATFORM_INGRESS_LISTEN both name port/,
    78,
  );
});

test('a data folder that cannot be made is one line and exit 1', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'platform-start-'));
  try {
    await writeFile(path.join(folder, 'file'), '');
    const environment = { ...place.environment, PLATFORM_DATA_DIR: path.join(folder, 'file', 'data') };
    assertRefused(platform(['start'], environment), /file\/data/);
    if (process.getuid?.() !== 0) {
      await chmod(folder, 0o500);
      assertRefused(
        platform(['start'], { ...place.environment, PLATFORM_DATA_DIR: path.join(folder, 'data') }),
        /permission denied/,
      );
      await chmod(folder, 0o700);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('a wrong variable is one line that names it, and exit 78; a database that is away may come back', () => {
  assertRefused(
    platform(['start'], { ...place.environment, PLATFORM_SESSION_TTL_MS: 'soon' }),
    /PLATFORM_SESSION_TTL_MS/,
    78,
  );
  assertRefused(
    platform(['start'], { ...place.environment, PLATFORM_DATABASE_URL: 'postgres://nobody:x@127.0.0.1:9/none' }),
    /PLATFORM_DATABASE_URL|ECONNREFUSED/,
  );
});

test('an unknown command or option is one line and exit 2', () => {
  const run = platform(['strat'], place.environment);
  assert.equal(run.status, 2);
  assert.match(run.stderr, /Unknown command "strat"/);
});

test('the first start serves, a second instance is refused, and SIGTERM leaves nothing behind', async () => {
  const running = await startPlatform(place);
  const tree = processTree(running.pid);
  try {
    const lines = running.output().trimEnd().split('\n');
    assert.equal(lines.at(-1), `  Open  ${place.origin}`, 'last of all');
    assert.ok(running.output().includes(place.dataDirectory));
    assert.match(running.output(), /PLATFORM_OS_ORIGIN=/);
    assert.doesNotMatch(running.output(), /\(default\)/, 'only what was set');
    const health = await rawRequest({
      port: place.port,
      path: '/v1/health',
      headers: { host: new URL(place.origin).host },
    });
    assert.equal(health.status, 200);
    const other = await emptyPlace();
    assertRefused(
      platform(['start'], { ...other.environment, PLATFORM_DATA_DIR: place.dataDirectory }),
      /another|in use|already/i,
    );
    await other.remove();
  } finally {
    assert.equal(await running.stop(), 0);
  }
  assert.ok(tree.length > 3, 'PostgreSQL was part of the tree');
  await untilGone(tree);
});

test('a second start, after kill -9 as well, answers and cleans up what was left', async () => {
  const killed = await startPlatform(place);
  const tree = processTree(killed.pid);
  await killed.kill('SIGKILL');
  const running = await startPlatform(place);
  try {
    const health = await rawRequest({
      port: place.port,
      path: '/v1/health',
      headers: { host: new URL(place.origin).host },
    });
    assert.equal(health.status, 200);
    await untilGone(tree);
  } finally {
    assert.equal(await running.stop(), 0);
  }
});

test('what runs has not loaded the fetch of Node, 60 ms of its start (docs/decisions/dependencies.md)', async () => {
  const answers = path.join(place.dataDirectory, 'fetch-loaded');
  const report = `process.on('exit', () => process.getBuiltinModule('node:fs').appendFileSync(${JSON.stringify(answers)},
    process.moduleLoadList.some((name) => name.includes('deps/undici')) + '\\n'));`;
  const options = `--import=data:text/javascript,${encodeURIComponent(report)}`;
  const running = await startPlatform({ ...place, environment: { ...place.environment, NODE_OPTIONS: options } });
  assert.equal(await running.stop(), 0);
  assert.equal(readFileSync(answers, 'utf8'), 'false\n'.repeat(4), 'supervisor, core, node, Ingress');
});

test('the doctor says for each thing what it found, and is content with this machine', () => {
  const run = platform(['doctor'], place.environment);
  for (const check of ['port', 'name', 'namespaces', 'cgroups', 'disk', 'clock', 'database']) {
    assert.match(run.stdout, new RegExp(`[✓!✗] ${check}`), run.stdout + run.stderr);
  }
  assert.equal(run.status, 0, run.stdout);
});

test('the doctor says what is wrong with the file of AI providers', () => {
  const run = platform(['doctor'], { ...place.environment, PLATFORM_INTELLIGENCE_FILE: '/nowhere/providers.json' });
  assert.match(run.stdout, /✗ AI +PLATFORM_INTELLIGENCE_FILE names .*cannot be read: ENOENT/);
  assert.equal(run.status, 1);
});

test('recover says when there is no such account', () => {
  const run = platform(['recover', 'nobody-here'], place.environment);
  assert.equal(run.status, 1, run.stderr);
  assert.match(run.stderr, /no account named nobody-here/);
  assert.equal(run.stdout, '');
});

/** Waits until none of the processes lives: a condition, bounded by the timeout of the test run. */
async function untilGone(pids: readonly number[]): Promise<void> {
  const deadline = Date.now() + 15_000;
  const alive = () => pids.filter((pid) => readdirSync('/proc').includes(String(pid)) && !isZombie(pid));
  while (alive().length > 0) {
    assert.ok(Date.now() < deadline, `still alive: ${alive().join(', ')}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function isZombie(pid: number): boolean {
  try {
    return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return true;
  }
}
