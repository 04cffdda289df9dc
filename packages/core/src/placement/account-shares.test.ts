// One account leaves others their part of what all share: memory that backends reserve, and public UDP ports.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { Grant } from '@platform/contract';
import { registerAccount, type TestAccount, TestBrowser } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { problemCode, type RawAnswer } from '../../../../tests/support/raw-http.ts';
import { installationRow, nodeWorkload, publish } from '../../test-support/apps.ts';
import { joinTestNode, registerLocalMachine } from '../../test-support/joined-node.ts';
import { nameMaster, withdrawMaster } from '../accounts/face.ts';
import { placeWaiting, takeFromLost } from './move-installations.ts';

let platform: Constellation;
let greedy: TestAccount;
let modest: TestAccount;
let landlord: TestAccount;
let count = 0;

before(async () => {
  platform = await startConstellation({
    config: { masterAccount: 'landlord', accountMemoryPercent: 50, accountUdpPorts: 3 },
  });
  [greedy, modest, landlord] = await Promise.all([
    registerAccount(platform, 'greedy'),
    registerAccount(platform, 'modest'),
    registerAccount(platform, 'landlord'),
  ]);
  await registerLocalMachine(platform, { memoryMiB: 1_024 });
});
after(() => platform.close());
afterEach(async () => {
  await platform.core.context.pool.query("DELETE FROM installations WHERE app_id LIKE 'share-%'");
  await platform.core.context.pool.query("DELETE FROM nodes WHERE name <> 'local'");
});

type Mode = 'automatic' | 'always';

async function anApp(mode: Mode, memoryMiB: number, more: Readonly<Record<string, unknown>> = {}): Promise<string> {
  count += 1;
  const appId = `share-${count}`;
  await publish(greedy, appId, { workload: { ...nodeWorkload, mode, resources: { memoryMiB } }, ...more });
  return appId;
}

/** Backends of 256 MiB that never sleep. */
async function someApps(most: number): Promise<string[]> {
  const apps: string[] = [];
  while (apps.length < most) apps.push(await anApp('always', 256));
  return apps;
}

function tryInstall(account: TestAccount, appId: string, permissions?: readonly Grant[]): Promise<RawAnswer> {
  return account.fetch('/v1/apps', { body: permissions === undefined ? { appId } : { appId, permissions } });
}

function assertOverShare(answer: RawAnswer, words: RegExp): void {
  assert.deepEqual([answer.status, problemCode(answer)], [409, 'account_share'], answer.text);
  assert.match(answer.text, words);
}

async function assertInstalls(account: TestAccount, appId: string, permissions?: readonly Grant[]): Promise<void> {
  const answer = await tryInstall(account, appId, permissions);
  assert.equal(answer.status, 201, answer.text);
}

test('however many ask at once, an account reserves its part of a machine, and others theirs', async () => {
  const apps = await someApps(6);
  const answers = await Promise.all(apps.map((appId) => tryInstall(greedy, appId)));
  assert.equal(answers.filter(({ status }) => status === 201).length, 2);
  for (const answer of answers.filter(({ status }) => status !== 201)) assertOverShare(answer, /50 % of the memory/);
  await assertInstalls(greedy, await anApp('automatic', 1_024));
  await assertInstalls(modest, apps[0] ?? '');
  await assertInstalls(modest, apps[1] ?? '');
  assert.equal((await tryInstall(modest, apps[2] ?? '')).status, 503, 'a full machine is the reason that counts first');
});

test('the account that looks after the platform may reserve all', async () => {
  for (const appId of await someApps(4)) await assertInstalls(landlord, appId);
});

test('so may the one that was named at the console, while it is', async () => {
  const config = { ...platform.core.context.config, masterAccount: null, listenPort: 0 };
  const { context, port } = await platform.replica({ config });
  const apps = await someApps(4);
  const browser = new TestBrowser({ port, origin: platform.origin });
  browser.cookie = modest.cookie;
  const there = (appId: string) => browser.fetch('/v1/apps', { body: { appId } });
  await nameMaster(context, 'modest');
  for (const appId of apps.slice(0, 3)) assert.equal((await there(appId)).status, 201);
  await withdrawMaster(context);
  assertOverShare(await there(apps[3] ?? ''), /50 % of the memory/);
});

test('a part of each machine, and what one has no part left of goes to another', async () => {
  const second = await joinTestNode(platform, 'second', { machine: { memoryMiB: 1_024 } });
  const apps = await someApps(4);
  for (const appId of apps) await assertInstalls(greedy, appId);
  const rows = await Promise.all(apps.map((appId) => installationRow(platform, greedy, appId)));
  assert.equal(rows.filter(({ node_id: nodeId }) => nodeId === second.id).length, 2);
  assertOverShare(await tryInstall(greedy, await anApp('always', 256)), /yours would reserve more/);

  // What an account has stays in use when a machine is lost.
  await takeFromLost(platform.core.context, second.id);
  await platform.core.context.pool.query('DELETE FROM nodes WHERE id = $1', [second.id]);
  assert.deepEqual((await placeWaiting(platform.core.context)).waiting, []);
});

test('a version that asks for more, and an app that comes back to its volume, are held to it as well', async () => {
  const mixed = await anApp('always', 256);
  await publish(greedy, mixed, {
    version: '2.0.0',
    workload: { ...nodeWorkload, mode: 'always', resources: { memoryMiB: 512 } },
  });
  const bound = await anApp('always', 512, {
    workload: { ...nodeWorkload, mode: 'always', volume: true, resources: { memoryMiB: 512 } },
  });
  await assertInstalls(greedy, bound);
  assert.equal((await greedy.fetch(`/v1/apps/${bound}`, { method: 'DELETE' })).status, 204);
  const other = await anApp('always', 256);
  await assertInstalls(greedy, other);
  assertOverShare(await tryInstall(greedy, bound), /50 %/);
  const installed = await greedy.fetch('/v1/apps', {
    body: { appId: mixed, version: testVersion },
  });
  assert.equal(installed.status, 201, installed.text);
  const upgrade = await greedy.fetch(`/v1/apps/${mixed}/upgrade`, {
    body: { version: '2.0.0', acceptResources: true },
  });
  assertOverShare(upgrade, /50 %/);
});

const testVersion = '1.0.0';
const ports = (names: readonly string[]) => ({
  schemaVersion: 4,
  permissions: [{ id: 'endpoints.public.udp', resources: ['*'], reason: 'Lets players in.' }],
  publicPorts: names.map((name) => ({ name, protocol: 'udp', containerPort: 'auto' })),
});
const all: Grant[] = [{ id: 'endpoints.public.udp', resources: ['*'] }];

test('public UDP ports are counted over all apps of an account, granted ones alone, until they are removed', async () => {
  const [two, one, more] = [
    await anApp('automatic', 64, ports(['play', 'voice'])),
    await anApp('automatic', 64, ports(['play'])),
    await anApp('automatic', 64, ports(['play'])),
  ];
  await assertInstalls(greedy, two, all);
  await assertInstalls(greedy, one, all);
  assertOverShare(await tryInstall(greedy, more, all), /3 public UDP ports, and yours would have 4/);
  await assertInstalls(modest, more, all);
  await assertInstalls(greedy, more, []);
  const grant = () => greedy.fetch(`/v1/apps/${more}/permissions`, { method: 'PUT', body: { permissions: all } });
  assertOverShare(await grant(), /would have 4/);
  assert.equal((await greedy.fetch(`/v1/apps/${one}`, { method: 'DELETE' })).status, 204);
  const answer = await grant();
  assert.equal(answer.status, 200, answer.text);
});

test('of many that are granted ports at once no more pass than fit', async () => {
  const apps: string[] = [];
  while (apps.length < 6) apps.push(await anApp('automatic', 64, ports(['play'])));
  const answers = await Promise.all(apps.map((appId) => tryInstall(greedy, appId, all)));
  assert.equal(answers.filter(({ status }) => status === 201).length, 3);
});
