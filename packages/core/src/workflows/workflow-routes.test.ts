// Runs and activities as an app uses them: identity, leases, what is refused, and what is written down.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { limits, type WorkflowRun } from '@platform/contract';
import { registerAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { installTestApp } from '../../../../tests/support/installed-app.ts';
import {
  activityFrom,
  assertRefused,
  claimedFrom,
  eventsOf,
  runFrom,
  type Workflows,
  workflowsOf,
} from '../../test-support/workflows.ts';

let platform: Constellation;
let shop: Workflows;
let other: Workflows;
let now = Date.parse('2026-11-21T10:00:00.000Z');
let key = 0;

before(async () => {
  platform = await startConstellation({ clock: () => new Date(now) });
  const account = await registerAccount(platform, 'merchant');
  shop = workflowsOf(await installTestApp(platform, account, 'shop', []));
  other = workflowsOf(await installTestApp(platform, account, 'other-shop', []));
});
after(() => platform.close());
beforeEach(() => {
  now = Date.parse('2026-11-21T10:00:00.000Z');
  key += 1;
});

const inSeconds = (seconds: number) => new Date(now + seconds * 1_000).toISOString();
const created = async (more: object = {}): Promise<WorkflowRun> =>
  runFrom(await shop.create({ idempotencyKey: `run-${key}`, ...more }), 201);

test('a run is created once, and recovered by its identity', async () => {
  const run = await created({ input: { b: 1, a: [true, null] } });
  const { id, ...rest } = run;
  assert.match(id, /^wf-/);
  assert.deepEqual(rest, {
    definition: 'order',
    version: 1,
    idempotencyKey: `run-${key}`,
    status: 'running',
    input: { b: 1, a: [true, null] },
    result: null,
    error: null,
    createdAt: inSeconds(0),
    updatedAt: inSeconds(0),
    expiresAt: inSeconds(3_600),
    completedAt: null,
    cleanupAt: null,
  });
  const same = await shop.create({
    idempotencyKey: `run-${key}`,
    input: { a: [true, null], b: 1 },
    durationSeconds: 9,
  });
  assert.deepEqual(runFrom(same, 200), run, 'the order of members does not count');
  assertRefused(await shop.create({ idempotencyKey: `run-${key}`, input: {} }), 409, 'workflow_conflict');
  for (const another of [{ version: 2 }, { definition: 'refund' }, { idempotencyKey: `other-${key}` }]) {
    assert.notEqual((await created(another)).id, id);
  }
  assert.notEqual(runFrom(await other.create({ idempotencyKey: `run-${key}`, input: {} }), 201).id, id);
});

test('of processes that create the same run at once, one does', async () => {
  const all = await Promise.all(Array.from({ length: 12 }, () => shop.create({ idempotencyKey: `run-${key}` })));
  assert.deepEqual(all.map(({ status }) => status).sort(), [...Array(11).fill(200), 201]);
  assert.equal(new Set(all.map(({ json }) => (json as { run: WorkflowRun }).run.id)).size, 1);
});

test('a step is claimed, renewed, completed once, and answers with its result ever after', async () => {
  const { id } = await created();
  const claim = claimedFrom(await shop.claim(id, 'pay', { activity: 'charge', input: { cents: 5 } }));
  assert.equal(claim.attempt, 1);
  assert.equal(claim.leaseExpiresAt, inSeconds(60));
  const leased = await shop.claim(id, 'pay', { activity: 'charge', input: { cents: 5 } });
  assertRefused(leased, 409, 'activity_leased');
  assert.equal(leased.headers['retry-after'], '60');
  now += 20_000;
  const renewed = activityFrom(await shop.renew(id, claim.id, claim.leaseToken));
  assert.equal(renewed.leaseExpiresAt, inSeconds(60));
  const body = { leaseToken: claim.leaseToken, result: { receipt: 'r-1', total: 5 } };
  const done = activityFrom(await shop.complete(id, claim.id, body));
  assert.deepEqual(done.result, { receipt: 'r-1', total: 5 });
  assert.equal(done.leaseExpiresAt, null);
  const reordered = { leaseToken: claim.leaseToken, result: { total: 5, receipt: 'r-1' } };
  assert.deepEqual(activityFrom(await shop.complete(id, claim.id, reordered)), done, 'a lost answer is repeated');
  assertRefused(await shop.complete(id, claim.id, { ...body, result: 6 }), 409, 'activity_conflict');
  const again = await shop.claim(id, 'pay', { activity: 'charge', input: { cents: 5 } });
  assert.deepEqual(again.json, {
    outcome: 'completed',
    activity: { id: claim.id, step: 'pay', name: 'charge', attempt: 1, result: { receipt: 'r-1', total: 5 } },
  });
  assertRefused(await shop.renew(id, claim.id, claim.leaseToken), 409, 'lease_lost');
  assert.deepEqual(await eventsOf(shop, id), ['1 created', '2 activity-claimed pay#1', '3 activity-completed pay#1']);
});

test('a claim that is repeated with its token, because the answer was lost, has one lease', async () => {
  const { id } = await created();
  const body = { activity: 'charge', input: 1, leaseToken: 'a'.repeat(43) };
  const both = await Promise.all([shop.claim(id, 'pay', body), shop.claim(id, 'pay', body)]);
  const claim = claimedFrom(await shop.claim(id, 'pay', body));
  for (const one of both) assert.deepEqual(claimedFrom(one), claim);
  assert.deepEqual([claim.attempt, claim.leaseToken], [1, body.leaseToken]);
  assertRefused(await shop.claim(id, 'pay', { ...body, leaseToken: 'b'.repeat(43) }), 409, 'activity_leased');
  assertRefused(await shop.claim(id, 'pay', { ...body, input: 2 }), 409, 'activity_conflict');
  activityFrom(await shop.complete(id, claim.id, { leaseToken: body.leaseToken, error: { message: 'no' } }));
  assertRefused(await shop.claim(id, 'pay', body), 409, 'activity_leased');
  const next = claimedFrom(await shop.claim(id, 'pay', { activity: 'charge', input: 1 }));
  assert.equal(next.attempt, 2, 'what comes late takes no step');
  assertRefused(await shop.claim(id, 'pay', { ...body, leaseToken: 'a' }), 400, 'invalid_request');
  assert.deepEqual(await eventsOf(shop, id), [
    '1 created',
    '2 activity-claimed pay#1',
    '3 activity-failed pay#1',
    '4 activity-claimed pay#2',
  ]);
});

test('a step keeps its activity and input', async () => {
  const { id } = await created();
  await shop.claim(id, 'pay', { activity: 'charge', input: 1 });
  for (const body of [{ activity: 'refund', input: 1 }, { activity: 'charge', input: 2 }, { activity: 'charge' }]) {
    assertRefused(await shop.claim(id, 'pay', body), 409, 'activity_conflict');
  }
});

test('a lease that expired goes to whoever claims next, and fences the one before', async () => {
  const { id } = await created();
  const first = claimedFrom(await shop.claim(id, 'pay'));
  now += 60_000;
  const kept = activityFrom(await shop.renew(id, first.id, first.leaseToken));
  assert.equal(kept.leaseExpiresAt, inSeconds(60), 'nobody reclaimed it');
  now += 60_000;
  const second = claimedFrom(await shop.claim(id, 'pay'));
  assert.deepEqual([second.id, second.attempt], [first.id, 2]);
  assertRefused(await shop.renew(id, first.id, first.leaseToken), 409, 'lease_lost');
  const late = { leaseToken: first.leaseToken, result: 'late' };
  assertRefused(await shop.complete(id, first.id, late), 409, 'lease_lost');
  activityFrom(await shop.complete(id, second.id, { leaseToken: second.leaseToken, result: 'on time' }));
  assertRefused(await shop.complete(id, first.id, late), 409, 'lease_lost');
  assert.deepEqual(await eventsOf(shop, id), [
    '1 created',
    '2 activity-claimed pay#1',
    '3 activity-lease-expired pay#1',
    '4 activity-claimed pay#2',
    '5 activity-completed pay#2',
  ]);
});

test('an expired lease that nobody reclaimed may still be completed by its holder', async () => {
  const { id } = await created();
  const claim = claimedFrom(await shop.claim(id, 'pay'));
  now += 300_000;
  activityFrom(await shop.complete(id, claim.id, { leaseToken: claim.leaseToken, result: null }));
});

test('a step given back with an error can be claimed again at once', async () => {
  const { id } = await created();
  const first = claimedFrom(await shop.claim(id, 'pay'));
  const failed = { leaseToken: first.leaseToken, error: { code: 'declined', message: 'The card was declined.' } };
  const given = activityFrom(await shop.complete(id, first.id, failed));
  assert.equal(given.leaseExpiresAt, null);
  assert.deepEqual(activityFrom(await shop.complete(id, first.id, failed)), given, 'a lost answer is repeated');
  assertRefused(await shop.complete(id, first.id, { leaseToken: first.leaseToken, result: 1 }), 409, 'lease_lost');
  assertRefused(await shop.renew(id, first.id, first.leaseToken), 409, 'lease_lost');
  const second = claimedFrom(await shop.claim(id, 'pay'));
  assert.equal(second.attempt, 2);
  assertRefused(await shop.complete(id, first.id, failed), 409, 'lease_lost');
  assert.deepEqual(await eventsOf(shop, id), [
    '1 created',
    '2 activity-claimed pay#1',
    '3 activity-failed pay#1',
    '4 activity-claimed pay#2',
  ]);
});

test('clocks that jump neither hold a step for ever nor give it to two', async () => {
  const { id } = await created({ durationSeconds: 604_800 });
  now += 7_200_000;
  const ahead = claimedFrom(await shop.claim(id, 'pay'));
  now -= 7_200_000;
  const second = claimedFrom(await shop.claim(id, 'pay'));
  assertRefused(await shop.complete(id, ahead.id, { leaseToken: ahead.leaseToken, result: 1 }), 409, 'lease_lost');
  now -= 30_000;
  assertRefused(await shop.claim(id, 'pay'), 409, 'activity_leased');
  activityFrom(await shop.complete(id, second.id, { leaseToken: second.leaseToken, result: 2 }));
});

test('of many that claim a step at once one gets it, and parallel steps do not disturb each other', async () => {
  const { id } = await created();
  const claims = await Promise.all(Array.from({ length: 40 }, (_, index) => shop.claim(id, `step-${index % 10}`)));
  assert.equal(claims.filter(({ status }) => status === 200).length, 10);
  assert.ok(claims.every(({ status }) => status === 200 || status === 409));
  const held = claims.filter(({ status }) => status === 200).map(claimedFrom);
  await Promise.all(held.map(({ id: one, leaseToken }) => shop.complete(id, one, { leaseToken, result: one })));
  const events = await eventsOf(shop, id);
  assert.deepEqual(
    events.map((event) => Number(event.split(' ')[0])),
    Array.from({ length: 21 }, (_, index) => index + 1),
  );
});

test('a run ends once, and says how', async () => {
  const { id } = await created();
  const open = claimedFrom(await shop.claim(id, 'late'));
  now += 1_000;
  const ended = runFrom(await shop.end(id, { status: 'completed', result: { ok: true } }));
  assert.deepEqual([ended.status, ended.result], ['completed', { ok: true }]);
  assert.deepEqual([ended.completedAt, ended.cleanupAt], [inSeconds(0), inSeconds(7 * 86_400)]);
  assert.deepEqual(runFrom(await shop.end(id, { status: 'completed', result: { ok: true } })), ended);
  for (const body of [
    { status: 'completed', result: 1 },
    { status: 'failed', error: { message: 'no' } },
  ]) {
    assertRefused(await shop.end(id, body), 409, 'workflow_not_running');
  }
  assertRefused(await shop.claim(id, 'next'), 409, 'workflow_not_running');
  assertRefused(await shop.claim(id, 'late'), 409, 'workflow_not_running');
  assertRefused(await shop.renew(id, open.id, open.leaseToken), 409, 'workflow_not_running');
  const late = { leaseToken: open.leaseToken, result: 1 };
  assertRefused(await shop.complete(id, open.id, late), 409, 'workflow_not_running');
  assert.equal((await shop.remove(id)).status, 204);
  assertRefused(await shop.read(id), 404, 'not_found');
  assert.notEqual((await created()).id, id, 'its identity is free again');
});

test('a failed run keeps its error', async () => {
  const { id } = await created();
  const error = { code: 'out_of_stock', message: 'Nothing is left.\nCome back tomorrow.' };
  assert.deepEqual(runFrom(await shop.end(id, { status: 'failed', error })).error, error);
  assert.equal(runFrom(await shop.end(id, { status: 'failed', error })).status, 'failed');
});

test('deleting a running run cancels it', async () => {
  const { id } = await created();
  const open = claimedFrom(await shop.claim(id, 'pay'));
  assert.equal((await shop.remove(id)).status, 204);
  assert.equal(runFrom(await shop.read(id)).status, 'cancelled');
  assertRefused(await shop.renew(id, open.id, open.leaseToken), 409, 'workflow_not_running');
  assert.deepEqual((await eventsOf(shop, id)).at(-1), '3 cancelled');
  assert.equal(runFrom(await shop.create({ idempotencyKey: `run-${key}` }), 200).status, 'cancelled');
});

test('a run expires at its time, as everybody sees at once', async () => {
  const { id } = await created({ durationSeconds: 10 });
  const open = claimedFrom(await shop.claim(id, 'pay'));
  now += 10_000;
  const expired = runFrom(await shop.read(id));
  assert.deepEqual(
    [expired.status, expired.completedAt, expired.cleanupAt],
    ['expired', inSeconds(0), inSeconds(7 * 86_400)],
  );
  assertRefused(await shop.renew(id, open.id, open.leaseToken), 409, 'workflow_not_running');
  assertRefused(await shop.end(id, { status: 'completed' }), 409, 'workflow_not_running');
  const listed = (await shop.list('?status=expired')).json as { items: WorkflowRun[] };
  assert.ok(listed.items.some((run) => run.id === id));
  assert.deepEqual((await eventsOf(shop, id)).at(-1), '3 expired');
  assert.deepEqual(runFrom(await shop.read(id)), { ...expired, updatedAt: expired.expiresAt });
});

test('runs, activities and leases of another installation are not there', async () => {
  const { id } = await created();
  const claim = claimedFrom(await shop.claim(id, 'pay'));
  const { leaseToken } = claim;
  const answers = [
    await other.read(id),
    await other.history(id),
    await other.end(id, { status: 'completed' }),
    await other.claim(id, 'pay'),
    await other.renew(id, claim.id, leaseToken),
    await other.complete(id, claim.id, { leaseToken, result: 1 }),
    await other.remove(id),
  ];
  for (const answer of answers) assertRefused(answer, 404, 'not_found');
  assert.equal(runFrom(await shop.read(id)).status, 'running');
  const second = await created({ idempotencyKey: `second-${key}` });
  assertRefused(await shop.complete(second.id, claim.id, { leaseToken, result: 1 }), 404, 'not_found');
  const foreign = claimedFrom(await shop.claim(second.id, 'pay'));
  assertRefused(await shop.renew(id, claim.id, foreign.leaseToken), 409, 'lease_lost');
});

test('sizes are exact at their limits', async () => {
  const text = (bytes: number) => 'x'.repeat(bytes - 2);
  const input = limits.workflowInput.value;
  const tooLarge = await shop.create({ idempotencyKey: `large-${key}`, input: text(input + 1) });
  assertRefused(tooLarge, 413, 'workflow_input_too_large');
  const { id } = await created({ input: text(input) });
  assertRefused(await shop.claim(id, 'a', { activity: 'a', input: text(input + 1) }), 413, 'workflow_input_too_large');
  const { id: activity, leaseToken } = claimedFrom(await shop.claim(id, 'a', { activity: 'a', input: text(input) }));
  const large = { leaseToken, result: text(input + 1) };
  assertRefused(await shop.complete(id, activity, large), 413, 'workflow_result_too_large');
  activityFrom(await shop.complete(id, activity, { leaseToken, result: text(input) }));
  const most = limits.workflowResult.value;
  const end = (bytes: number) => shop.end(id, { status: 'completed', result: text(bytes) });
  assertRefused(await end(most + 1), 413, 'workflow_result_too_large');
  assert.equal((runFrom(await end(most)).result as string).length, most - 2);
  // White space and escapes do not count; UTF-8 does.
  assert.equal((await shop.create({ idempotencyKey: `ü-${key}`, input: 'ü'.repeat(input / 2 - 1) })).status, 201);
  const umlaut = await shop.create({ idempotencyKey: `uu-${key}`, input: `ü${'ü'.repeat(input / 2 - 1)}` });
  assertRefused(umlaut, 413, 'workflow_input_too_large');
});

test('a run has at most 256 activities', async () => {
  const { id } = await created();
  const claim = (index: number) => shop.claim(id, `step-${index}`);
  for (let done = 0; done < 256; done += 16)
    await Promise.all(Array.from({ length: 16 }, async (_, index) => claimedFrom(await claim(done + index))));
  assertRefused(await claim(256), 429, 'activity_limit');
  assertRefused(await claim(255), 409, 'activity_leased');
});
