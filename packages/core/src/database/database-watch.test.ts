// A PostgreSQL that hangs is noticed, whichever of its processes do; requests that wait for it fail at once, and the
// embedded one is killed and has every acknowledged row afterwards.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import * as net from 'node:net';
import { type TestContext, test } from 'node:test';
import { clusterData, copied, ask as query, start } from '../../../../tests/support/embedded-postgres.ts';
import { testDatabase } from '../../../../tests/support/postgres.ts';
import { until } from '../../../../tests/support/wait.ts';
import { type Patience, watchDatabase } from './database-watch.ts';
import { serverProcesses } from './embedded/leftovers.ts';
import { openDatabase } from './open-database.ts';

const soon: Patience = { everyMs: 20, limitMs: 500, unanswered: 3 };

/** A peer that accepts and never answers. */
async function deafPeer(t: TestContext): Promise<string> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => sockets.add(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `postgres://somebody:secret@127.0.0.1:${(server.address() as net.AddressInfo).port}/platform`;
}

test('a peer that accepts and never answers is silent, which is said once', async (t) => {
  let silences = 0;
  const url = await deafPeer(t);
  const watch = watchDatabase({ url, patience: { ...soon, limitMs: 50 }, silent: () => (silences += 1) });
  const other = Promise.withResolvers<void>();
  // Counts the same probes, and more of them.
  const later = watchDatabase({
    url,
    patience: { ...soon, limitMs: 50, unanswered: 8 },
    silent: () => other.resolve(),
  });
  await other.promise;
  watch.stop();
  later.stop();
  assert.equal(silences, 1);
});

test('one that refuses is not silent: not where nothing listens, nor for a wrong password or name', async (t) => {
  const place = await testDatabase();
  t.after(() => place.drop());
  const wrongName = new URL(place.url);
  wrongName.pathname = '/no_such_database';
  const wrongUser = new URL(place.url);
  wrongUser.username = 'nobody';
  const urls = ['postgres://a:b@127.0.0.1:1/c', wrongName.href, wrongUser.href, place.url];
  const silent: string[] = [];
  const patience = { everyMs: 10, limitMs: 5_000, unanswered: 1 };
  const watches = urls.map((url) => watchDatabase({ url, patience, silent: () => silent.push(url) }));
  const deaf = Promise.withResolvers<void>();
  const control = watchDatabase({
    url: await deafPeer(t),
    patience: { everyMs: 10, limitMs: 200, unanswered: 3 },
    silent: () => deaf.resolve(),
  });
  await deaf.promise;
  for (const watch of [...watches, control]) watch.stop();
  assert.deepEqual(silent, []);
});

test('what runs, what waits and what comes fails at once while it is refused, and is served afterwards', async (t) => {
  const place = await testDatabase();
  const open = openDatabase({ url: place.url, connections: 1, onError: () => undefined });
  t.after(async () => {
    await open.close();
    await place.drop();
  });
  const running = open.pool.query('SELECT pg_sleep(20)');
  const waiting = open.pool.query('SELECT 1');
  const failed = Promise.all([
    assert.rejects(running, /Connection terminated/),
    assert.rejects(waiting, { code: '08006' }),
  ]);
  await until(
    'one to run and one to wait',
    () => open.pool.totalCount - open.pool.idleCount === 1 && open.pool.awaited === 1,
  );
  await until('the statement to run', async () => {
    const rows = await query(place.url, "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
    return rows.length > 0;
  });
  const begun = performance.now();
  open.pool.refuse();
  await failed;
  await assert.rejects(open.pool.query('SELECT 1'), { code: '08006' });
  assert.ok(performance.now() - begun < 2_000, 'nothing waited');
  open.pool.serve();
  assert.equal((await open.pool.query('SELECT 1')).rowCount, 1);
});

for (const [what, stopped] of [
  ['its first process', (pid: number) => [pid]],
  ['every process', (_pid: number, all: readonly number[]) => all],
] as const) {
  test(`an embedded server of which ${what} hangs is killed, and the next start has every acknowledged row`, async (t) => {
    const dataDir = await copied(t);
    const server = await start(t, dataDir, { patience: soon, settings: {} });
    await query(server.url, 'CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n');
    const processes = serverProcesses(clusterData(dataDir));
    for (const pid of stopped(server.pid, processes)) process.kill(pid, 'SIGSTOP');
    assert.match(await server.exited, /did not answer 3 times in a row.*SIGKILL/);
    await until('every process to be gone', () => serverProcesses(clusterData(dataDir)).length === 0);
    const next = await start(t, dataDir);
    assert.deepEqual(await query(next.url, 'SELECT count(*)::int AS n FROM kept'), [{ n: 1000 }]);
  });
}
