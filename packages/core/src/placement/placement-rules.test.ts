// The operator steers where backends run, by labels of nodes.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { problemCode } from '../../../../tests/support/raw-http.ts';
import { install, installationRow, nodeWorkload, publish } from '../../test-support/apps.ts';
import { type JoinedNode, joinTestNode, registerLocalMachine, testMachine } from '../../test-support/joined-node.ts';
import { cordonNode, drainNode, labelNode } from '../nodes/manage-nodes.ts';
import { placeWaiting } from './move-installations.ts';
import { addRule, listReservedLabels, listRules, removeRule, reserveLabel, unreserveLabel } from './placement-rules.ts';

let platform: Constellation;
let owner: TestAccount;
let stranger: TestAccount;
let first: JoinedNode;
let second: JoinedNode;
let count = 0;

before(async () => {
  platform = await startConstellation();
  owner = await registerAccount(platform, 'steered');
  stranger = await registerAccount(platform, 'unsteered');
  await registerLocalMachine(platform, {});
  await cordonNode(platform.core.context, 'local');
  // The first has the larger part of its memory left, whatever is placed.
  const labels = ['platform-hosted'];
  first = await joinTestNode(platform, 'first', { labels, machine: { ...testMachine, memoryMiB: 1_000_000 } });
  second = await joinTestNode(platform, 'second', { labels, machine: { ...testMachine, memoryMiB: 2_048 } });
});
after(() => platform.close());
beforeEach(async () => {
  const { pool } = platform.core.context;
  await pool.query('DELETE FROM placement_rules');
  await pool.query('DELETE FROM reserved_labels');
  await pool.query(`UPDATE nodes SET labels = '{platform-hosted}', cordoned_at = NULL WHERE NOT local`);
});

const context = () => platform.core.context;

async function anApp(more: { readonly volume?: boolean } = {}): Promise<string> {
  count += 1;
  const appId = `steered-${count}`;
  await publish(owner, appId, { workload: { ...nodeWorkload, ...more } });
  return appId;
}

async function nodeOf(account: TestAccount, appId: string): Promise<string | null> {
  return (await installationRow(platform, account, appId)).node_id;
}

/** No Runtime answers for the first node here, so what it holds is treated as gone. Returns what still waits. */
async function drainFirst(): Promise<readonly string[]> {
  await drainNode(context(), 'first');
  await context().pool.query('UPDATE installations SET held_by = NULL');
  return (await drainNode(context(), 'first')).waiting;
}

async function strangersOn(label: string): Promise<number> {
  await reserveLabel(context(), label);
  return (await listReservedLabels(context())).find((row) => row.label === label)?.strangers ?? 0;
}

test('a backend that must have a label goes to a node with it, and all others go where they went before', async () => {
  const [demanding, other] = [await anApp(), await anApp()];
  await addRule(context(), 'gpu', { account: null, appId: demanding });
  await labelNode(context(), 'second', { add: ['gpu'] });
  for (const account of [owner, stranger]) {
    await install(account, demanding);
    assert.equal(await nodeOf(account, demanding), second.id);
  }
  await install(owner, other);
  assert.equal(await nodeOf(owner, other), first.id);
});

test('a rule may be about an account, or about one app of one account', async () => {
  const [one, two] = [await anApp(), await anApp()];
  await labelNode(context(), 'second', { add: ['own=steered', 'fast'] });
  await addRule(context(), 'own=steered', { account: 'steered', appId: null });
  await addRule(context(), 'fast', { account: 'unsteered', appId: two });
  for (const appId of [one, two]) for (const account of [owner, stranger]) await install(account, appId);
  assert.deepEqual(
    [await nodeOf(owner, one), await nodeOf(owner, two), await nodeOf(stranger, one), await nodeOf(stranger, two)],
    [second.id, second.id, first.id, second.id],
  );
});

test('every label that is demanded must be there; without such a node the owner reads why', async () => {
  const appId = await anApp();
  await addRule(context(), 'gpu', { account: null, appId });
  await addRule(context(), 'eu', { account: 'steered', appId: null });
  await labelNode(context(), 'first', { add: ['gpu'] });
  await labelNode(context(), 'second', { add: ['eu'] });
  const refused = await owner.fetch('/v1/apps', { body: { appId } });
  assert.deepEqual([refused.status, problemCode(refused)], [503, 'unavailable']);
  assert.match(refused.text, /machines labelled eu and gpu only/);
  await labelNode(context(), 'second', { add: ['gpu'] });
  await install(owner, appId);
  assert.equal(await nodeOf(owner, appId), second.id);
});

test('a new rule leaves what runs where it is; draining moves it by the rule, and never beyond', async () => {
  const appId = await anApp();
  await install(owner, appId);
  assert.equal(await nodeOf(owner, appId), first.id);
  await addRule(context(), 'gpu', { account: null, appId });
  assert.equal(await nodeOf(owner, appId), first.id);
  assert.ok((await drainFirst()).includes(appId), 'no node has the label');
  assert.equal(await nodeOf(owner, appId), null);
  await labelNode(context(), 'second', { add: ['gpu'] });
  await drainFirst();
  assert.equal(await nodeOf(owner, appId), second.id);
});

test('what has its volume on a node comes back to it, whatever is demanded since', async () => {
  const appId = await anApp({ volume: true });
  await install(owner, appId);
  const there = await nodeOf(owner, appId);
  await addRule(context(), 'gpu', { account: null, appId });
  await owner.fetch(`/v1/apps/${appId}`, { method: 'DELETE' });
  await install(owner, appId);
  assert.equal(await nodeOf(owner, appId), there);
});

test('rules are listed with the nodes that meet them, are there once, and end with their account', async () => {
  await labelNode(context(), 'second', { add: ['gpu', 'gpu'], remove: ['other'] });
  await addRule(context(), 'gpu', { account: null, appId: 'notes' });
  await addRule(context(), 'gpu', { account: null, appId: 'notes' });
  await addRule(context(), 'eu', { account: 'steered', appId: null });
  assert.deepEqual(await listRules(context()), [
    { label: 'eu', account: 'steered', appId: null, nodes: 0 },
    { label: 'gpu', account: null, appId: 'notes', nodes: 1 },
  ]);
  await removeRule(context(), 'gpu', { account: null, appId: 'notes' });
  await assert.rejects(removeRule(context(), 'gpu', { account: null, appId: 'notes' }), /no such rule/);
  await assert.rejects(addRule(context(), 'gpu', { account: 'nobody', appId: null }), /no account named nobody/);
  await assert.rejects(labelNode(context(), 'nowhere', { add: ['gpu'] }), /no node named nowhere/);
  for (const change of [{ add: ['self-hosted'] }, { remove: ['platform-hosted'] }])
    await assert.rejects(labelNode(context(), 'second', change), /The token that a machine joins with/);
});

test('a node with a reserved label takes what it is demanded for and nothing else, from its first moment', async () => {
  const [demanding, other] = [await anApp(), await anApp()];
  await reserveLabel(context(), 'gpu');
  await addRule(context(), 'gpu', { account: 'steered', appId: demanding });
  await labelNode(context(), 'first', { add: ['gpu'] });
  await install(owner, other);
  for (const account of [owner, stranger]) await install(account, demanding);
  assert.deepEqual(
    [await nodeOf(owner, other), await nodeOf(owner, demanding), await nodeOf(stranger, demanding)],
    [second.id, first.id, second.id],
  );
  const late = await joinTestNode(platform, 'late', {
    labels: ['platform-hosted', 'gpu'],
    machine: { ...testMachine, memoryMiB: 2_000_000 },
  });
  const [more, another] = [await anApp(), await anApp()];
  await addRule(context(), 'gpu', { account: null, appId: more });
  await install(owner, more);
  await install(owner, another);
  assert.deepEqual([await nodeOf(owner, more), await nodeOf(owner, another)], [late.id, second.id]);
  await context().pool.query(`UPDATE installations SET node_id = NULL WHERE node_id = '${late.id}'`);
  await context().pool.query(`DELETE FROM nodes WHERE id = '${late.id}'`);
});

test('every reserved label of a node must be demanded', async () => {
  const appId = await anApp();
  for (const label of ['gpu', 'eu']) await reserveLabel(context(), label);
  await labelNode(context(), 'first', { add: ['gpu', 'eu'] });
  await labelNode(context(), 'second', { add: ['gpu'] });
  await addRule(context(), 'gpu', { account: null, appId });
  await install(owner, appId);
  assert.equal(await nodeOf(owner, appId), second.id);
  await addRule(context(), 'eu', { account: 'unsteered', appId });
  await install(stranger, appId);
  assert.equal(await nodeOf(stranger, appId), first.id);
});

test('where every machine is reserved for others, or only those have room, the owner reads so', async () => {
  const appId = await anApp();
  await reserveLabel(context(), 'gpu');
  await labelNode(context(), 'first', { add: ['gpu'] });
  count += 1;
  const large = `steered-${count}`;
  await publish(owner, large, { workload: { ...nodeWorkload, resources: { memoryMiB: 4_096 } } });
  const noRoom = await owner.fetch('/v1/apps', { body: { appId: large } });
  assert.deepEqual([noRoom.status, problemCode(noRoom)], [503, 'unavailable']);
  assert.match(noRoom.text, /No machine that is not reserved for other apps has room .* 4 GiB/);
  await labelNode(context(), 'second', { add: ['gpu'] });
  const refused = await owner.fetch('/v1/apps', { body: { appId } });
  assert.deepEqual([refused.status, problemCode(refused)], [503, 'unavailable']);
  assert.match(refused.text, /Every machine that takes backends is reserved for other apps/);
  await unreserveLabel(context(), 'gpu');
  await install(owner, appId);
  await assert.rejects(unreserveLabel(context(), 'gpu'), /gpu is not reserved/);
});

test('a reservation leaves what is there; draining moves it away and never to another reserved node', async () => {
  const [mine, other] = [await anApp(), await anApp({ volume: true })];
  await addRule(context(), 'gpu', { account: null, appId: mine });
  await labelNode(context(), 'first', { add: ['gpu'] });
  for (const appId of [mine, other]) await install(owner, appId);
  const placedBefore = await strangersOn('gpu');
  assert.ok(placedBefore > 0, 'what earlier tests placed on the first node');
  assert.equal(await nodeOf(owner, other), first.id);
  // Its data lies there, so it comes back in spite of the reservation.
  await owner.fetch(`/v1/apps/${other}`, { method: 'DELETE' });
  assert.equal(await strangersOn('gpu'), placedBefore - 1);
  await install(owner, other);
  assert.equal(await nodeOf(owner, other), first.id);
  await labelNode(context(), 'second', { add: ['gpu'] });
  const moving = await anApp();
  await unreserveLabel(context(), 'gpu');
  await install(owner, moving);
  assert.equal(await nodeOf(owner, moving), first.id);
  await reserveLabel(context(), 'gpu');
  await drainFirst();
  assert.deepEqual([await nodeOf(owner, moving), await nodeOf(owner, mine)], [null, second.id]);
  await labelNode(context(), 'second', { remove: ['gpu'] });
  await drainFirst();
  assert.equal(await nodeOf(owner, moving), second.id);
});

test('a backend without a volume that is installed again is placed by the rules of now', async () => {
  const appId = await anApp();
  await install(owner, appId);
  assert.equal(await nodeOf(owner, appId), first.id);
  await owner.fetch(`/v1/apps/${appId}`, { method: 'DELETE' });
  await reserveLabel(context(), 'gpu');
  await labelNode(context(), 'first', { add: ['gpu'] });
  await install(owner, appId);
  // Its former node must first confirm that it has ended; no Runtime does so here.
  assert.equal(await nodeOf(owner, appId), null);
  await context().pool.query('UPDATE installations SET held_by = NULL');
  await placeWaiting(context());
  assert.equal(await nodeOf(owner, appId), second.id);
});
