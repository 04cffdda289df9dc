// What Ingresses count is what owners read, once and by day, whatever an Ingress reports.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { limits, publicAddress, publicRequests } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { install, publish } from '../../test-support/apps.ts';
import { callAs, joinTestIngress } from '../../test-support/ingress.ts';
import { forgetRequests } from './report-traffic.ts';

const TODAY = '2026-11-21';
const RUN = '01890000-0000-7000-8000-000000000000';

let platform: Constellation;
let owner: TestAccount;
let credential: string;
let sequence = 0;
let count = 0;

before(async () => {
  platform = await startConstellation({ clock: () => new Date(`${TODAY}T10:00:00.000Z`) });
  owner = await registerAccount(platform, 'publisher');
  ({ ingressCredential: credential } = await joinTestIngress(platform, 'counting'));
});
after(() => platform.close());

async function anApp(): Promise<{ readonly appId: string; readonly hostname: string }> {
  count += 1;
  const appId = `counted-${count}`;
  await publish(owner, appId, {
    workload: { runtime: 'node', entry: 'main.js' },
    publicEndpoints: ['GET:/*'],
    permissions: [{ id: 'endpoints.public', resources: ['GET:/*'] }],
  });
  await install(owner, appId);
  const { hostname } = publicAddress.parse(await owner.browser.take(`/v1/apps/${appId}/public`));
  return { appId, hostname: String(hostname) };
}

async function report(items: readonly object[], more: object = {}): Promise<number> {
  sequence += 1;
  return (await callAs(platform, credential, 'report', { run: RUN, sequence, items, ...more })).status;
}

async function requests(appId: string) {
  const { day, ...counted } = publicRequests.parse(await owner.browser.take(`/v1/apps/${appId}/public/requests`));
  assert.equal(day, TODAY);
  return counted;
}

test('requests and refusals of today add up, of all reports and Ingresses', async () => {
  const { appId, hostname } = await anApp();
  assert.deepEqual(await requests(appId), { requests: 0, refused: {} });
  assert.equal(await report([{ hostname, requests: 3, refused: { not_found: 2 } }]), 204);
  assert.equal(await report([{ hostname, requests: 1, refused: { not_found: 1, rate_limited: 4 } }]), 204);
  const { ingressCredential: other } = await joinTestIngress(platform, 'counting-too');
  const theirs = { run: RUN, sequence: 1, items: [{ hostname, requests: 10, refused: {} }] };
  assert.equal((await callAs(platform, other, 'report', theirs)).status, 204);
  assert.deepEqual(await requests(appId), { requests: 14, refused: { not_found: 3, rate_limited: 4 } });
});

test('a report that is repeated counts once; one of the next run of the Ingress counts', async () => {
  const { appId, hostname } = await anApp();
  const items = [{ hostname, requests: 1, refused: {} }];
  await report(items);
  assert.equal(await report(items, { sequence }), 204);
  assert.deepEqual((await requests(appId)).requests, 1);
  assert.equal(await report(items, { run: RUN.replace('0189', '0190'), sequence: 0 }), 204);
  assert.deepEqual((await requests(appId)).requests, 2);
  sequence = 0;
});

test('what names nothing is left out, and what is malformed is refused', async () => {
  const { appId, hostname } = await anApp();
  const status = await report([
    { hostname: 'nobody--aaaaaaaaaaaaaaaaaaaa.public.platform.localhost', requests: 1, refused: {} },
    { hostname: `${hostname}.evil.example`, requests: 1, refused: {} },
    { hostname: '', requests: 1, refused: {} },
    { hostname, requests: 2, refused: { 'no such code': 5, passed: 7, constructor: 1 } },
  ]);
  assert.equal(status, 204);
  assert.deepEqual(await requests(appId), { requests: 2, refused: {} });
  for (const items of [
    [{ hostname, requests: -1, refused: {} }],
    [{ hostname, requests: 1.5, refused: {} }],
    Array.from({ length: 1_001 }, () => ({ hostname, requests: 1, refused: {} })),
  ])
    assert.equal(await report(items), 400);
});

test('counts are kept for thirty days, and end with the installation', async () => {
  const { appId, hostname } = await anApp();
  await report([{ hostname, requests: 5, refused: { rate_limited: 1 } }]);
  const { pool } = platform.core.context;
  const days = limits.publicRequestDays.value;
  await pool.query(
    `INSERT INTO public_requests (installation_id, day, outcome, count)
     SELECT installation_id, day - d, outcome, count
       FROM public_requests q, unnest(ARRAY[1, $1::integer, $1::integer + 1]) AS d
      WHERE installation_id = (SELECT id FROM installations WHERE app_id = $2)`,
    [days, appId],
  );
  const left = async () => {
    const { rows } = await pool.query<{ age: number }>(
      `SELECT DISTINCT $2::date - day AS age FROM public_requests
        WHERE installation_id = (SELECT id FROM installations WHERE app_id = $1) ORDER BY age`,
      [appId, TODAY],
    );
    return rows.map(({ age }) => age);
  };
  await forgetRequests(platform.core.context, platform.core.context.time.proven());
  assert.deepEqual(await left(), [0, 1, days]);
  assert.equal((await owner.fetch(`/v1/apps/${appId}`, { method: 'DELETE' })).status, 204);
  assert.deepEqual(await left(), []);
});
