// How many runs there are and for how long, lists of them, and what their owner sees.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { limits, type WorkflowRun, type WorkflowSummary, type WorkflowTimeline } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { installTestApp } from '../../../../tests/support/installed-app.ts';
import type { RawAnswer } from '../../../../tests/support/raw-http.ts';
import { assertRefused, claimedFrom, runFrom, type Workflows, workflowsOf } from '../../test-support/workflows.ts';
import { workflowHousekeeping } from './housekeeping.ts';

const START = Date.parse('2026-11-21T10:00:00.000Z');

let platform: Constellation;
let account: TestAccount;
let shop: Workflows;
let now = START;
let apps = 0;
let appId = '';

before(async () => {
  platform = await startConstellation({ clock: () => new Date(now) });
  account = await registerAccount(platform, 'merchant');
});
after(() => platform.close());
beforeEach(async () => {
  now = START;
  apps += 1;
  appId = `shop-${apps}`;
  shop = workflowsOf(await installTestApp(platform, account, appId, []));
});

const created = async (idempotencyKey: string, more: object = {}): Promise<WorkflowRun> =>
  runFrom(await shop.create({ idempotencyKey, ...more }), 201);

interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

/** Every page of a list. */
async function pages<Item>(read: (query: string) => Promise<RawAnswer>, query = ''): Promise<Item[][]> {
  const all: Item[][] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const answer: RawAnswer = await read(`?${query}${cursor === '' ? '' : `&cursor=${cursor}`}`);
    assert.equal(answer.status, 200, answer.text);
    const page = answer.json as Page<Item>;
    all.push([...page.items]);
    cursor = page.nextCursor;
  }
  return all;
}

async function createMany(count: number, more: object = {}): Promise<WorkflowRun[]> {
  const all: WorkflowRun[] = [];
  for (let done = 0; done < count; done += 16) {
    const part = Array.from({ length: Math.min(16, count - done) }, (_, index) => `run-${done + index}`);
    all.push(...(await Promise.all(part.map((name) => created(name, more)))));
  }
  return all;
}

test('the 257th run replaces the one that ended first, never a running one', async () => {
  const runs = await createMany(256);
  const refused = await shop.create({ idempotencyKey: 'more' });
  assertRefused(refused, 429, 'workflow_run_limit');
  assert.ok(Number(refused.headers['retry-after']) > 0);
  const [first, second] = [runs[7], runs[3]];
  assert.ok(first && second);
  now += 1_000;
  await shop.end(first.id, { status: 'completed' });
  now += 1_000;
  await shop.end(second.id, { status: 'failed', error: { message: 'no' } });
  await created('more');
  assertRefused(await shop.read(first.id), 404, 'not_found');
  assert.equal(runFrom(await shop.read(second.id)).status, 'failed');
  const atOnce = await Promise.all(['a', 'b', 'c'].map((name) => shop.create({ idempotencyKey: name })));
  assert.deepEqual(atOnce.map(({ status }) => status).sort(), [201, 429, 429]);
  now += 3_600_000;
  await created('after all expired');
});

test('inputs and results of all runs are bounded together', async () => {
  const kept = await created('kept');
  const ended = await created('ended');
  await shop.end(ended.id, { status: 'completed' });
  const { pool } = platform.core.context;
  const almost = limits.workflowStored.value - 100;
  await pool.query('UPDATE workflow_runs SET stored_bytes = $2 WHERE id = $1', [ended.id, almost]);
  await created('replaces the one that ended', { input: 'x'.repeat(200) });
  assertRefused(await shop.read(ended.id), 404, 'not_found');
  await pool.query('UPDATE workflow_runs SET stored_bytes = $2 WHERE id = $1', [kept.id, almost]);
  assertRefused(await shop.create({ idempotencyKey: 'none', input: 'x'.repeat(200) }), 429, 'workflow_run_limit');
});

test('activities have room in the sum of all running runs, for their results too', async () => {
  const [large, small, third] = [await created('large'), await created('small'), await created('third')];
  const begun = claimedFrom(await shop.claim(small.id, 'begun'));
  const failing = claimedFrom(await shop.claim(small.id, 'failing'));
  const { pool } = platform.core.context;
  const hold = (bytes: number) =>
    pool.query('UPDATE workflow_runs SET stored_bytes = $2 WHERE id = $1', [large.id, bytes]);
  await hold(limits.workflowStored.value);
  const refused = await shop.claim(large.id, 'one-more');
  assertRefused(refused, 429, 'workflow_run_limit');
  assert.ok(Number(refused.headers['retry-after']) > 0);
  // What was begun goes on.
  const result = 'x'.repeat(limits.workflowInput.value - 2);
  assert.equal((await shop.complete(small.id, begun.id, { leaseToken: begun.leaseToken, result })).status, 200);
  const { leaseToken } = failing;
  await shop.complete(small.id, failing.id, { leaseToken, error: { message: 'later' } });
  claimedFrom(await shop.claim(small.id, 'failing'));
  const heldBytes = async (id: string) =>
    Number((await pool.query('SELECT stored_bytes FROM workflow_runs WHERE id = $1', [id])).rows[0]?.stored_bytes);
  assert.equal(await heldBytes(small.id), 4 * 3 + 2 * limits.workflowInput.value);
  // A run within its share looks at no other, one beyond it does.
  claimedFrom(await shop.claim(third.id, 'within-its-share'));
  await pool.query('UPDATE workflow_runs SET stored_bytes = $2 WHERE id = $1', [
    third.id,
    limits.workflowStored.value / limits.workflowRuns.value,
  ]);
  assertRefused(await shop.claim(third.id, 'beyond-its-share'), 429, 'workflow_run_limit');
  await shop.end(large.id, { status: 'completed' });
  claimedFrom(await shop.claim(third.id, 'beyond-its-share'));
});

test('256 activities with the largest inputs and results fit into one run', async () => {
  const { id } = await created('full');
  const { pool } = platform.core.context;
  const value = 'x'.repeat(limits.workflowInput.value - 2);
  const once = async (step: number) => {
    const claim = claimedFrom(await shop.claim(id, `step-${step}`, { activity: 'work', input: value }));
    const { leaseToken } = claim;
    assert.equal((await shop.complete(id, claim.id, { leaseToken, result: value })).status, 200);
  };
  for (let step = 0; step < limits.workflowActivities.value; step += 16)
    await Promise.all(Array.from({ length: 16 }, (_, more) => once(step + more)));
  assertRefused(await shop.claim(id, 'one-more'), 429, 'activity_limit');
  const { rows } = await pool.query('SELECT stored_bytes FROM workflow_runs WHERE id = $1', [id]);
  assert.equal(Number(rows[0]?.stored_bytes), 4 + 2 * 256 * limits.workflowInput.value);
});

test('lists are newest first, filtered, and end a page early when it grows large', async () => {
  for (let index = 0; index < 5; index += 1) {
    now += 1;
    await created(`run-${index}`, { definition: index % 2 === 0 ? 'even' : 'odd' });
  }
  const keys = (all: WorkflowRun[][]) => all.map((page) => page.map(({ idempotencyKey }) => idempotencyKey));
  assert.deepEqual(keys(await pages(shop.list, 'limit=2')), [['run-4', 'run-3'], ['run-2', 'run-1'], ['run-0']]);
  assert.deepEqual(keys(await pages(shop.list, 'limit=2&definition=even')), [['run-4', 'run-2'], ['run-0']]);
  assert.deepEqual(keys(await pages(shop.list, 'status=completed')), [[]]);
  const { nextCursor } = (await shop.list('?limit=2')).json as Page<WorkflowRun>;
  assertRefused(await shop.list(`?definition=odd&cursor=${nextCursor}`), 400, 'invalid_cursor');
  const large = limits.workflowInput.value - 2;
  await createMany(40, { definition: 'large', input: 'x'.repeat(large) });
  const sizes = (await pages<WorkflowRun>(shop.list, 'limit=200&definition=large')).map(({ length }) => length);
  assert.deepEqual(sizes, [32, 8], '1 MiB a page');
});

test('history has pages', async () => {
  const { id } = await created('run');
  for (const step of ['a', 'b', 'c']) claimedFrom(await shop.claim(id, step));
  const all = await pages<{ sequence: number }>((query) => shop.history(id, query), 'limit=2');
  assert.deepEqual(
    all.map((page) => page.map(({ sequence }) => sequence)),
    [
      [1, 2],
      [3, 4],
    ],
  );
});

test('a history has at most 10,000 entries', async () => {
  const { id } = await created('run');
  const { pool } = platform.core.context;
  await pool.query('UPDATE workflow_runs SET last_sequence = $2 WHERE id = $1', [id, limits.workflowHistory.value - 1]);
  const claim = claimedFrom(await shop.claim(id, 'last'));
  assertRefused(await shop.claim(id, 'one-more'), 429, 'activity_limit');
  assert.equal((await shop.complete(id, claim.id, { leaseToken: claim.leaseToken, result: 1 })).status, 200);
  assert.equal((await shop.end(id, { status: 'completed' })).status, 200);
});

test('the owner sees structure, times and sizes, no inputs and results', async () => {
  const { id } = await created('run', { input: 'secret input' });
  const done = claimedFrom(await shop.claim(id, 'done', { activity: 'charge', input: 'secret' }));
  await shop.complete(id, done.id, { leaseToken: done.leaseToken, result: 'secret result' });
  now += 1;
  const failed = claimedFrom(await shop.claim(id, 'failed'));
  await shop.complete(id, failed.id, { leaseToken: failed.leaseToken, error: { message: 'no' } });
  now += 1;
  claimedFrom(await shop.claim(id, 'lost'));
  now += 60_000;
  claimedFrom(await shop.claim(id, 'open'));
  const answer = await account.fetch(`/v1/apps/${appId}/workflows/${id}`);
  assert.equal(answer.status, 200, answer.text);
  assert.doesNotMatch(answer.text, /secret/);
  const { run, activities, events } = answer.json as WorkflowTimeline;
  assert.deepEqual([run.status, run.inputBytes, run.resultBytes, run.activities], ['running', 14, null, 4]);
  assert.deepEqual(
    activities.map(({ step, name, state, inputBytes, resultBytes }) => [step, name, state, inputBytes, resultBytes]),
    [
      ['done', 'charge', 'completed', 8, 15],
      ['failed', 'work', 'failed', 4, null],
      ['lost', 'work', 'lease-expired', 4, null],
      ['open', 'work', 'claimed', 4, null],
    ],
  );
  assert.equal(events.length, 7);
  const list = await pages<WorkflowSummary>((query) => account.fetch(`/v1/apps/${appId}/workflows${query}`), 'limit=1');
  assert.deepEqual(list, [[run]]);
  const stranger = await registerAccount(platform, 'stranger');
  assertRefused(await stranger.fetch(`/v1/apps/${appId}/workflows/${id}`), 404, 'not_found');
});

test('a run is removed a week after it ended, an expired one a week after it expired', async () => {
  const task = workflowHousekeeping(platform.core.context);
  const ended = await created('ended');
  const expiring = await created('expiring', { durationSeconds: 3_600 });
  const running = await created('running', { durationSeconds: 604_800 });
  await shop.end(ended.id, { status: 'completed' });
  now = START + 3_600_000;
  await task.run();
  const { rows } = await platform.core.context.pool.query('SELECT status FROM workflow_runs WHERE id = $1', [
    expiring.id,
  ]);
  assert.deepEqual(rows, [{ status: 'expired' }]);
  const week = limits.workflowKeptDays.value * 86_400_000;
  now = START + week;
  await task.run();
  assertRefused(await shop.read(ended.id), 404, 'not_found');
  assert.equal(runFrom(await shop.read(expiring.id)).status, 'expired');
  now += 3_600_000;
  await task.run();
  assertRefused(await shop.read(expiring.id), 404, 'not_found');
  assert.equal(runFrom(await shop.read(running.id)).status, 'expired');
});

test('runs end with their app', async () => {
  const { id } = await created('run');
  assert.equal((await account.fetch(`/v1/apps/${appId}`, { method: 'DELETE' })).status, 204);
  // Later than any round before.
  now = START + 30 * 86_400_000;
  await workflowHousekeeping(platform.core.context).run();
  const { rows } = await platform.core.context.pool.query('SELECT FROM workflow_runs WHERE id = $1', [id]);
  assert.equal(rows.length, 0);
});
