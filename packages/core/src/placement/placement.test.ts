// Where workloads go: to a node that is there and has room, and never more of them than fit.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { NodeMachine } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { elf } from '../../../../tests/support/elf.ts';
import { problemCode, type RawAnswer } from '../../../../tests/support/raw-http.ts';
import { install, installationRow, nodeWorkload, publish } from '../../test-support/apps.ts';
import { type JoinedNode, joinTestNode, registerLocalMachine } from '../../test-support/joined-node.ts';
import { cordonNode, removeNode, uncordonNode } from '../nodes/manage-nodes.ts';

let platform: Constellation;
let account: TestAccount;
let local: string;
let count = 0;
let others: JoinedNode[] = [];

before(async () => {
  platform = await startConstellation();
  account = await registerAccount(platform, 'tenant');
  local = platform.core.localNode.nodeId;
});
after(() => platform.close());

beforeEach(async () => {
  const { context } = platform.core;
  await context.pool.query('DELETE FROM installations WHERE app_id LIKE $1', ['placed-%']);
  for (const { name } of others) await context.pool.query('DELETE FROM nodes WHERE name = $1', [name]);
  others = [];
  await uncordonNode(context, 'local');
  await registerLocalMachine(platform, {});
});

interface AppOptions {
  readonly mode?: 'automatic' | 'always';
  readonly memoryMiB?: number;
  readonly volume?: boolean;
}

/** Publishes one more app and returns its id. */
async function anApp({ mode = 'automatic', memoryMiB = 256, volume = false }: AppOptions = {}): Promise<string> {
  count += 1;
  const appId = `placed-${count}`;
  const workload = { ...nodeWorkload, mode, volume, resources: { memoryMiB } };
  await publish(account, appId, { workload });
  return appId;
}

function tryInstall(appId: string): Promise<RawAnswer> {
  return account.fetch('/v1/apps', { body: { appId } });
}

async function nodeOf(appId: string): Promise<string | null> {
  return (await installationRow(platform, account, appId)).node_id;
}

async function join(...[name, options]: [string, Parameters<typeof joinTestNode>[2]?]): Promise<JoinedNode> {
  const node = await joinTestNode(platform, name, options);
  others.push(node);
  return node;
}

function assertRefused(answer: RawAnswer, status: number, code: string, words: RegExp): void {
  assert.deepEqual([answer.status, problemCode(answer)], [status, code], answer.text);
  assert.match(answer.text, words);
}

test('of many at the same time exactly as many get a place as there is memory for', async () => {
  await registerLocalMachine(platform, { memoryMiB: 1_024 });
  await join('second', { machine: { memoryMiB: 512 } });
  const apps: string[] = [];
  for (let index = 0; index < 12; index += 1) apps.push(await anApp({ mode: 'always' }));
  const answers = await Promise.all(apps.map(tryInstall));
  const refused = answers.filter(({ status }) => status !== 201);
  assert.equal(answers.length - refused.length, 4 + 2);
  for (const answer of refused) assertRefused(answer, 503, 'unavailable', /room for the backend .* 256 MiB/);
  const { rows } = await platform.core.context.pool.query<{ reserved: number; memory: number }>(
    `SELECT n.memory_mib AS memory, count(*)::integer * 256 AS reserved
       FROM installations i JOIN nodes n ON n.id = i.node_id GROUP BY n.id`,
  );
  for (const { reserved, memory } of rows) assert.ok(reserved <= memory, `${reserved} MiB on a node of ${memory}`);
});

test('what sleeps takes no memory from others, but must fit when it wakes', async () => {
  await registerLocalMachine(platform, { memoryMiB: 512 });
  for (let index = 0; index < 6; index += 1) await install(account, await anApp());
  assertRefused(await tryInstall(await anApp({ memoryMiB: 513 })), 503, 'unavailable', /513 MiB/);
});

test('the node with the larger part of its memory left is chosen', async () => {
  const second = await join('second', { machine: { memoryMiB: 8_192 } });
  const third = await join('third', { machine: { memoryMiB: 16_384 } });
  await cordonNode(platform.core.context, 'local');
  const nodes: (string | null)[] = [];
  for (let index = 0; index < 6; index += 1) {
    const appId = await anApp({ mode: 'always', memoryMiB: 2_048 });
    await install(account, appId);
    nodes.push(await nodeOf(appId));
  }
  assert.equal(nodes.filter((id) => id === third.id).length, 4);
  assert.equal(nodes.filter((id) => id === second.id).length, 2);
});

test('a cordoned node gets nothing new, also of what had its volume there, and keeps what it has', async () => {
  const [kept, bound] = [await anApp(), await anApp({ volume: true })];
  await install(account, kept);
  await install(account, bound);
  await account.fetch(`/v1/apps/${bound}`, { method: 'DELETE' });
  await cordonNode(platform.core.context, 'local');
  assertRefused(await tryInstall(await anApp()), 503, 'unavailable', /takes a new backend/);
  assertRefused(await tryInstall(bound), 503, 'unavailable', /volume of this app lies on the machine local/);
  assert.equal(await nodeOf(kept), local);
  const second = await join('second');
  const moved = await anApp();
  await install(account, moved);
  assert.equal(await nodeOf(moved), second.id);
  assertRefused(await tryInstall(bound), 503, 'unavailable', /volume of this app lies on the machine local/);
  await uncordonNode(platform.core.context, 'local');
  await install(account, bound);
  assert.equal(await nodeOf(bound), local);
});

test('once a node is cordoned, no installation that was under way comes to it any more', async () => {
  await join('second', { machine: { memoryMiB: 100 } });
  const apps: string[] = [];
  for (let index = 0; index < 8; index += 1) apps.push(await anApp());
  const installing = apps.map(tryInstall);
  await cordonNode(platform.core.context, 'local');
  const placed = async () => {
    const { rows } = await platform.core.context.pool.query('SELECT app_id FROM installations WHERE node_id = $1', [
      local,
    ]);
    return rows.length;
  };
  const before = await placed();
  const answers = await Promise.all(installing);
  assert.equal(await placed(), before);
  assert.equal(answers.filter(({ status }) => status === 201).length, before);
});

test('a machine of others gets only what does not fit on the machines of the platform', async () => {
  await registerLocalMachine(platform, { memoryMiB: 2_048 });
  const guest = await join('guest', { labels: ['self-hosted'], machine: { memoryMiB: 1_000_000 } });
  const nodes: (string | null)[] = [];
  for (let index = 0; index < 3; index += 1) {
    const appId = await anApp({ mode: 'always', memoryMiB: 1_024 });
    await install(account, appId);
    nodes.push(await nodeOf(appId));
  }
  assert.deepEqual(nodes, [local, local, guest.id]);
});

test('a node that joined and never sent a heartbeat gets nothing', async () => {
  const silent = await join('silent', { machine: { memoryMiB: 1_000_000 } });
  await platform.core.context.pool.query('UPDATE nodes SET beat = 0 WHERE id = $1', [silent.id]);
  const appId = await anApp();
  await install(account, appId);
  assert.equal(await nodeOf(appId), local);
});

test('a container image goes to a node that runs images, and is refused where none does', async () => {
  count += 1;
  const appId = `placed-${count}`;
  await publish(account, appId, { workload: { runtime: 'oci', image: 'registry.example/app@sha256:0' } });
  assertRefused(await tryInstall(appId), 403, 'placement_not_allowed', /container image/);
  const second = await join('second', { machine: { runtimes: ['node', 'oci'] } });
  await install(account, appId);
  assert.equal(await nodeOf(appId), second.id);
});

test('an executable goes to a node with its processor, is refused where none has it, and no app is upgraded to one that its node cannot run', async () => {
  const workload = { runtime: 'binary', entry: 'server' };
  const files = (machine: 'x64' | 'arm64') => ({ 'workload/server': elf({ machine }) });
  const machine = (processor: 'x64' | 'arm64'): Partial<NodeMachine> => ({ runtimes: ['node', 'binary'], processor });
  count += 1;
  const appId = `placed-${count}`;
  await publish(account, appId, { workload }, files('arm64'));
  assertRefused(await tryInstall(appId), 403, 'placement_not_allowed', /an executable for aarch64/);
  const intel = await join('intel', { machine: machine('x64') });
  assertRefused(await tryInstall(appId), 403, 'placement_not_allowed', /an executable for aarch64/);
  const arm = await join('arm', { machine: machine('arm64') });
  await install(account, appId);
  assert.equal(await nodeOf(appId), arm.id);
  await publish(account, appId, { version: '2.0.0', workload }, files('x64'));
  const upgrade = await account.fetch(`/v1/apps/${appId}/upgrade`, { body: { version: '2.0.0' } });
  assertRefused(
    upgrade,
    403,
    'placement_not_allowed',
    /an executable for x86-64, which the machine of this app cannot/,
  );
  count += 1;
  const other = `placed-${count}`;
  await publish(account, other, { workload }, files('x64'));
  await install(account, other);
  assert.equal(await nodeOf(other), intel.id);
});

test('without any node core works, and says at an installation what is missing', async () => {
  const own = await startConstellation({ withoutNode: true });
  const person = await registerAccount(own, 'alone');
  await publish(person, 'page-only');
  await install(person, 'page-only');
  await publish(person, 'backed', { workload: nodeWorkload });
  const answer = await person.fetch('/v1/apps', { body: { appId: 'backed' } });
  assertRefused(answer, 503, 'unavailable', /runs without a node.*platform node join/);
  const node = await joinTestNode(own, 'newcomer');
  await install(person, 'backed');
  assert.equal((await installationRow(own, person, 'backed')).node_id, node.id);
  await own.close();
});

test('core whose machine runs nothing any more leaves its node to be lost', async () => {
  const own = await startConstellation();
  const { rows } = await own.core.context.pool.query<{ public_key: Buffer }>('SELECT public_key FROM nodes');
  const publicKey = rows[0]?.public_key ?? assert.fail();
  const machine = { publicKey, name: 'local', inherits: true, leased: false, runtime: false };
  await own.replica({ localNode: machine });
  const state = await own.core.context.pool.query('SELECT leased FROM nodes');
  assert.deepEqual(state.rows, [{ leased: true }]);
  await own.close();
});

test('a node is removed when nothing is left on it; its credential ends with it', async () => {
  const { context } = platform.core;
  const second = await join('second', { machine: { memoryMiB: 1_000_000 } });
  const bound = await anApp({ volume: true });
  await cordonNode(context, 'local');
  await install(account, bound);
  await uncordonNode(context, 'local');
  assert.equal(await nodeOf(bound), second.id);
  await assert.rejects(removeNode(context, 'second', 'empty'), /volumes of 1 apps lie on second/);
  await assert.rejects(removeNode(context, 'local', 'with-volumes'), /machine of the platform itself/);
  await assert.rejects(removeNode(context, 'nobody', 'empty'), /no node named nobody/);
  await removeNode(context, 'second', 'with-volumes');
  const answer = await second.heartbeat();
  assert.deepEqual([answer.status, problemCode(answer)], [401, 'unauthenticated']);
  const { rows } = await context.pool.query(
    'SELECT has_volume, waiting OR node_id = $2 AS elsewhere FROM installations WHERE app_id = $1',
    [bound, local],
  );
  assert.deepEqual(rows, [{ has_volume: false, elsewhere: true }]);
});
