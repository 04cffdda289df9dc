// Promises of jobs: each is worked on by one replica at a time until it is done, one that fails waits longer each time, and
// what belongs to its end happens with it or not at all.
import assert from 'node:assert/strict';
import { after, before, beforeEach, type TestContext, test } from 'node:test';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { until } from '../../../../tests/support/wait.ts';
import type { CoreContext } from '../context.ts';
import { notifyStatement } from '../database/signals.ts';
import { JobTable } from './job-queries.ts';
import { type JobKind, type JobOutcome, jobWorker } from './jobs.ts';

/** Nobody else works on these: the platform of the test has no object store. */
const jobs = new JobTable<string>('abandoned_objects', 'installation_id');

let world: Constellation;
let context: CoreContext;
before(async () => {
  world = await startConstellation();
  ({ context } = world.core);
});
after(() => world.close());
beforeEach(() => context.pool.query('DELETE FROM abandoned_objects'));

const add = (...ids: string[]) =>
  context.pool.query('INSERT INTO abandoned_objects (installation_id, due_at) SELECT unnest($1::text[]), now()', [ids]);
const wake = () => context.pool.query(notifyStatement('data-abandoned', {}));

async function rows(): Promise<{ readonly id: string; readonly attempts: number; readonly due: Date }[]> {
  const { rows: found } = await context.pool.query(
    'SELECT installation_id AS id, attempts, due_at AS due FROM abandoned_objects ORDER BY 1',
  );
  return found;
}

/** A replica's worker, stopped at the end of the test. */
function start(t: TestContext, kind: JobKind<string>, on = context) {
  const worker = jobWorker(on, kind);
  worker.start();
  t.after(() => worker.stop());
  return worker;
}

function kindOf(run: JobKind<string>['run'], more: Partial<JobKind<string>> = {}): JobKind<string> {
  return { name: 'jobs of a test', jobs, wakeOn: 'data-abandoned', slots: 2, leaseMilliseconds: 60_000, run, ...more };
}

test('jobs that stood there and jobs that come are done, each by one replica at a time', async (t) => {
  await add('a', 'b', 'c');
  const begun: string[] = [];
  const kind = kindOf(async ({ id }) => {
    begun.push(id);
    return 'done';
  });
  for (let replica = 0; replica < 3; replica += 1) start(t, kind);
  await until('those that stood there are done', async () => (await rows()).length === 0);
  await add('d');
  await wake();
  await until('the one that came is done', async () => begun.length === 4 && (await rows()).length === 0);
  assert.deepEqual(begun.sort(), ['a', 'b', 'c', 'd']);
});

test('a job whose replica was killed is repeated when its lease has run out, and not before', async () => {
  await add('a');
  const now = new Date(Date.now() + 1_000);
  const lease = { now, until: new Date(now.getTime() + 60_000), atMost: 10 };
  assert.deepEqual(await jobs.claim(context.database, lease), [{ id: 'a', attempts: 1 }]);
  assert.deepEqual(await jobs.claim(context.database, lease), []);
  assert.deepEqual(await jobs.nextDue(context.database), lease.until);
  const later = { ...lease, now: lease.until, until: new Date(now.getTime() + 120_000) };
  assert.deepEqual(await jobs.claim(context.database, later), [{ id: 'a', attempts: 2 }]);
});

test('one that fails waits longer each time, until it gets on', async (t) => {
  const now = new Date();
  const stopped: CoreContext = { ...context, clock: () => now, random: (bytes) => Buffer.alloc(bytes) };
  const inAnHour = 3_600_000;
  const outcomes: JobOutcome[] = ['failed', 'failed', { again: new Date(now.getTime() + inAnHour) }, 'failed'];
  await add('a');
  const tryNow = async () => {
    await context.pool.query('UPDATE abandoned_objects SET due_at = $1', [now]);
    await wake();
  };
  await tryNow();
  start(
    t,
    kindOf(async () => outcomes.shift() ?? 'done'),
    stopped,
  );
  for (const wait of [500, 1_000, inAnHour, 500]) {
    await until(`it waits for ${wait} ms`, async () => (await rows())[0]?.due.getTime() === now.getTime() + wait);
    await tryNow();
  }
  await until('it is done', async () => (await rows()).length === 0);
});

test('what belongs to the end of a job happens with it, once, or leaves it there', async (t) => {
  await add('bad', 'good');
  const ended: string[] = [];
  start(
    t,
    kindOf(async ({ id }) => async (trx) => {
      await jobs.end(trx, 'no such job');
      if (id === 'bad') throw new Error('it cannot end');
      ended.push(id);
    }),
  );
  await until('one has ended', () => ended.length === 1);
  await until('the other failed', () => world.log.some(({ message }) => message === 'background work failed'));
  assert.deepEqual(
    (await rows()).map(({ id, attempts }) => [id, attempts]),
    [['bad', 1]],
  );
  assert.equal(await jobs.end(context.database, 'good'), false, 'a replica that was too slow learns that it has ended');
});

test('jobs that this core cannot do wait', async (t) => {
  await add('a');
  const worker = start(
    t,
    kindOf(() => assert.fail('it cannot be done'), { possible: false }),
  );
  await wake();
  await worker.stop();
  assert.deepEqual(
    (await rows()).map(({ id, attempts }) => [id, attempts]),
    [['a', 0]],
  );
});
