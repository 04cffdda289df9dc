// Public UDP ports as core remembers them: what nodes report, for the owner and for the next node.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { Assignments, Grant, InstallationId, PublicPortStatus } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { install, installationRow, nodeWorkload, publish } from '../../test-support/apps.ts';
import { type JoinedNode, joinTestNode } from '../../test-support/joined-node.ts';
import { forgetVolume } from '../installations/queries.ts';
import { cordonNode } from '../nodes/manage-nodes.ts';
import { takeFromLost } from './move-installations.ts';
import { deletePorts, selectPorts } from './port-queries.ts';

let platform: Constellation;
let account: TestAccount;
let count = 0;

before(async () => {
  platform = await startConstellation();
  account = await registerAccount(platform, 'tenant');
  await cordonNode(platform.core.context, 'local');
});
after(() => platform.close());
afterEach(async () => {
  await platform.core.context.pool.query("DELETE FROM installations WHERE app_id LIKE 'game-%'");
  await platform.core.context.pool.query("DELETE FROM nodes WHERE name <> 'local'");
});

const permissions: Grant[] = [{ id: 'endpoints.public.udp', resources: ['UDP:7777', 'UDP:auto'] }];
const publicPorts = [
  { name: 'play', protocol: 'udp', containerPort: 7777 },
  { name: 'voice', protocol: 'udp', containerPort: 'auto' },
];

async function aGame(volume: boolean): Promise<{ readonly appId: string; readonly id: InstallationId }> {
  count += 1;
  const appId = `game-${count}`;
  await publish(account, appId, {
    schemaVersion: 4,
    workload: { ...nodeWorkload, volume },
    permissions: permissions.map((permission) => ({ ...permission, reason: 'Lets players in.' })),
    publicPorts,
  });
  await install(account, appId, permissions);
  return { appId, id: (await installationRow(platform, account, appId)).id as InstallationId };
}

const voice: PublicPortStatus = {
  name: 'voice',
  protocol: 'udp',
  containerPort: 40_001,
  host: 'one.example',
  hostPort: 40_001,
};

async function report(node: JoinedNode, installationId: InstallationId, ports?: readonly PublicPortStatus[]) {
  const since = platform.core.context.clock().toISOString();
  const item = { installationId, state: 'running', since, restarts: 0, lastExit: null, unenforced: [] };
  const items = [{ ...item, ...(ports === undefined ? {} : { publicPorts: ports }) }];
  assert.equal((await node.call('/v1/node/status', { items })).status, 204);
}

async function assignedPorts(node: JoinedNode) {
  const { items } = (await node.call('/v1/node/assignments')).json as Assignments;
  return items[0]?.udpPorts;
}

const portsOf = (id: InstallationId) => selectPorts(platform.core.context.database, id);

test('what a node reports of its ports is kept; of another node’s, or of ports that the app does not declare, nothing is', async () => {
  const [node, other] = [await joinTestNode(platform, 'one'), await joinTestNode(platform, 'other')];
  const { id } = await aGame(false);
  const { node_id: nodeId } = await installationRow(platform, account, `game-${count}`);
  const [mine, foreign] = nodeId === node.id ? [node, other] : [other, node];
  await report(foreign, id, [{ ...voice, hostPort: 66 }]);
  assert.deepEqual(await portsOf(id), []);
  await report(mine, id, [
    voice,
    { ...voice, hostPort: 7 },
    { ...voice, name: 'undeclared' },
    { ...voice, name: 'play', hostPort: 0 },
  ]);
  const open = { name: 'voice', host: 'one.example', host_port: 40_001, container_port: 40_001, closed: null };
  assert.deepEqual(await portsOf(id), [open]);
  await report(mine, id, [{ ...voice, closed: 'It opens when the backend runs.' }]);
  assert.deepEqual(await portsOf(id), [{ ...open, closed: 'It opens when the backend runs.' }]);
  await report(mine, id, [voice]);
  await report(mine, id);
  assert.deepEqual(await portsOf(id), [{ ...open, closed: 'Its machine does not publish it now.' }]);
});

test('the next node is asked for the number that clients know; the node that gave it is not', async () => {
  const first = await joinTestNode(platform, 'first');
  const { id } = await aGame(false);
  await report(first, id, [voice]);
  const granted = [
    { name: 'play', containerPort: 7777 },
    { name: 'voice', containerPort: 'auto' },
  ];
  assert.deepEqual(await assignedPorts(first), granted);
  const second = await joinTestNode(platform, 'second');
  await takeFromLost(platform.core.context, first.id);
  await platform.core.context.pool.query('UPDATE installations SET node_id = $1, waiting = false WHERE id = $2', [
    second.id,
    id,
  ]);
  assert.deepEqual(await assignedPorts(second), [granted[0], { ...granted[1], hostPort: 40_001 }]);
  assert.deepEqual(await portsOf(id), [], 'the owner sees no address at which nothing is');
  await report(second, id, [{ ...voice, host: 'two.example' }]);
  assert.deepEqual(await assignedPorts(second), granted);
  assert.equal((await portsOf(id))[0]?.host, 'two.example');
});

test('a number is given up with the app, or with its volume where it has one', async () => {
  const node = await joinTestNode(platform, 'one');
  const { database, pool } = platform.core.context;
  const rows = async (id: InstallationId) =>
    (await pool.query('SELECT FROM udp_ports WHERE installation_id = $1', [id])).rowCount;
  const [without, keeping] = [await aGame(false), await aGame(true)];
  for (const { appId, id } of [without, keeping]) {
    await report(node, id, [voice]);
    await account.fetch(`/v1/apps/${appId}`, { method: 'DELETE' });
  }
  assert.deepEqual([await rows(without.id), await rows(keeping.id)], [0, 1]);
  // As `DELETE /v1/account/volumes/:appId` after the node has deleted it.
  assert.equal(await forgetVolume(database, keeping.id), true);
  await deletePorts(database, keeping.id);
  assert.equal(await rows(keeping.id), 0);
});
