// A handle of a work lease: renewed within its bounds, never believed longer than it lasts, over when it is over.
import { strict as assert } from 'node:assert';
import { afterEach, beforeEach, test } from 'node:test';
import { type HeldClock, heldClock, until } from '../test-support/held-clock.ts';
import { LEASE_ID, LeaseServer } from '../test-support/lease-server.ts';
import type { ServiceAccess } from './call-options.ts';
import { acquireWorkLease, type WorkLeaseOptions } from './work-lease.ts';

let server: LeaseServer;
let access: ServiceAccess;
let calls: readonly string[];
let clock: HeldClock;

beforeEach(async () => {
  server = new LeaseServer();
  access = await server.listen();
  calls = server.calls;
  clock = heldClock();
});
afterEach(() => server.close());

const acquire = (options: WorkLeaseOptions) => acquireWorkLease(access, options, clock);

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
  server.status = 503;
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
  server.status = 404;
  clock.advance(20_000);
  await new Promise((resolve) => lease.ended.addEventListener('abort', resolve));
  assert.equal((lease.ended.reason as { code: string }).code, 'lease_lost');
  assert.equal(clock.timers(), 0);
  await assert.rejects(lease.renew(), { code: 'not_found' });
});

test('its block releases it, and releasing again does nothing', async () => {
  {
    await using lease = await acquire({ renewForSeconds: 600 });
    assert.equal(lease.id, LEASE_ID);
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
  server.status = 404;
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
