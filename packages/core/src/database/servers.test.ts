// Several servers in one address: the one that takes writes is used, and another when it no longer does, while requests are served.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import * as net from 'node:net';
import * as path from 'node:path';
import { type TestContext, test } from 'node:test';
import { ask, clusterData, copied, scratch, start } from '../../../../tests/support/embedded-postgres.ts';
import { until } from '../../../../tests/support/wait.ts';
import { isDatabaseUrl, placeOf, serversOf } from '../config/database-url.ts';
import { type Patience, watchDatabase } from './database-watch.ts';
import { serverProcesses } from './embedded/leftovers.ts';
import { openDatabase } from './open-database.ts';
import { findServer, serverOf } from './servers.ts';
import { Signals } from './signals.ts';
import { withConnection } from './with-connection.ts';

const soon: Patience = { everyMs: 20, limitMs: 500, unanswered: 3 };

test('a list is read as libpq reads it', () => {
  const list = 'postgresql://ada:p%40,ss@one.example,[::1]:5433, 10.0.0.1:5434/platform?sslmode=require';
  assert.deepEqual(serversOf(list), [
    'postgresql://ada:p%40,ss@one.example/platform?sslmode=require',
    'postgresql://ada:p%40,ss@[::1]:5433/platform?sslmode=require',
    'postgresql://ada:p%40,ss@10.0.0.1:5434/platform?sslmode=require',
  ]);
  assert.deepEqual(serversOf(list).map(placeOf), ['one.example', '[::1]:5433', '10.0.0.1:5434']);
  for (const one of [
    'postgres:///platform?host=/run/postgresql',
    'postgres://u@/db?host=/run,/tmp',
    'postgres://h/a,b',
  ])
    assert.deepEqual(serversOf(one), [one]);
  assert.ok(isDatabaseUrl(list));
  for (const wrong of ['postgres://one:1,two:x/db', 'postgres://one:99999,two/db', 'mysql://one,two/db'])
    assert.ok(!isDatabaseUrl(wrong), wrong);
});

/** A server, and another that follows: with its data, in recovery, taking no writes until it is promoted. */
async function pair(t: TestContext) {
  const firstFolder = await copied(t);
  const secondFolder = scratch(t);
  execFileSync('cp', ['-a', `${firstFolder}/.`, secondFolder]);
  const signal = path.join(clusterData(secondFolder), 'standby.signal');
  writeFileSync(signal, '');
  execFileSync('chown', ['--reference', clusterData(secondFolder), signal]);
  const [first, second] = await Promise.all([start(t, firstFolder), start(t, secondFolder)]);
  const places = await Promise.all([first, second].map(({ url }) => overTcp(t, url)));
  // Both have the login of the data that was copied.
  const { username, password, pathname } = new URL(first.url.replace('@/', '@localhost/'));
  const listOf = (hosts: readonly string[]) => `postgres://${username}:${password}@${hosts.join()}${pathname}`;
  const [firstPlace = '', secondPlace = ''] = places;
  return {
    ...{ first, second, firstPlace, secondPlace },
    ...{ list: listOf(places), reversed: listOf(places.toReversed()), freeze: () => frozen(firstFolder) },
  };
}

/** The embedded server listens on a socket of its folder alone. @returns host and port that lead to it */
async function overTcp(t: TestContext, url: string): Promise<string> {
  const folder = /[?&]host=([^&]*)/.exec(url)?.[1] ?? assert.fail(url);
  const socketPath = path.join(decodeURIComponent(folder), '.s.PGSQL.5432');
  const open = new Set<net.Socket>();
  const relay = net.createServer((incoming) => {
    const outgoing = net.connect(socketPath);
    for (const [one, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      open.add(one);
      one.on('error', () => undefined).on('close', () => other.destroy());
      one.pipe(other);
    }
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  t.after(() => {
    for (const socket of open) socket.destroy();
    relay.close();
  });
  return `127.0.0.1:${(relay.address() as net.AddressInfo).port}`;
}

function frozen(folder: string): () => void {
  const processes = serverProcesses(clusterData(folder));
  for (const pid of processes) process.kill(pid, 'SIGSTOP');
  return () => {
    for (const pid of processes) process.kill(pid, 'SIGCONT');
  };
}

test('what happens once goes to the server that takes writes, wherever it stands in the list', async (t) => {
  const { list, reversed, firstPlace } = await pair(t);
  for (const url of [list, reversed]) {
    const [row] = await ask(url, 'SELECT pg_is_in_recovery() AS follows');
    assert.deepEqual(row, { follows: false });
    assert.equal(placeOf(serverOf(url)), firstPlace);
  }
});

for (const [how, hangs] of [
  ['is gone', false],
  ['hangs', true],
] as const)
  test(`when the server that takes writes ${how}, what runs fails, and the next statements and signals go to the one that follows it`, async (t) => {
    const { list, first, second, secondPlace, freeze } = await pair(t);
    await withConnection({ connectionString: list }, (client) => client.query('SELECT 1'));
    const { pool, close } = openDatabase({ url: list, connections: 3, onError: () => undefined });
    t.after(close);
    const signals = new Signals(list, () => undefined);
    await signals.start();
    t.after(() => signals.stop());
    let moves = 0;
    const watch = watchDatabase({
      url: list,
      patience: soon,
      silent: () => pool.refuse(),
      answers: () => pool.serve(),
      moved() {
        moves += 1;
        pool.reconnect();
      },
    });
    t.after(() => watch.stop());
    await pool.query('CREATE TABLE here (place text)');
    const running = pool.query('SELECT pg_sleep(60)').catch((error: unknown) => error);
    await using end = new AsyncDisposableStack();
    if (hangs) end.defer(freeze());
    else await first.stop();
    await ask(second.url, 'SELECT pg_promote()');
    const served = await until('the other server to serve', () =>
      pool.query('SELECT pg_is_in_recovery() AS follows').then(
        ({ rows }) => rows[0],
        () => undefined,
      ),
    );
    assert.deepEqual(served, { follows: false });
    assert.ok((await running) instanceof Error);
    assert.equal(placeOf(serverOf(list)), secondPlace);
    assert.equal(moves, 1);
    await until('signals to be heard there', () => signals.connected);
    await pool.query('CREATE TABLE there (place text)');
    // It stays there, whatever comes back elsewhere.
    assert.equal(await findServer(list), false);
  });

test('where none takes writes nothing moves, and one server is never looked for', async (t) => {
  const { list, first, firstPlace, second } = await pair(t);
  await findServer(list);
  await first.stop();
  assert.equal(await findServer(list), false);
  assert.equal(placeOf(serverOf(list)), firstPlace);
  assert.equal(await findServer(second.url), false);
});
