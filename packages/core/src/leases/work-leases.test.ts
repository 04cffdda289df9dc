// Work leases as workloads use them and nodes query them: they belong to one installation, and expire.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { limits, type WorkLease, workLeaseAnswer, workloadLeases } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../../../tests/support/installed-app.ts';
import { problemCode, type RawAnswer } from '../../../../tests/support/raw-http.ts';
import { addNode, bearer } from '../../test-support/apps.ts';

const LEASES = '/v1/services/runtime/work-leases';

let platform: Constellation;
let account: TestAccount;
let worker: InstalledTestApp;
let other: InstalledTestApp;
let now = Date.parse('2026-11-21T10:00:00.000Z');

before(async () => {
  platform = await startConstellation({ clock: () => new Date(now) });
  account = await registerAccount(platform, 'tenant');
  worker = await installTestApp(platform, account, 'worker', []);
  other = await installTestApp(platform, account, 'other-worker', []);
});
after(() => platform.close());

async function create(app: InstalledTestApp, durationSeconds = 60): Promise<WorkLease> {
  const answer = await app.call(LEASES, { body: { durationSeconds, reason: 'baking' } });
  assert.equal(answer.status, 201, answer.text);
  return workLeaseAnswer.parse(answer.json).lease;
}

const release = (app: InstalledTestApp, id: string) => app.call(`${LEASES}/${id}`, { method: 'DELETE' });
const renew = (app: InstalledTestApp, id: string, body: object = {}) => app.call(`${LEASES}/${id}/renew`, { body });
const inSeconds = (seconds: number) => new Date(now + seconds * 1_000).toISOString();

/** What the node of the installation is answered. */
async function endsIn(app: InstalledTestApp): Promise<number | null> {
  const { nodeCredential } = platform.core.localNode;
  const answer = await bearer(platform, nodeCredential, `/v1/node/installations/${app.installationId}/leases`);
  assert.equal(answer.status, 200, answer.text);
  return workloadLeases.parse(answer.json).endInMilliseconds;
}

function assertRefused(answer: RawAnswer, status: number, code: string): void {
  assert.deepEqual([answer.status, problemCode(answer)], [status, code], answer.text);
}

test('a lease runs its duration, and again after each renewal', async () => {
  const lease = await create(worker, 60);
  assert.equal(lease.expiresAt, inSeconds(60));
  assert.equal(await endsIn(worker), 60_000);
  now += 50_000;
  const again = workLeaseAnswer.parse((await renew(worker, lease.id)).json).lease;
  assert.deepEqual(again, { id: lease.id, expiresAt: inSeconds(60) });
  const longer = workLeaseAnswer.parse((await renew(worker, lease.id, { durationSeconds: 300 })).json).lease;
  assert.equal(longer.expiresAt, inSeconds(300));
  const bodiless = await worker.call(`${LEASES}/${lease.id}/renew`, { method: 'POST' });
  assert.equal(workLeaseAnswer.parse(bodiless.json).lease.expiresAt, inSeconds(300), 'the last duration counts');
  assert.equal((await release(worker, lease.id)).status, 204);
  assert.equal(await endsIn(worker), null);
});

test('the node gets the end of the last lease, also when it has ended', async () => {
  assert.equal(await endsIn(other), null);
  await create(other, 200);
  await create(other, 15);
  assert.equal(await endsIn(other), 200_000);
  now += 230_000;
  assert.equal(await endsIn(other), -30_000);
});

test('a lease that has ended cannot be brought back', async () => {
  const lease = await create(worker, 15);
  now += 15_000;
  assertRefused(await renew(worker, lease.id), 404, 'not_found');
  assertRefused(await release(worker, lease.id), 404, 'not_found');
});

test('a lease of another installation is not there', async () => {
  const lease = await create(worker, 300);
  assertRefused(await renew(other, lease.id), 404, 'not_found');
  assertRefused(await release(other, lease.id), 404, 'not_found');
  const known = await renew(other, lease.id);
  const unknown = await renew(other, 'lease-01890000-0000-7000-8000-000000000000');
  const answered = ({ json }: RawAnswer) => ({ ...(json as object), requestId: '' });
  assert.deepEqual(answered(known), answered(unknown), 'the answer does not disclose that it exists');
  assert.equal((await release(worker, lease.id)).status, 204);
});

test('durations outside 15 to 300 seconds and reasons of several lines are refused', async () => {
  for (const body of [
    {},
    { durationSeconds: 14 },
    { durationSeconds: 301 },
    { durationSeconds: 20.5 },
    { durationSeconds: '60' },
    { durationSeconds: 60, reason: '' },
    { durationSeconds: 60, reason: 'two\nlines' },
    { durationSeconds: 60, reason: 'x'.repeat(limits.workLeaseReason.value + 1) },
  ]) {
    assertRefused(await worker.call(LEASES, { body }), 400, 'invalid_request');
  }
  assertRefused(await renew(worker, 'some-id'), 400, 'invalid_request');
});

test('of many leases asked for at once as many are made as the limit allows, and the rest may wait', async () => {
  const wanted = limits.workLeases.value + 6;
  const answers = await Promise.all(
    Array.from({ length: wanted }, () => worker.call(LEASES, { body: { durationSeconds: 30 } })),
  );
  const refused = answers.filter(({ status }) => status !== 201);
  assert.equal(refused.length, 6);
  for (const answer of refused) {
    assertRefused(answer, 429, 'concurrency_limited');
    assert.equal(answer.headers['retry-after'], '30');
  }
  now += 30_000;
  await create(worker, 15);
  const { rows } = await platform.core.context.pool.query(
    'SELECT count(*)::int AS count FROM work_leases WHERE installation_id = $1',
    [worker.installationId],
  );
  assert.deepEqual(rows, [{ count: 1 }], 'ended leases do not pile up');
});

test('leases end when their owner stops or removes the app', async () => {
  await create(worker, 300);
  await account.fetch('/v1/apps/worker/stop', { body: {} });
  assert.equal(await endsIn(worker), null);
  await create(worker, 300);
  await account.browser.take('/v1/apps/worker', { method: 'DELETE' });
  await account.browser.take('/v1/apps', { body: { appId: 'worker' } });
  assert.equal(await endsIn(worker), null);
  await worker.restart();
});

test('a node asks about its own installations only', async () => {
  const stranger = await addNode(platform, 'stranger');
  const path = `/v1/node/installations/${worker.installationId}/leases`;
  assertRefused(await bearer(platform, stranger.credential, path), 404, 'not_found');
});
