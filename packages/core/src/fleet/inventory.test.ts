// The inventory of the whole platform: who gets it, that its figures are true, and that it stays small and keeps
// secrets and owners to itself.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Grant, type SystemInventory, systemInventory } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../../../tests/support/installed-app.ts';
import { problemCode, type RawAnswer, rawRequest } from '../../../../tests/support/raw-http.ts';
import { install, publish } from '../../test-support/apps.ts';
import { joinTestNode, registerLocalMachine } from '../../test-support/joined-node.ts';

const HOUR = 3_600_000;
const GRANT: Grant = { id: 'system.inventory.read', resources: ['*'] };
const PATH = '/v1/services/system';
let now = Date.parse('2026-11-22T10:20:00.000Z');

let platform: Constellation;
let master: TestAccount;
let tenant: TestAccount;
let watcher: InstalledTestApp;

before(async () => {
  platform = await startConstellation({ config: { masterAccount: 'landlord' }, clock: () => new Date(now) });
  // The clock goes on for days, and no Runtime is there that renews it.
  await platform.core.context.pool.query("UPDATE nodes SET credential_expires_at = 'infinity'");
  master = await registerAccount(platform, 'landlord');
  tenant = await registerAccount(platform, 'tenant');
  watcher = await installTestApp(platform, master, 'watcher', [GRANT]);
});
after(() => platform.close());

function assertRefused(answer: RawAnswer, status: number, code: string): void {
  assert.deepEqual([answer.status, problemCode(answer)], [status, code], answer.text);
}

async function inventory(): Promise<SystemInventory> {
  const answer = await watcher.call(PATH);
  assert.equal(answer.status, 200, answer.text);
  return systemInventory.parse(answer.json);
}

test('an app that the master account published and installed reads it, from its backend and from its page', async () => {
  assert.equal((await inventory()).accounts.total, 2);
  const page = await watcher.openFrontend();
  assert.deepEqual(systemInventory.parse((await page.call(PATH)).json), await inventory());
});

test('it is not readable without its grant', async () => {
  const blind = await installTestApp(platform, master, 'blind-watcher', []);
  assertRefused(await blind.call(PATH), 403, 'grant_missing');
});

test('apps of other accounts are refused although they hold the grant', async () => {
  const theirs = await installTestApp(platform, tenant, 'nosy', [GRANT]);
  const page = await theirs.openFrontend();
  for (const call of [theirs.call, page.call]) assertRefused(await call(PATH), 403, 'master_account_only');
  const same = await installTestApp(platform, tenant, 'watcher', [GRANT]);
  assertRefused(await same.call(PATH), 403, 'master_account_only');
});

test('an app of another publisher is refused even when the master account installed it and granted that', async () => {
  const foreign = await installTestApp(platform, master, 'nosy', [GRANT]);
  assertRefused(await foreign.call(PATH), 403, 'master_account_only');
});

test('accounts are counted by state and by day, installations by state and by app', async () => {
  now += 26 * HOUR;
  await registerAccount(platform, 'newcomer');
  await platform.core.context.pool.query("UPDATE accounts SET paused_at = $1 WHERE name = 'newcomer'", [new Date(now)]);
  await publish(tenant, 'plain');
  const former = await inventory();
  await install(tenant, 'plain');
  const { accounts, installations } = await inventory();
  assert.equal(accounts.total, 3);
  assert.equal(accounts.paused, 1);
  assert.equal(accounts.active, 3);
  assert.deepEqual(accounts.registered.slice(-2), [2, 1]);
  assert.equal(
    accounts.registered.reduce((sum, day) => sum + day),
    3,
  );
  assert.equal(installations.total, former.installations.total + 1);
  assert.equal(installations.apps, former.installations.apps + 1);
  assert.deepEqual(
    installations.largest.find(({ appId }) => appId === 'plain'),
    { appId: 'plain', name: 'plain', installations: 1, running: 0, failed: 0 },
  );
  assert.deepEqual(installations.states, former.installations.states, 'it has no backend');
  await reportState('failed');
  assert.equal((await inventory()).installations.states.failed, 1);
});

async function reportState(state: string): Promise<void> {
  const item = { installationId: watcher.installationId, state, since: new Date(now).toISOString(), restarts: 0 };
  await asLocalNode('/v1/node/status', { items: [{ ...item, lastExit: null, unenforced: [] }] });
}

async function asLocalNode(path: string, body: unknown): Promise<void> {
  const answer = await watcher.call(path, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${platform.core.localNode.nodeCredential}` },
  });
  assert.ok(answer.status < 300, answer.text);
}

const way = (requests: number) => ({ requests, sentBytes: requests * 100, receivedBytes: requests * 10 });
const RUN = '3f0c1a52-6b1e-4a5f-9a54-0d7c6f2f3a11';

function beat(outbound: number, inbound: number, run = RUN): Promise<void> {
  const load = { cpus: 1.5, memoryUsedMiB: 2_048 };
  return asLocalNode('/v1/node/heartbeat', {
    load,
    traffic: { run, outbound: way(outbound), inbound: way(inbound) },
  });
}

test('traffic is added up by the hour from the totals that nodes report, none lost and none counted twice', async () => {
  const lastHour = async () => {
    const last = (await inventory()).traffic.hours.at(-1);
    return [last?.outbound.requests, last?.inbound.requests, last?.outbound.sentBytes];
  };
  await beat(5, 7);
  await beat(5, 7);
  assert.deepEqual(await lastHour(), [5, 7, 500]);
  await beat(8, 7);
  assert.deepEqual(await lastHour(), [8, 7, 800]);
  // The Runtime restarted, and exceeded the former totals before its first heartbeat.
  await beat(20, 9, 'a2b7c1de-6b1e-4a5f-9a54-0d7c6f2f3a12');
  assert.deepEqual(await lastHour(), [28, 16, 2_800]);
  // A heartbeat of an older node says nothing.
  await asLocalNode('/v1/node/heartbeat', {});
  await beat(21, 9, 'a2b7c1de-6b1e-4a5f-9a54-0d7c6f2f3a12');
  assert.deepEqual(await lastHour(), [29, 16, 2_900]);
  now += 2 * HOUR;
  await beat(22, 9, 'a2b7c1de-6b1e-4a5f-9a54-0d7c6f2f3a12');
  const { hours } = (await inventory()).traffic;
  assert.deepEqual(
    hours.slice(-3).map(({ outbound }) => outbound.requests),
    [29, 0, 1],
  );
  assert.equal(hours.at(-1)?.at, '2026-11-23T14:00:00.000Z');
  now += 72 * HOUR;
  await beat(23, 9, 'a2b7c1de-6b1e-4a5f-9a54-0d7c6f2f3a12');
  const { rowCount } = await platform.core.context.pool.query('SELECT FROM traffic_hours');
  assert.equal(rowCount, 1, 'former days are removed');
});

test('absurd totals of a node spoil a figure and nothing else', async () => {
  for (let count = 0; count < 12; count += 1) {
    const run = `3f0c1a52-6b1e-4a5f-9a54-0d7c6f2f3b${String(count).padStart(2, '0')}`;
    const most = { requests: 1e15, sentBytes: 1e15, receivedBytes: 1e15 };
    await asLocalNode('/v1/node/heartbeat', { traffic: { run, outbound: most, inbound: most } });
  }
  const { hours } = (await inventory()).traffic;
  assert.equal(hours.at(-1)?.inbound.sentBytes, Number.MAX_SAFE_INTEGER);
});

test('nodes are listed with their load; capacity is that of nodes which take workloads', async () => {
  await registerLocalMachine(platform, { memoryMiB: 1_000, cpus: 2, diskMiB: 9_000 });
  await beat(0, 0);
  const far = await joinTestNode(platform, 'far', { machine: { memoryMiB: 4_000, cpus: 4 }, labels: ['gpu'] });
  const { nodes, capacity, topology } = await inventory();
  assert.equal(nodes.total, 2);
  const local = nodes.items.find(({ name }) => name === 'local');
  assert.deepEqual(local?.load, { cpus: 1.5, memoryUsedMiB: 2_048 });
  assert.equal(local?.memoryMiB, 1_000);
  assert.deepEqual([local?.diskMiB, local?.diskPromisedMiB, local?.diskFull], [9_000, 0, false]);
  assert.equal(nodes.items.find(({ name }) => name === 'far')?.load, null);
  assert.deepEqual([capacity.cpus, capacity.memoryMiB, capacity.diskMiB], [6, 5_000, 9_000]);
  assert.deepEqual(
    topology.labels.find(({ label }) => label === 'gpu'),
    { label: 'gpu', nodes: 1, reserved: false },
  );
  assert.deepEqual(
    topology.endpoints.find(({ node }) => node === 'far'),
    { node: 'far', origin: 'https://far.example', sharesVolumes: false },
  );
  await platform.core.context.pool.query('UPDATE nodes SET cordoned_at = now() WHERE id = $1', [far.id]);
  assert.deepEqual((await inventory()).capacity.cpus, 2);
});

test('a load is kept whatever number a node measures', async () => {
  for (const cpus of [Number.MIN_VALUE, 1e-46, 0, 1_000_000]) {
    await asLocalNode('/v1/node/heartbeat', { load: { cpus, memoryUsedMiB: 2 ** 31 - 1 } });
    const local = (await inventory()).nodes.items.find(({ name }) => name === 'local');
    assert.deepEqual(local?.load, { cpus: Math.fround(cpus), memoryUsedMiB: 2 ** 31 - 1 });
  }
});

test('what is kept is counted', async () => {
  const { usage } = await inventory();
  const { rows } = await platform.core.context.pool.query<{ versions: number }>(
    'SELECT count(*)::integer AS versions FROM app_versions',
  );
  assert.equal(usage.packages.versions, rows[0]?.versions);
  assert.ok(usage.packages.bytes > 1_000 && usage.databaseBytes > 1_000_000);
  assert.deepEqual([usage.notifications, usage.searchEntries, usage.workLeases], [0, 0, 0]);
});

test('it names no account and holds nothing that opens anything', async () => {
  const text = JSON.stringify(await inventory());
  const { rows } = await platform.core.context.pool.query<{ key: string; name: string }>(
    'SELECT key, name FROM accounts',
  );
  const { rows: placed } = await platform.core.context.pool.query<{
    id: string;
    endpoint_id: string;
    host_label: string;
  }>('SELECT id, endpoint_id, host_label FROM installations');
  const hidden = [...rows, ...placed].flatMap((row) => Object.values(row));
  for (const word of [...hidden, 'control', watcher.credential, platform.core.localNode.nodeCredential])
    assert.ok(!text.includes(word), word);
});

test('it is not readable without a master account', async () => {
  const config = { ...platform.core.context.config, masterAccount: null, listenPort: 0 };
  const unnamed = await platform.replica({ config });
  const answer = await rawRequest({
    port: unnamed.port,
    path: PATH,
    headers: { host: new URL(platform.origin).host, authorization: `Bearer ${watcher.credential}` },
  });
  assertRefused(answer, 403, 'master_account_only');
});
