// Promises of one stream about time: it shows that it is alive, it ends, and it does not wait for ever for a reader.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { registerAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { type EventReader, openEvents } from '../../../../tests/support/event-reader.ts';
import { installTestApp } from '../../../../tests/support/installed-app.ts';
import type { SessionCaller } from '../accounts/sessions/session-caller.ts';
import { notificationEmissions } from '../notifications/emissions.ts';
import { AccountStream } from './account-stream.ts';
import { EventConnection, type StreamTiming } from './event-connection.ts';

const HOUR = 3_600_000;

let world: Constellation;
let caller: SessionCaller;
before(async () => {
  world = await startConstellation();
  const account = await registerAccount(world, 'patient');
  const app = await installTestApp(world, account, 'sender', [{ id: 'notifications.publish', resources: ['*'] }]);
  const { pool } = world.core.context;
  const { rows } = await pool.query<{ key: string }>("SELECT key FROM accounts WHERE name = 'patient'");
  const now = new Date();
  caller = {
    kind: 'session',
    sessionId: 'ses-test',
    accountKey: rows[0]?.key ?? '',
    accountName: 'patient',
    accountCreatedAt: now,
    deletesAt: null,
    createdAt: now,
    expiresAt: new Date(now.getTime() + HOUR),
  };
  // More than the buffers of a connection hold: 10,000 notifications of 4 kB.
  await pool.query(
    `INSERT INTO notifications (id, account_key, installation_id, app_id, topic, title, body, priority, delivery, created_at)
     SELECT 'ntf-' || gen_random_uuid(), $1, $2, 'sender', 'news', 'n' || n, repeat('é', 2000), 'low', 'inbox', now()
       FROM generate_series(1, 10000) AS n`,
    [caller.accountKey, app.installationId],
  );
});
after(() => world.close());

interface Opened {
  readonly reader: EventReader;
  readonly stream: AccountStream;
  readonly connection: EventConnection;
  /** Resolves when the server's side of the connection is gone. */
  readonly gone: Promise<unknown>;
}

/** A stream that begins at `position`, over a real connection. */
async function open(position: string, timing: StreamTiming, who: SessionCaller = caller): Promise<Opened> {
  const { promise, resolve } = Promise.withResolvers<Omit<Opened, 'reader'>>();
  const server = http.createServer((_request, response) => {
    const { context } = world.core;
    const connection = new EventConnection(response);
    const stream = new AccountStream({ context, caller: who, emissions: notificationEmissions(context), connection });
    resolve({ stream, connection, gone: once(response, 'close') });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    connection.open(timing, { id: position, leftMilliseconds: who.expiresAt.getTime() - Date.now() });
    stream.start({ position, resumed: false });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const reader = await openEvents({ port, path: '/', headers: {} });
  server.close();
  return { reader, ...(await promise) };
}

test('a quiet stream shows that it is alive', async () => {
  const { reader } = await open('999999999', { heartbeatMilliseconds: 10, lifeMilliseconds: HOUR });
  await reader.until(({ comments }) => comments.length >= 3);
  assert.deepEqual(reader.events, []);
  reader.close();
});

test('a stream ends after its life, and at the end of its session', async () => {
  const lived = await open('999999999', { heartbeatMilliseconds: HOUR, lifeMilliseconds: 20 });
  await lived.reader.ended;
  const expiresAt = new Date(Date.now() + 20);
  const timing = { heartbeatMilliseconds: HOUR, lifeMilliseconds: HOUR };
  const expired = await open('999999999', timing, { ...caller, expiresAt });
  await expired.reader.ended;
});

test('a reader that takes nothing is dropped, and resumes without a gap', async () => {
  const timing = { heartbeatMilliseconds: 50, lifeMilliseconds: HOUR };
  const { reader, gone } = await open('0', timing);
  reader.pause();
  await gone;
  reader.resume();
  await reader.ended;
  const before = reader.events.length;
  assert.ok(before < 10_000, `${before} arrived before it was dropped`);
  const again = await open(reader.lastEventId ?? '0', { ...timing, heartbeatMilliseconds: HOUR });
  await again.reader.until(({ events }) => before + events.length === 10_000);
  again.reader.close();
});

test('a reader that is slow but takes something is not dropped', async () => {
  const { reader } = await open('0', { heartbeatMilliseconds: 250, lifeMilliseconds: HOUR });
  let rounds = 0;
  while (reader.events.length < 10_000) {
    const had = reader.events.length;
    await reader.until(({ events }) => events.length > had);
    reader.pause();
    await new Promise((resolve) => setImmediate(resolve));
    reader.resume();
    rounds += 1;
  }
  assert.ok(rounds > 10);
  reader.close();
});

test('a stream that is ended sends nothing more, though much is waiting', async () => {
  const { reader, stream, connection, gone } = await open('0', { heartbeatMilliseconds: HOUR, lifeMilliseconds: HOUR });
  stream.end();
  assert.equal(connection.ended, true);
  await gone;
  await reader.ended;
  assert.ok(reader.events.length < 10_000);
});
