// A silent node: when core may declare it lost, what moves then, what stays with a reason, and what is never moved.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { NodeLease, WorkloadStatus } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { problemCode } from '../../../../tests/support/raw-http.ts';
import { bearer, install, installationRow, launch, nodeWorkload, publish } from '../../test-support/apps.ts';
import { type JoinedNode, joinTestNode } from '../../test-support/joined-node.ts';
import { LEASE_MARGIN_MILLISECONDS } from './heartbeat.ts';
import { cordonNode, drainNode, uncordonNode } from './manage-nodes.ts';
import { NodeWatch } from './watch-nodes.ts';

const LOST = 60_000;
const STORE = '3f0c1a52-6b1e-4a5f-9a54-0d7c6f2f3a11';
/** Core looks this often. */
const TICK = 5_000;

let platform: Constellation;
let account: TestAccount;
let count = 0;
let uptime = 0;
let watch: NodeWatch;

before(async () => {
  platform = await startConstellation();
  account = await registerAccount(platform, 'tenant');
  await cordonNode(platform.core.context, 'local');
  watch = new NodeWatch(platform.core.context, () => uptime);
});
after(() => platform.close());
afterEach(async () => {
  await platform.core.context.pool.query("DELETE FROM nodes WHERE name <> 'local'");
  await platform.core.context.pool.query("DELETE FROM installations WHERE app_id LIKE 'moving-%'");
});

async function anApp(workload: object): Promise<string> {
  count += 1;
  const appId = `moving-${count}`;
  await publish(account, appId, { workload: { ...nodeWorkload, ...workload } });
  await install(account, appId);
  return appId;
}

/** Lets core watch for so long; the nodes in `beating` send a heartbeat before each check. */
async function watchFor(milliseconds: number, ...beating: JoinedNode[]): Promise<void> {
  for (const end = uptime + milliseconds; uptime < end; ) {
    uptime = Math.min(uptime + TICK, end);
    for (const node of beating) assert.equal((await node.heartbeat()).status, 200);
    await watch.tick();
  }
}

async function isLost({ id }: JoinedNode): Promise<boolean> {
  const { rows } = await platform.core.context.pool.query('SELECT lost_at FROM nodes WHERE id = $1', [id]);
  return rows[0]?.lost_at !== null;
}

async function nodeOf(appId: string): Promise<string | null> {
  return (await installationRow(platform, account, appId)).node_id;
}

/** The answer to a workload start at this node. */
async function start(node: JoinedNode, appId: string): Promise<{ status: number; credential: string; epoch: number }> {
  const { id } = await installationRow(platform, account, appId);
  const answer = await node.call(`/v1/node/installations/${id}/starts`, {});
  const { coreServiceCredential = '', epoch = 0 } = answer.json as { coreServiceCredential?: string; epoch?: number };
  return { status: answer.status, credential: coreServiceCredential, epoch };
}

test('the lease of a node ends well before core takes it for lost', async () => {
  const node = await joinTestNode(platform, 'leased');
  const lease = (await node.heartbeat()).json as NodeLease;
  assert.equal(lease.leaseMilliseconds, LOST - LEASE_MARGIN_MILLISECONDS);
  assert.ok(lease.heartbeatMilliseconds * 4 <= (lease.leaseMilliseconds ?? 0), 'three may go missing');
  const local = await bearer(platform, platform.core.localNode.nodeCredential, '/v1/node/heartbeat', {});
  assert.equal((local.json as NodeLease).leaseMilliseconds, null, 'no other core could take this machine for lost');
});

test('what is not bound to a silent node runs elsewhere; the former credentials are dead, the epoch goes on', async () => {
  const first = await joinTestNode(platform, 'first', { machine: { sharedStore: STORE } });
  const apps = [await anApp({}), await anApp({ mode: 'always' }), await anApp({ volume: true })];
  const former = await start(first, apps[0] ?? '');
  const services = async () => (await bearer(platform, former.credential, '/v1/services/apps')).status;
  assert.equal(await services(), 403);
  const second = await joinTestNode(platform, 'second', { machine: { sharedStore: STORE } });
  await watchFor(LOST, second);
  assert.equal(await isLost(first), false, 'so much silence is still in order');
  await watchFor(TICK, second);
  assert.deepEqual([await isLost(first), await isLost(second)], [true, false]);
  for (const appId of apps) assert.equal(await nodeOf(appId), second.id);
  // What a core remembers of a credential is dropped by a signal, which comes a moment later where much else is done.
  let seen = await services();
  while (seen === 403) seen = await services();
  assert.equal(seen, 401);
  assert.equal((await start(first, apps[0] ?? '')).status, 404, 'the lost node cannot start it any more');
  const next = await start(second, apps[0] ?? '');
  assert.deepEqual([next.status, next.epoch], [200, former.epoch + 1]);
  const { backend } = await launch(account, apps[0] ?? '');
  const ticket = Buffer.from((backend?.endpointTicket ?? '').slice('pet1.'.length), 'base64url').toString();
  assert.match(ticket, /https:\/\/second\.example\/e\//);
  assert.equal((await first.heartbeat()).status, 200);
  assert.equal(await isLost(first), false, 'it is back');
  assert.deepEqual(await first.assigned(), []);
});

test('a node that stops hands over what can move, at once, and the owner of the rest gets the reason', async () => {
  const first = await joinTestNode(platform, 'stopping', { machine: { sharedStore: STORE } });
  const alone = await anApp({});
  assert.equal((await first.call('/v1/node/leave', {})).status, 204);
  assert.deepEqual([await isLost(first), await nodeOf(alone)], [false, first.id], 'no other could take it');
  const bound = await anApp({ volume: true });
  await platform.core.context.pool.query('UPDATE installations SET volume_store = NULL WHERE app_id = $1', [bound]);
  const second = await joinTestNode(platform, 'other', { machine: { sharedStore: STORE } });
  const moving = [alone, await anApp({ mode: 'always' })];
  assert.equal((await first.call('/v1/node/leave', {})).status, 204);
  for (const appId of moving) assert.equal(await nodeOf(appId), second.id);
  assert.equal(await nodeOf(bound), first.id);
  const status = await account.browser.take<WorkloadStatus>(`/v1/apps/${bound}/status`);
  assert.match(
    status.reason ?? '',
    /^The machine stopping does not answer, and the data of this app lies there\. The app runs again/,
  );
  assert.equal((await start(first, alone)).status, 404);
  // Twice, or by a node that was taken for lost before, changes nothing.
  assert.equal((await first.call('/v1/node/leave', {})).status, 204);
  await first.heartbeat();
  assert.equal(await isLost(first), false, 'it is back');
  assert.equal((await start(first, bound)).status, 200);
  assert.equal(await nodeOf(alone), second.id);
});

test('a volume on a silent node stays, and its owner gets the reason and what comes next', async () => {
  const first = await joinTestNode(platform, 'keeper');
  const bound = await anApp({ volume: true });
  const second = await joinTestNode(platform, 'second', { machine: { sharedStore: STORE } });
  await watchFor(LOST + TICK, second);
  assert.equal(await isLost(first), true);
  assert.equal(await nodeOf(bound), first.id);
  const sentence = /^The machine keeper does not answer, and the data of this app lies there\. [^.]*\.$/;
  const status = await account.browser.take<WorkloadStatus>(`/v1/apps/${bound}/status`);
  assert.equal(status.state, 'failed');
  assert.match(status.reason ?? '', sentence);
  const started = await account.fetch(`/v1/apps/${bound}/start`, { body: {} });
  assert.deepEqual([started.status, problemCode(started)], [503, 'workload_unavailable']);
  const { rows } = await platform.core.context.pool.query<{ state: string; reason: string }>(
    'SELECT state, reason FROM installation_status WHERE node_id = $1',
    [first.id],
  );
  assert.equal(rows[0]?.state, 'failed');
  assert.match(rows[0]?.reason ?? '', sentence);
  await first.heartbeat();
  assert.equal((await start(first, bound)).status, 200, 'it comes back with its machine');
});

test('a shared volume goes to a node that has the same folder, and waits for one otherwise', async () => {
  await joinTestNode(platform, 'first', { machine: { sharedStore: STORE } });
  const appId = await anApp({ volume: true });
  const stranger = await joinTestNode(platform, 'stranger', {
    machine: { sharedStore: '00000000-0000-4000-8000-000000000000', memoryMiB: 1_000_000 },
  });
  await watchFor(LOST + TICK, stranger);
  assert.equal(await nodeOf(appId), null);
  const waiting = await account.fetch(`/v1/apps/${appId}/status`);
  assert.match(waiting.text, /No machine has room/);
  const sharing = await joinTestNode(platform, 'sharing', { machine: { sharedStore: STORE } });
  await watch.tick();
  assert.equal(await nodeOf(appId), sharing.id);
});

test('what ran on a machine of the platform never moves to a machine of others', async () => {
  await joinTestNode(platform, 'ours', { labels: ['platform-hosted'] });
  const appId = await anApp({});
  const theirs = await joinTestNode(platform, 'theirs', { labels: ['self-hosted'] });
  await watchFor(LOST + TICK, theirs);
  assert.equal(await nodeOf(appId), null);
  const other = await joinTestNode(platform, 'ours-too', { labels: ['platform-hosted'] });
  await watch.tick();
  assert.equal(await nodeOf(appId), other.id);
});

test('a core that was held up, or just started, believes no silence that it did not watch', async () => {
  const node = await joinTestNode(platform, 'patient');
  await watchFor(LOST);
  uptime += 10 * LOST;
  await watch.tick();
  assert.equal(await isLost(node), false, 'core slept, not the node');
  await watchFor(LOST - TICK);
  assert.equal(await isLost(node), false);
  const fresh = new NodeWatch(platform.core.context, () => uptime);
  await fresh.tick();
  uptime += 2 * TICK;
  await fresh.tick();
  assert.equal(await isLost(node), false);
});

test('a core configured with a shorter timeout honours leases that were granted with a longer one', async () => {
  const node = await joinTestNode(platform, 'promised');
  const { context } = platform.core;
  const hasty = { ...context, config: { ...context.config, nodeLostMilliseconds: 20_000 } };
  const rival = new NodeWatch(hasty, () => uptime);
  const watchHastily = async (milliseconds: number) => {
    for (const end = uptime + milliseconds; uptime < end; ) {
      uptime += 2_000;
      await rival.tick();
    }
  };
  await rival.tick();
  await watchHastily(LOST - 2_000);
  assert.equal(await isLost(node), false);
  await watchHastily(2_000);
  assert.equal(await isLost(node), true);
});

test('clocks of the wall that jump change nothing', async () => {
  const node = await joinTestNode(platform, 'timeless');
  await watch.tick();
  const { pool } = platform.core.context;
  await pool.query("UPDATE nodes SET seen_at = seen_at - interval '10 years' WHERE id = $1", [node.id]);
  await watchFor(LOST - TICK);
  assert.equal(await isLost(node), false);
});

test('a heartbeat in the same moment counts, and two cores that watch move nothing twice', async () => {
  const first = await joinTestNode(platform, 'raced');
  const appId = await anApp({});
  const second = await joinTestNode(platform, 'second');
  const rival = new NodeWatch(platform.core.context, () => uptime);
  await watch.tick();
  await rival.tick();
  for (const end = uptime + LOST - TICK; uptime < end; ) {
    uptime += TICK;
    await second.heartbeat();
    await Promise.all([watch.tick(), rival.tick()]);
  }
  uptime += TICK;
  await second.heartbeat();
  await Promise.all([first.heartbeat(), watch.tick(), rival.tick()]);
  const lost = await isLost(first);
  const there = await nodeOf(appId);
  if (!lost && there === first.id) return;
  // The look came first: then the node is back without what was taken from it.
  assert.equal(there, second.id);
  assert.equal((await start(first, appId)).status, 404);
});

test('draining moves what can move, leaves what is bound, and waits until the node has let go', async () => {
  const { context } = platform.core;
  const first = await joinTestNode(platform, 'drained', { machine: { sharedStore: STORE } });
  const [moving, sharing] = [await anApp({}), await anApp({ volume: true })];
  await context.pool.query('UPDATE nodes SET shared_store = NULL WHERE id = $1', [first.id]);
  const bound = await anApp({ volume: true });
  const second = await joinTestNode(platform, 'second', { machine: { sharedStore: STORE } });
  const { moved, waiting, bound: left } = await drainNode(context, 'drained');
  assert.equal(moved, 2);
  // Nothing listens at the address that this node gave.
  assert.deepEqual([...waiting].sort(), [moving, sharing].sort());
  assert.deepEqual(left, [{ appId: bound, account: 'tenant' }]);
  assert.equal((await start(first, moving)).status, 404, 'it cannot start there again');
  assert.equal((await start(second, moving)).status, 404, 'and nowhere else before the node has let go');
  await watchFor(LOST + TICK, second);
  assert.deepEqual([await nodeOf(moving), await nodeOf(sharing)], [second.id, second.id]);
  assert.equal(await nodeOf(bound), first.id);
  await uncordonNode(context, 'drained');
});
