// When a workload may sleep, to the millisecond, on a clock that stands still.
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { type HeldClock, holdClock } from '../../test-support/held-clock.ts';
import { IdleWatch } from './idle-watch.ts';

const IDLE = 60_000;
const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

describe('a workload', () => {
  let clock: HeldClock;
  let busy: boolean;
  let asleep: number;
  let leasesEnd: () => Promise<number | null>;
  let questions: number;
  let watch: IdleWatch;

  beforeEach(() => {
    clock = holdClock();
    busy = false;
    asleep = 0;
    questions = 0;
    leasesEnd = async () => null;
    watch = new IdleWatch({
      idleMilliseconds: IDLE,
      clock,
      log,
      isBusy: () => busy,
      leasesEndIn: () => {
        questions += 1;
        return leasesEnd();
      },
      onIdle: () => {
        asleep += 1;
      },
    });
  });

  const pass = async (milliseconds: number) => {
    clock.advance(milliseconds);
    // Core's answer arrives in later turns of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
  };
  /** A lease that ends at a time of the clock. */
  const leaseUntil = (end: number) => {
    leasesEnd = async () => end - clock.now().getTime();
  };
  const inMilliseconds = (milliseconds: number) => clock.now().getTime() + milliseconds;

  test('sleeps when its idle delay has passed, and core is asked only then', async () => {
    await pass(IDLE - 1);
    assert.deepEqual([questions, asleep], [0, 0]);
    await pass(1);
    assert.deepEqual([questions, asleep, clock.timers()], [1, 1, []]);
  });

  for (const by of [100 * 86_400_000, -100 * 86_400_000])
    test(`a clock that is set by ${by / 86_400_000} days makes it sleep no sooner and no later`, async () => {
      await pass(1_000);
      clock.set(by);
      watch.signal();
      await pass(IDLE - 1);
      assert.deepEqual([questions, asleep], [0, 0]);
      clock.set(-by);
      await pass(1);
      assert.equal(asleep, 1);
    });

  test('is idle from the end of its last request, not from its begin', async () => {
    busy = true;
    watch.signal();
    await pass(10 * IDLE + 5_000);
    busy = false;
    watch.signal();
    await pass(IDLE - 1);
    assert.equal(asleep, 0);
    await pass(1);
    assert.equal(asleep, 1);
  });

  test('with a lease sleeps its idle delay after the lease has ended', async () => {
    leaseUntil(inMilliseconds(IDLE + 5_000));
    await pass(IDLE);
    await pass(5_000 + IDLE - 1);
    assert.equal(asleep, 0);
    await pass(1);
    assert.deepEqual([asleep, questions], [1, 2]);
  });

  test('whose lease ended before it was asked about sleeps its idle delay after that end', async () => {
    leaseUntil(inMilliseconds(20_000));
    await pass(IDLE);
    assert.equal(asleep, 0);
    await pass(20_000 - 1);
    assert.equal(asleep, 0);
    await pass(1);
    assert.equal(asleep, 1);
  });

  test('that releases its lease early sleeps its idle delay after the release', async () => {
    leaseUntil(inMilliseconds(IDLE + 300_000));
    await pass(IDLE);
    leasesEnd = async () => null;
    watch.signal();
    await pass(IDLE - 1);
    assert.equal(asleep, 0);
    await pass(1);
    assert.equal(asleep, 1);
  });

  test('stays awake while core cannot be asked, and sleeps when it answers again', async () => {
    leasesEnd = () => Promise.reject(new Error('core is away'));
    await pass(IDLE);
    for (let attempt = 0; attempt < 20; attempt += 1) await pass(10_000);
    assert.deepEqual([asleep, questions], [0, 21]);
    leasesEnd = async () => null;
    await pass(10_000);
    assert.equal(asleep, 1);
  });

  test('that is used while core is asked does not sleep, even within the same millisecond', async () => {
    const { promise, resolve } = Promise.withResolvers<number | null>();
    leasesEnd = () => promise;
    await pass(IDLE);
    watch.signal();
    resolve(null);
    await pass(IDLE - 1);
    assert.equal(asleep, 0);
    await pass(1);
    assert.equal(asleep, 1);
  });

  test('that has ended is watched no more', async () => {
    const { promise, resolve } = Promise.withResolvers<number | null>();
    leasesEnd = () => promise;
    await pass(IDLE);
    watch.end();
    resolve(null);
    watch.signal();
    await pass(10 * IDLE);
    assert.deepEqual([asleep, clock.timers()], [0, []]);
  });
});
