// That the embedded PostgreSQL starts and has every acknowledged row, whatever was killed, lost or left behind before.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import {
  ask,
  asRoot,
  clusterData,
  copied,
  programsDir,
  scratch,
  start,
} from '../../../../tests/support/embedded-postgres.ts';
import { serverProcesses } from './embedded/leftovers.ts';

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(5);
}

/** Another process that starts the server, prints its URL, and stays until it is killed. */
function platform(t: TestContext, dataDir: string, env: NodeJS.ProcessEnv = process.env): ChildProcess {
  const module = new URL('./embedded-postgres.ts', import.meta.url).href;
  const code = `import { startEmbeddedPostgres } from ${JSON.stringify(module)};
    const server = await startEmbeddedPostgres({ ...${JSON.stringify({ dataDir, programsDir })}, log() {} });
    process.stdout.write(server.url);
    setInterval(() => {}, 1e6);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  return child;
}

async function firstWords(child: ChildProcess): Promise<string> {
  assert.ok(child.stdout);
  const [words] = await once(child.stdout, 'data');
  return String(words);
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

test('a killed platform takes its server along, and the next start has every acknowledged row', async (t) => {
  const dataDir = await copied(t);
  const first = platform(t, dataDir);
  const url = await firstWords(first);
  await ask(url, 'CREATE TABLE kept (n int)');
  await ask(url, 'INSERT INTO kept SELECT generate_series(1, 1000)');
  await kill(first);
  await until(() => serverProcesses(clusterData(dataDir)).length === 0);
  const second = await start(t, dataDir);
  assert.deepEqual(await ask(second.url, 'SELECT count(*)::int AS n FROM kept'), [{ n: 1000 }]);
});

test('a server that outlived its killed platform is stopped and replaced', async (t) => {
  const dataDir = await copied(t);
  // Without setpriv on the path the kernel does not end the server with its platform.
  const first = platform(t, dataDir, { ...process.env, PATH: '/nowhere' });
  const url = await firstWords(first);
  await ask(url, 'CREATE TABLE kept AS SELECT 1 AS n');
  await kill(first);
  const outlived = serverProcesses(clusterData(dataDir));
  assert.ok(outlived.length > 0);
  const said: string[] = [];
  const second = await start(t, dataDir, { log: (line) => said.push(line) });
  assert.deepEqual(await ask(second.url, 'SELECT n FROM kept'), [{ n: 1 }]);
  assert.match(said.join(), /earlier PostgreSQL server still runs/);
  const now = serverProcesses(clusterData(dataDir));
  assert.deepEqual(
    outlived.filter((pid) => now.includes(pid)),
    [],
  );
});

test('a killed server is noticed, and starts again although a session of it was busy', async (t) => {
  const dataDir = await copied(t);
  const first = await start(t, dataDir);
  await ask(first.url, 'CREATE TABLE kept AS SELECT 1 AS n');
  const busy = new pg.Client({ connectionString: first.url });
  busy.on('error', () => {});
  await busy.connect();
  const query = busy.query('SELECT sum(n) FROM generate_series(1, 1e12::bigint) AS n');
  query.catch(() => {});
  process.kill(first.pid, 'SIGKILL');
  assert.match(await first.exited, /SIGKILL/);
  const second = await start(t, dataDir);
  assert.deepEqual(await ask(second.url, 'SELECT n FROM kept'), [{ n: 1 }]);
  await assert.rejects(query);
});

test('a lock file with the number of a living stranger does not hinder the start, nor harm the stranger', async (t) => {
  const dataDir = await copied(t);
  const { uid, gid } = fs.statSync(clusterData(dataDir));
  // The same user, so that PostgreSQL alone would believe the number.
  const stranger = spawn('sleep', ['1000'], { stdio: 'ignore', ...(asRoot ? { uid, gid } : {}) });
  t.after(() => stranger.kill('SIGKILL'));
  await once(stranger, 'spawn');
  const lockFile = path.join(clusterData(dataDir), 'postmaster.pid');
  fs.writeFileSync(
    lockFile,
    `${stranger.pid}\n${clusterData(dataDir)}\n1700000000\n5432\n/nowhere\n\n  1 1\nready   \n`,
  );
  fs.chownSync(lockFile, uid, gid);
  const socketFolder = path.join(dataDir, 'postgres', 'run');
  fs.writeFileSync(path.join(socketFolder, '.s.PGSQL.5432.lock'), `${stranger.pid}\n`);
  const server = await start(t, dataDir);
  assert.deepEqual(await ask(server.url, 'SELECT 1 AS n'), [{ n: 1 }]);
  assert.equal(stranger.exitCode ?? stranger.signalCode, null);
});

test('a first start that is killed at any step leaves the next one working', async (t) => {
  const steps: ((folder: string) => boolean)[] = [
    (folder) => fs.readdirSync(folder).length > 0,
    (folder) => fs.existsSync(path.join(folder, 'password')),
    (folder) => fs.readdirSync(folder).some((name) => name.startsWith('.data-')),
    (folder) => half(folder, 'PG_VERSION'),
    (folder) => half(folder, 'global/pg_control'),
    (folder) => half(folder, 'postmaster.pid'),
    (folder) => fs.existsSync(path.join(folder, 'data')),
    (folder) => fs.existsSync(path.join(folder, 'data', 'postmaster.pid')),
  ];
  for (const reached of steps) {
    const dataDir = scratch(t);
    const folder = path.join(dataDir, 'postgres');
    const first = platform(t, dataDir);
    // A short step may pass unseen; the last one stays.
    await until(
      () => fs.existsSync(folder) && (reached(folder) || fs.existsSync(path.join(folder, 'data', 'postmaster.pid'))),
    );
    await kill(first);
    const server = await start(t, dataDir);
    assert.deepEqual(await ask(server.url, 'SELECT current_database() AS name'), [{ name: 'platform' }]);
    assert.deepEqual(
      fs.readdirSync(folder).filter((name) => name.startsWith('.')),
      [],
    );
    await server.stop();
  }
});

test('a server that a killed start began a moment too late to be seen does not keep the next start from working', async (t) => {
  const dataDir = await copied(t);
  // Neither sees the lock of the other before it starts a server; the later one ends the earlier one, and serves.
  const starts = await Promise.allSettled([start(t, dataDir), start(t, dataDir)]);
  const serving = starts.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const answers = await Promise.allSettled(serving.map(({ url }) => ask(url, 'SELECT 1 AS n')));
  assert.ok(
    answers.some((one) => one.status === 'fulfilled'),
    JSON.stringify(starts.map((one) => (one.status === 'rejected' ? String(one.reason) : 'started'))),
  );
});

function half(folder: string, file: string): boolean {
  return fs
    .readdirSync(folder)
    .some((name) => name.startsWith('.data-') && fs.existsSync(path.join(folder, name, file)));
}

test('a lost password file is replaced by a new password', async (t) => {
  const dataDir = await copied(t);
  const first = await start(t, dataDir);
  await ask(first.url, 'CREATE TABLE kept AS SELECT 1 AS n');
  await first.stop();
  fs.rmSync(path.join(dataDir, 'postgres', 'password'));
  const second = await start(t, dataDir);
  assert.notEqual(second.url, first.url);
  assert.deepEqual(await ask(second.url, 'SELECT n FROM kept'), [{ n: 1 }]);
});
