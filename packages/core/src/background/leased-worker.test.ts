// Promises of background work: what is due is done by one replica at a time, what fails is done again, and a stop ends it
// in bounded time.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import type { CoreContext } from '../context.ts';
import { notifyStatement } from '../database/signals.ts';
import { endNamedLease, isNamedLeaseHeld, namedLeaseDue, takeNamedLease } from './lease-queries.ts';
import { backOff, type LeasedWork, LeasedWorker } from './leased-worker.ts';

let world: Constellation;
let context: CoreContext;
before(async () => {
  world = await startConstellation();
  ({ context } = world.core);
});
after(() => world.close());

async function signal(): Promise<void> {
  await context.pool.query(notifyStatement('search-queued', {}));
}

/** Work on items that are claimed from a list, under names that stand for them. */
function workOn(items: string[], more: Partial<LeasedWork<string>> & Pick<LeasedWork<string>, 'run'>) {
  return new LeasedWorker<string>(context, {
    name: 'work of a test',
    wakeOn: 'search-queued',
    slots: 2,
    leaseMilliseconds: 60_000,
    claim: async (_lease, atMost) => items.splice(0, atMost),
    nextDue: async () => null,
    ...more,
  });
}

test('what is due is claimed at once and at each signal, never more than there are slots', async () => {
  const items = ['a', 'b', 'c'];
  const done: string[] = [];
  const all = Promise.withResolvers<void>();
  let atOnce = 0;
  let most = 0;
  const worker = workOn(items, {
    async run(item) {
      atOnce += 1;
      most = Math.max(most, atOnce);
      await context.pool.query('SELECT 1');
      atOnce -= 1;
      done.push(item);
      if (item === 'c') await signal();
      if (item === 'd') all.resolve();
      else if (item === 'c') items.push('d');
    },
  });
  worker.start();
  await all.promise;
  await worker.stop();
  assert.deepEqual(done.sort(), ['a', 'b', 'c', 'd']);
  assert.equal(most, 2);
});

test('a claim that fails is tried again, later each time, and the log says so', async () => {
  let claims = 0;
  const claimed = Promise.withResolvers<void>();
  const worker = workOn([], {
    claim: async () => {
      claims += 1;
      if (claims === 1) throw new Error('the database is away');
      claimed.resolve();
      return [];
    },
    run: () => Promise.resolve(),
  });
  worker.start();
  await claimed.promise;
  await worker.stop();
  assert.ok(world.log.some(({ message }) => message.startsWith('background work could not be claimed')));
  const waits = [0, 1, 2, 30].map((failures) => backOff(context, failures, { first: 1_000, longest: 3_000 }));
  for (const [place, most] of [1_000, 2_000, 3_000, 3_000].entries()) {
    const wait = waits[place] ?? 0;
    assert.ok(wait >= most / 2 && wait <= most, `${wait}`);
  }
});

test('work that fails is logged and ends neither the worker nor other work', async () => {
  const ended = Promise.withResolvers<void>();
  const worker = workOn(['bad', 'good'], {
    async run(item) {
      if (item === 'bad') throw new Error('not this one');
      ended.resolve();
    },
  });
  worker.start();
  await ended.promise;
  await worker.stop();
  assert.ok(world.log.some(({ level, message }) => level === 'error' && message === 'background work failed'));
});

test('a stop begins nothing more, and ends what goes on beyond the grace', async () => {
  const items = ['slow', 'never'];
  const begun: string[] = [];
  const running = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<void>();
  let stoppedFirst = false;
  let closed = false;
  const worker = workOn(items, {
    slots: 1,
    graceMilliseconds: 20,
    async run(item, _lease, stopping) {
      begun.push(item);
      running.resolve();
      await aborted.promise;
      stoppedFirst = stopping.aborted;
    },
    abort: () => aborted.resolve(),
    close: async () => {
      closed = true;
    },
  });
  worker.start();
  await running.promise;
  await worker.stop();
  assert.deepEqual([begun, stoppedFirst, closed], [['slow'], true, true]);
});

test('of many that take a named lease one gets it, and holds it alone until it ends', async () => {
  const { pool, database } = context;
  const now = new Date(Date.now());
  const until = new Date(now.getTime() + 60_000);
  const taken = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      takeNamedLease(pool, 'of-a-test', { due: now, until: new Date(until.getTime() + index) }),
    ),
  );
  assert.equal(taken.filter(Boolean).length, 1);
  const held = (await namedLeaseDue(pool, 'of-a-test')) ?? assert.fail('the lease is not held');
  const isHeld = (end: Date) => database.transaction().execute((trx) => isNamedLeaseHeld(trx, 'of-a-test', end));
  assert.equal(await isHeld(held), true);
  assert.equal(await isHeld(new Date(held.getTime() + 1)), false, 'another held it');
  await endNamedLease(pool, 'of-a-test', { until: new Date(held.getTime() + 1), next: now });
  assert.equal(await isHeld(held), true, 'a holder that was too slow does not release the lease of the next');
  await endNamedLease(pool, 'of-a-test', { until: held, next: now });
  assert.equal(await takeNamedLease(pool, 'of-a-test', { due: now, until }), true);
});
