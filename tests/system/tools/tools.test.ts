// Tools of one app called by another, through the hub, a real Gateway and a real backend that the official package serves.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ProtocolError } from '@modelcontextprotocol/client';
import type { Grant } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../support/client.ts';
import { type Constellation, startConstellation } from '../../support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../support/installed-app.ts';
import { connectHub, type HubClientOptions } from '../../support/mcp-client.ts';
import { publishTestApp } from '../../support/publish.ts';
import { type RealNode, startRealNode } from '../../support/real-node.ts';
import { until } from '../../support/wait.ts';
import { bundleWorkload } from './bundle-workload.ts';

const SERVE: Grant = { id: 'mcp.tools.serve', resources: ['self'] };
const TOOLS = ['add', 'caller', 'count', 'grow', 'hold', 'picture', 'steps'];

let world: Constellation;
let node: RealNode;
let ada: TestAccount;
let asker: InstalledTestApp;

before(async () => {
  world = await startConstellation();
  node = await startRealNode(world, { credential: world.core.localNode.nodeCredential });
  ada = await registerAccount(world, 'ada');
  const workload = { runtime: 'node', entry: 'main.mjs', mcp: { path: '/mcp' }, resources: { memoryMiB: 256 } };
  const files = { 'workload/main.mjs': await bundleWorkload('notes-workload.ts'), 'frontend/index.html': '' };
  await publishTestApp(ada, 'notes', { workload, permissions: [SERVE] }, files);
  await ada.browser.take('/v1/apps', { body: { appId: 'notes' } });
  asker = await installTestApp(world, ada, 'asker', [{ id: 'mcp.tools.call', resources: ['notes.*'] }]);
});
after(async () => {
  await node?.stop();
  await world?.close();
});

async function connect(options: HubClientOptions = {}) {
  const page = await asker.openFrontend();
  return connectHub(world, page.capability, { origin: asker.origin, ...options });
}

const textOf = ({ content }: { readonly content: readonly unknown[] }) =>
  (content[0] as { readonly text: string }).text;

for (const revision of ['modern', 'legacy'] as const)
  test(`an app uses the tools of another one, in the ${revision} revision`, async () => {
    await using hub = await connect({ revision });
    const { tools } = await hub.client.listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      TOOLS.map((name) => `notes.${name}`),
    );
    const add = tools.find(({ name }) => name === 'notes.add');
    assert.equal(add?.description, '[notes says:] Keeps a note. hidden ');
    const kept = await hub.client.callTool({ name: 'notes.add', arguments: { note: 'milk' } });
    assert.equal(typeof (kept.structuredContent as { count: number }).count, 'number');
    assert.deepEqual(
      Object.keys(kept._meta ?? {}).filter((name) => name.startsWith('platform/')),
      [],
    );
    assert.equal(kept._meta?.own, 1);
    const { caller, chain, authorization } = JSON.parse(
      textOf(await hub.client.callTool({ name: 'notes.caller', arguments: {} })),
    );
    assert.equal(caller, 'asker');
    assert.ok(typeof chain === 'string' && !chain.includes('inst-'), 'opaque');
    assert.equal(authorization, undefined);
    const { content } = await hub.client.callTool({ name: 'notes.picture' });
    assert.deepEqual(
      content.map(({ type }) => type),
      ['image', 'resource_link'],
    );
    const steps: number[] = [];
    const done = await hub.client.callTool(
      { name: 'notes.steps', arguments: { steps: 3 } },
      { onprogress: ({ progress }) => void steps.push(progress) },
    );
    assert.deepEqual([textOf(done), steps], ['done', [1, 2, 3]]);
    await assert.rejects(hub.client.callTool({ name: 'notes.add', arguments: { note: 7 } }), ProtocolError);
    await assert.rejects(hub.client.callTool({ name: 'notes.nothing', arguments: {} }), ProtocolError);
  });

test('one app alone has its tools under their own names', async () => {
  await using hub = await connect({ path: '/v1/services/mcp/notes' });
  assert.deepEqual(
    (await hub.client.listTools()).tools.map(({ name }) => name),
    TOOLS,
  );
  assert.equal((await hub.client.callTool({ name: 'add', arguments: { note: 'eggs' } })).isError, undefined);
  await assert.rejects(connect({ path: '/v1/services/mcp/nobody' }));
});

test('a call that its caller leaves ends at the backend', async () => {
  await using hub = await connect();
  const leaving = new AbortController();
  const held = hub.client.callTool({ name: 'notes.hold', arguments: {} }, { signal: leaving.signal });
  held.catch(() => undefined);
  const counted = async () => JSON.parse(textOf(await hub.client.callTool({ name: 'notes.count' })));
  await until('it is at the backend', async () => (await counted()).holding > 0);
  const { cancelled: before } = await counted();
  leaving.abort();
  await assert.rejects(held);
  await until('the backend saw it', async () => (await counted()).cancelled > before);
});

test('a tool that an app adds is listed, and a subscriber hears of it', async () => {
  const heard: unknown[] = [];
  await using hub = await connect({
    listChanged: { tools: { autoRefresh: false, onChanged: (error) => void heard.push(error) } },
  });
  const subscription = await hub.client.listen({ toolsListChanged: true });
  await hub.client.callTool({ name: 'notes.grow', arguments: {} });
  await until('the change was heard', () => heard.length > 0);
  assert.ok((await hub.client.listTools()).tools.some(({ name }) => name === 'notes.new-one'));
  await subscription.close();
});

test('a grant that is taken away ends what it began, and the next call', async () => {
  await using hub = await connect();
  const held = hub.client.callTool({ name: 'notes.hold', arguments: {} });
  held.catch(() => undefined);
  await until(
    'it is under way',
    async () => (await hub.client.callTool({ name: 'notes.count' })).isError === undefined,
  );
  await ada.browser.take('/v1/apps/asker/permissions', { method: 'PUT', body: { permissions: [] } });
  await assert.rejects(held);
  await assert.rejects(hub.client.callTool({ name: 'notes.count' }));
  const permissions = [{ id: 'mcp.tools.call', resources: ['notes.*'] }];
  await ada.browser.take('/v1/apps/asker/permissions', { method: 'PUT', body: { permissions } });
});
