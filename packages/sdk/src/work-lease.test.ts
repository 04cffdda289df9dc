// A handle of a work lease: renewed within its bounds, never believed longer than it lasts, over when it is over.
import { strict as assert } from 'node:assert';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, test } from 'node:test';
import type { ServiceAccess } from './call-options.ts';
import type { Clock } from './clock.ts';
import { acquireWorkLease, type WorkLeaseOptions } from './work-lease.ts';

const ID = 'lease-01890000-0000-7000-8000-000000000001';

/** Answers like core; the tests say how. */
let access: ServiceAccess;
let calls: string[];
let status: number;
let close: () => void;
/** A clock that stands still. */
let clock: Clock & { advance(milliseconds: number): void; timers(): number };

beforeEach(async () => {
  calls = [];
  status = 200;
  const server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  access = { api: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: 'pgw_test' };
  clock = heldClock();
  close = () => {
    server.closeAllConnections();
    server.close();
  };
});
afterEach(() => close());

function answer(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  const isCreate = request.url?.endsWith('/work-leases') === true;
  const what = isCreate ? 'create' : request.method === 'DELETE' ? 'release' : 'renew';
  calls.push(what);
  const refused = status >= 400 && !isCreate;
  if (what === 'release' && !refused) return void response.writeHead(204).end();
  const code = status === 404 ? 'not_found' : 'unavailable';
  // Each answer names another time, so that a test sees which one the handle has taken.
  const lease = { id: ID, expiresAt: new Date(calls.length * 1_000).toISOString() };
  response
    .writeHead(refused ? status : 200, { 'content-type': 'application/json' })
    .end(JSON.stringify(refused ? { code, detail: 'No.', status } : { lease }));
}

function heldClock(): typeof clock {
  let now = 0;
  let timers: { due: number; action: () => void }[] = [];
  return {
    now: () => now,
    after(milliseconds, action) {
      const timer = { due: now + milliseconds, action };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    advance(milliseconds) {
      now += milliseconds;
      for (const timer of timers.filter(({ due }) => due <= now)) {
        timers = timers.filter((other) => other !== timer);
        timer.action();
      }
    },
    timers: () => timers.length,
  };
}

const acquire = (options: WorkLeaseOptions) => acquireWorkLease(access, options, clock);

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

test('it is renewed at a third of its duration, and not beyond the time it was asked for', async () => {
  const lease = await acquire({ durationSeconds: 60, renewForSeconds: 50 });
  const taken = (call: number) => until(() => lease.expiresAt.getTime() === call * 1_000);
  clock.advance(19_999);
  assert.deepEqual(calls, ['create']);
  clock.advance(1);
  await taken(2);
  clock.advance(20_000);
  await taken(3);
  // The next would be at 60 s, beyond the 50.
  clock.advance(59_999);
  assert.equal(lease.ended.aborted, false);
  clock.advance(1);
  assert.equal((lease.ended.reason as { code: string }).code, 'lease_lost');
  assert.deepEqual(calls, ['create', 'renew', 'renew']);
  assert.equal(clock.timers(), 0);
});

test('without renewal it runs out', async () => {
  const lease = await acquire({ durationSeconds: 15 });
  clock.advance(14_999);
  assert.equal(lease.ended.aborted, false);
  clock.advance(1);
  assert.equal(lease.ended.aborted, true);
  await lease.release();
  assert.deepEqual(calls, ['create'], 'what is over is not released');
});

test('a renewal that fails is tried again, and when none succeeds the lease is over in time', async () => {
  const lease = await acquire({ durationSeconds: 60, renewForSeconds: 3_600 });
  status = 503;
  clock.advance(20_000);
  // Its end, and after the failure the next attempt.
  await until(() => calls.length === 2 && clock.timers() === 2);
  assert.equal(lease.ended.aborted, false);
  clock.advance(20_000);
  await until(() => calls.length === 3);
  clock.advance(20_000);
  assert.equal((lease.ended.reason as { code: string }).code, 'lease_lost');
});

test('a lease that the platform ended is over at the next renewal', async () => {
  const lease = await acquire({ durationSeconds: 60, renewForSeconds: 3_600 });
  status = 404;
  clock.advance(20_000);
  await new Promise((resolve) => lease.ended.addEventListener('abort', resolve));
  assert.equal((lease.ended.reason as { code: string }).code, 'lease_lost');
  assert.equal(clock.timers(), 0);
  await assert.rejects(lease.renew(), { code: 'not_found' });
});

test('its block releases it, and releasing again does nothing', async () => {
  {
    await using lease = await acquire({ renewForSeconds: 600 });
    assert.equal(lease.id, ID);
  }
  assert.deepEqual(calls, ['create', 'release']);
  const lease = await acquire({});
  await lease.release();
  await lease.release();
  assert.deepEqual(calls, ['create', 'release', 'create', 'release']);
  assert.equal((lease.ended.reason as Error).name, 'AbortError');
  assert.equal(clock.timers(), 0);
});

test('releasing what the platform had ended already is no error', async () => {
  const lease = await acquire({});
  status = 404;
  await lease.release();
});

test('its signal releases it', async () => {
  const work = new AbortController();
  const lease = await acquire({ signal: work.signal });
  work.abort();
  assert.equal(lease.ended.aborted, true);
  await until(() => calls.length === 2);
  assert.deepEqual(calls, ['create', 'release']);
  const late = acquire({ signal: work.signal });
  await assert.rejects(late, { name: 'AbortError' });
});
