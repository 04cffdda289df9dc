// One work lease for all runs of a workload: not for short ones, for as long as there is any, and again when it was lost.
import { strict as assert } from 'node:assert';
import { afterEach, beforeEach, test } from 'node:test';
import { type HeldClock, heldClock, until } from '../test-support/held-clock.ts';
import { LeaseServer } from '../test-support/lease-server.ts';
import { Awake } from './keep-awake.ts';

const SOON = 2_000;
const AGAIN = 10_000;
/** Of a lease of 60 seconds. */
const RENEWAL = 20_000;

let server: LeaseServer;
let clock: HeldClock;
let awake: Awake;

beforeEach(async () => {
  server = new LeaseServer();
  clock = heldClock();
  awake = new Awake(await server.listen(), clock);
});
afterEach(() => server.close());

/** Until the workload has a lease: its timers are for the end and the next renewal. */
async function acquired(calls: number): Promise<void> {
  await until(() => server.calls.length === calls && clock.timers() === 2);
}

test('a run of less than two seconds needs no lease', async () => {
  const run = awake.hold();
  clock.advance(SOON - 1);
  run[Symbol.dispose]();
  clock.advance(SOON);
  clock.advance(AGAIN);
  assert.deepEqual(server.calls, []);
  assert.equal(clock.timers(), 0);
});

test('several runs have one lease, from two seconds after the first began to two seconds after the last ended', async () => {
  const first = awake.hold();
  clock.advance(SOON);
  await acquired(1);
  const second = awake.hold();
  first[Symbol.dispose]();
  clock.advance(SOON);
  assert.deepEqual(server.calls, ['create']);
  second[Symbol.dispose]();
  clock.advance(SOON - 1);
  assert.deepEqual(server.calls, ['create']);
  clock.advance(1);
  await until(() => server.calls.length === 2);
  assert.deepEqual(server.calls, ['create', 'release']);
});

test('a run that begins before the release keeps the lease', async () => {
  const first = awake.hold();
  clock.advance(SOON);
  await acquired(1);
  first[Symbol.dispose]();
  clock.advance(SOON - 1);
  const second = awake.hold();
  clock.advance(SOON);
  assert.deepEqual(server.calls, ['create']);
  assert.equal(clock.timers(), 2);
  second[Symbol.dispose]();
});

test('the lease is renewed as long as a run lasts', async () => {
  const run = awake.hold();
  clock.advance(SOON);
  await acquired(1);
  for (let renewal = 1; renewal <= 5; renewal += 1) {
    clock.advance(RENEWAL);
    await acquired(1 + renewal);
  }
  assert.deepEqual(server.calls, ['create', ...Array(5).fill('renew')]);
  run[Symbol.dispose]();
});

test('a lease that was lost is acquired again, ten seconds later', async () => {
  const run = awake.hold();
  clock.advance(SOON);
  await acquired(1);
  server.status = 404;
  clock.advance(RENEWAL);
  await until(() => clock.next() === AGAIN);
  clock.advance(AGAIN - 1);
  assert.deepEqual(server.calls, ['create', 'renew']);
  clock.advance(1);
  await acquired(3);
  assert.deepEqual(server.calls, ['create', 'renew', 'create']);
  run[Symbol.dispose]();
});

test('a lease that is refused is asked for again, and no more when there is no run', async () => {
  server.createStatus = 503;
  const run = awake.hold();
  clock.advance(SOON);
  await until(() => server.calls.length === 1 && clock.next() === AGAIN);
  clock.advance(AGAIN);
  await until(() => server.calls.length === 2 && clock.next() === AGAIN);
  run[Symbol.dispose]();
  clock.advance(AGAIN);
  clock.advance(AGAIN);
  assert.deepEqual(server.calls, ['create', 'create']);
  assert.equal(clock.timers(), 0);
});
