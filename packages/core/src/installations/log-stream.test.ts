// The live log of a backend as its owner reads it: every line once, resumed where it ended, over with the session, the
// app or the node. The node is a double that speaks the agreed protocol; the real one is in tests/system.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { type LogEvent, limits, logEvent } from '@platform/contract';
import { registerAccount, signIn, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { type EventReader, openEvents } from '../../../../tests/support/event-reader.ts';
import { problemCode } from '../../../../tests/support/raw-http.ts';
import { until } from '../../../../tests/support/wait.ts';
import { install, installationRow, nodeWorkload, publish } from '../../test-support/apps.ts';
import { type NodeDouble, startNodeDouble } from '../../test-support/node-double.ts';

let platform: Constellation;
let node: NodeDouble;
let account: TestAccount;
let id: string;
let usual: NodeDouble['answer'];

before(async () => {
  platform = await startConstellation();
  node = await startNodeDouble(platform);
  usual = node.answer;
  account = await registerAccount(platform, 'reader');
  for (const appId of ['working', 'leaving']) {
    await publish(account, appId, { workload: nodeWorkload });
    await install(account, appId);
  }
  await publish(account, 'page-only');
  await install(account, 'page-only');
  id = (await installationRow(platform, account, 'working')).id;
});
beforeEach(() => {
  node.answer = usual;
});
after(async () => {
  await platform.close();
  await node.close();
});

function open(appId = 'working', more: Readonly<Record<string, string>> = {}, who = account): Promise<EventReader> {
  const headers = { host: new URL(platform.origin).host, cookie: who.cookie, ...more };
  return openEvents({ port: platform.port, path: `/v1/apps/${appId}/logs/stream?newest=2`, headers });
}

const entry = (line: string) => ({ at: '2026-11-21T10:00:00.000Z', stream: 'stdout', line });
const piece = (last: number, lines: readonly string[], more: object = {}) =>
  JSON.stringify({ items: lines.map(entry), last, missed: 0, ...more });

/** Every event as the contract has it. */
function eventsOf({ events }: EventReader): LogEvent['data'][] {
  return events.map(({ event, data }) => logEvent.parse({ event, data }).data);
}

test('a stream begins with the newest lines, leads to the older ones, and goes on', async () => {
  const stream = node.stream();
  node.answer = () => stream.answer;
  const reader = await open();
  assert.equal(node.calls.at(-1)?.path, `/control/installations/${id}/logs/stream?newest=2`);
  stream.write(piece(5, ['four', 'five'], { before: '4' }));
  stream.write('');
  stream.write(piece(6, ['six']));
  await reader.until(({ lastEventId }) => lastEventId === '6');
  const [first, second] = eventsOf(reader);
  assert.deepEqual(
    first?.items.map(({ line }) => line),
    ['four', 'five'],
  );
  assert.deepEqual(second, { items: [entry('six')], missed: 0 });
  node.answer = () => ({ body: { items: [], before: null } });
  assert.ok(typeof first?.older === 'string');
  const older = await account.fetch(`/v1/apps/working/logs?cursor=${first.older}`);
  assert.equal(older.status, 200);
  assert.equal(node.calls.at(-1)?.path, `/control/installations/${id}/logs?limit=200&before=4`);
  reader.close();
  await stream.left;
});

test('a stream is resumed with the id of its last event', async () => {
  const stream = node.stream();
  node.answer = () => stream.answer;
  const reader = await open('working', { 'last-event-id': '41' });
  assert.equal(node.calls.at(-1)?.path, `/control/installations/${id}/logs/stream?after=41`);
  stream.write(piece(99, ['late'], { missed: 57 }));
  await reader.until(({ events }) => events.length === 1);
  assert.deepEqual(eventsOf(reader), [{ items: [entry('late')], missed: 57 }]);
  reader.close();
  const wrong = await open('working', { 'last-event-id': 'x' });
  assert.equal(wrong.status, 400);
});

test('a stream ends with its session, its app and its node', async () => {
  const streams = [node.stream(), node.stream(), node.stream()] as const;
  const answers = streams.map(({ answer }) => answer);
  node.answer = (call) => (call.path.includes('/logs/stream') ? (answers.shift() ?? {}) : usual(call));
  const other = await signIn(platform, account.authenticator);
  const [bySession, byApp, byNode] = [await open('working', {}, other), await open('leaving'), await open()];
  await other.browser.take('/v1/auth/logout', { method: 'POST' });
  await bySession.ended;
  await account.browser.take('/v1/apps/leaving', { method: 'DELETE' });
  await byApp.ended;
  await Promise.all([streams[0].left, streams[1].left]);
  streams[2].end();
  await byNode.ended;
});

test('a session that ends while the app is looked up gets no stream', async () => {
  const other = await signIn(platform, account.authenticator);
  // Known from here on, so that only the look-up of the app waits.
  await other.browser.take('/v1/auth/session');
  const stream = node.stream();
  node.answer = (call) => (call.path.includes('/logs/stream') ? stream.answer : usual(call));
  const lock = await platform.core.context.pool.connect();
  try {
    await lock.query('BEGIN');
    await lock.query('LOCK TABLE app_versions IN ACCESS EXCLUSIVE MODE');
    const opening = open('working', {}, other);
    await until('the stream to wait for its app', async () => {
      const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%"installations"."stopped"%'`;
      // Not in the transaction, which would see the activity of its beginning.
      return ((await platform.core.context.pool.query(waiting)).rowCount ?? 0) > 0;
    });
    await other.browser.take('/v1/auth/logout', { method: 'POST' });
    await lock.query('COMMIT');
    const reader = await opening;
    reader.close();
    assert.equal(reader.status, 401);
  } finally {
    lock.release();
  }
});

test('what cannot be streamed is refused before a stream begins', async () => {
  const code = async (reader: Promise<EventReader>) => (await reader).status;
  assert.equal(await code(open('page-only')), 404);
  assert.equal(await code(open('not-there')), 404);
  node.answer = () => ({ status: 500 });
  const down = await account.fetch('/v1/apps/working/logs/stream');
  assert.deepEqual([down.status, problemCode(down)], [503, 'workload_unavailable']);
  const stranger = await registerAccount(platform, 'stranger');
  assert.equal(await code(open('working', {}, stranger)), 404);
});

test('an answer that is none ends the stream, and nothing of it is passed on', async () => {
  const stream = node.stream();
  node.answer = () => stream.answer;
  const reader = await open();
  stream.write('{"items":"everything"}');
  await reader.ended;
  assert.deepEqual(reader.events, []);
});

test('a reader that takes nothing holds the node back, and gets everything when it goes on', async () => {
  const PIECES = 150;
  const stream = node.stream();
  node.answer = () => stream.answer;
  const reader = await open();
  await reader.until(() => stream.isOpen());
  reader.pause();
  // 200 kB each: many times what the buffers of the connections on the way hold.
  const lines = Array.from({ length: 200 }, () => 'x'.repeat(1_000));
  let written = 0;
  let moved = 0;
  const pump = (async () => {
    for (; written < PIECES; written += 1) {
      await stream.writeAll(piece(written + 1, lines));
      moved = 0;
    }
  })();
  // Until nothing has moved for thousands of turns of the event loop that core, its reader and its node share.
  for (; moved < 5_000 && written < PIECES; moved += 1) await new Promise((resolve) => setImmediate(resolve));
  assert.ok(written < PIECES / 2, `core took ${written} pieces for a reader that took none`);
  reader.resume();
  await reader.until(({ lastEventId }) => lastEventId === String(PIECES));
  await pump;
  assert.equal(reader.events.length, PIECES);
  reader.close();
  await stream.left;
});

test('live logs count among the live streams of the account', async () => {
  node.answer = () => node.stream().answer;
  const readers: EventReader[] = [];
  for (let open_ = 0; open_ < limits.eventStreams.value; open_ += 1) readers.push(await open());
  assert.ok(readers.every(({ status }) => status === 200));
  assert.equal((await open()).status, 429);
  for (const reader of readers) reader.close();
  await Promise.all(readers.map(({ ended }) => ended));
});
