// What one app has beside its tools, under its own names: resources, prompts, completions and questions, in each revision, for whoever may
// use the app as a whole.
import assert from 'node:assert/strict';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { ProtocolError } from '@modelcontextprotocol/client';
import type { BridgePage, ToolCall } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../support/client.ts';
import { connectClient, OutsideClient } from '../../support/connected-client.ts';
import { type Constellation, startConstellation } from '../../support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../support/installed-app.ts';
import { connectHub, type HubClientOptions } from '../../support/mcp-client.ts';
import { publishTestApp } from '../../support/publish.ts';
import { type RealNode, startRealNode } from '../../support/real-node.ts';
import { until } from '../../support/wait.ts';
import { bundleWorkload } from './bundle-workload.ts';

const FIXTURE = path.resolve(import.meta.dirname, '../../interop/mcp-conformance/fixture-workload.ts');
const PATH = '/v1/services/mcp/fixture';

let world: Constellation;
let node: RealNode;
let ada: TestAccount;
let asker: InstalledTestApp;

before(async () => {
  world = await startConstellation();
  node = await startRealNode(world, { credential: world.core.localNode.nodeCredential });
  ada = await registerAccount(world, 'ada');
  const workload = { runtime: 'node', entry: 'main.mjs', mcp: { path: '/mcp' }, resources: { memoryMiB: 256 } };
  const files = { 'workload/main.mjs': await bundleWorkload(FIXTURE), 'frontend/index.html': '' };
  const permissions = [{ id: 'mcp.tools.serve', resources: ['self'] }];
  await publishTestApp(ada, 'fixture', { workload, permissions }, files);
  await ada.browser.take('/v1/apps', { body: { appId: 'fixture' } });
  asker = await installTestApp(world, ada, 'asker', [{ id: 'mcp.tools.call', resources: ['fixture.*'] }]);
});
after(async () => {
  await node?.stop();
  await world?.close();
});

async function connect(app: InstalledTestApp, options: HubClientOptions = {}) {
  const { capability } = await app.openFrontend();
  return connectHub(world, capability, { origin: app.origin, path: PATH, ...options });
}

for (const revision of ['modern', 'legacy'] as const)
  test(`resources, prompts and completions pass, in the ${revision} revision`, async () => {
    await using hub = await connect(asker, { revision });
    const { client } = hub;
    const { resources } = await client.listResources();
    assert.deepEqual(
      resources.map(({ uri, title, mimeType }) => [uri, title, mimeType]),
      [
        ['test://static-binary', 'Picture', 'image/png'],
        ['test://static-text', 'Text', 'text/plain'],
      ],
    );
    assert.deepEqual(resources[0]?._meta, { 'platform/app': { id: 'fixture', name: 'fixture' } });
    const read = await client.readResource({ uri: 'test://template/7/data' });
    assert.match(JSON.stringify(read.contents), /Data for ID: 7/);
    await assert.rejects(client.readResource({ uri: 'test://nothing' }), (error) => {
      assert.ok(error instanceof ProtocolError);
      assert.deepEqual([error.code, error.data], [-32_602, { uri: 'test://nothing' }]);
      return true;
    });
    const { prompts } = await client.listPrompts();
    const asks = prompts.find(({ name }) => name === 'test_prompt_with_arguments');
    assert.deepEqual(
      asks?.arguments?.map(({ name, required }) => [name, required]),
      [
        ['arg1', true],
        ['arg2', true],
      ],
    );
    const got = await client.getPrompt({ name: 'test_prompt_with_arguments', arguments: { arg1: 'a', arg2: 'b' } });
    assert.match(JSON.stringify(got.messages), /arg1='a', arg2='b'/);
    const ref = { type: 'ref/prompt' as const, name: 'test_prompt_with_arguments' };
    const { completion } = await client.complete({ ref, argument: { name: 'arg1', value: 'par' } });
    assert.deepEqual(completion.values, ['paris', 'park', 'party']);
  });

test('whoever may call single tools of the app sees nothing else of it', async () => {
  for (const [index, resources] of [
    ['fixture.test_simple_text'],
    ['fixture.test*'],
    ['platform-*', 'fixtures.*'],
  ].entries()) {
    const few = await installTestApp(world, ada, `few-${index}`, [{ id: 'mcp.tools.call', resources }]);
    await using hub = await connect(few);
    const { tools, ...others } = hub.client.getServerCapabilities() ?? {};
    assert.deepEqual([tools, others], [{ listChanged: true }, {}]);
    for (const attempt of [
      () => hub.client.request({ method: 'resources/list' }),
      () => hub.client.request({ method: 'resources/read', params: { uri: 'test://static-text' } }),
      () => hub.client.request({ method: 'prompts/get', params: { name: 'test_simple_prompt' } }),
    ])
      await assert.rejects(attempt());
  }
  await using everything = await connect(asker, { path: '/v1/services/mcp' });
  assert.equal(everything.client.getServerCapabilities()?.resources, undefined, 'names of two apps could be the same');
});

test('a connected client reads them with a token for the app as a whole', async () => {
  const at = { port: world.port, origin: new OutsideClient(world).origin };
  const whole = await connectClient(world, ada, { app: 'fixture', scopes: ['tools:call:fixture.*'] });
  await using hub = await connectHub(at, whole.tokens.access_token, { path: '/mcp/fixture' });
  assert.equal((await hub.client.listResources()).resources.length, 2);
  const one = await connectClient(world, ada, { app: 'fixture', scopes: ['tools:call:fixture.test_simple_text'] });
  await using narrow = await connectHub(at, one.tokens.access_token, { path: '/mcp/fixture' });
  assert.equal(narrow.client.getServerCapabilities()?.resources, undefined);
});

test('a person answers what a tool asks, and the tool goes on', async () => {
  await using hub = await connect(asker, { capabilities: { elicitation: { form: {} }, roots: {} } });
  const asked: string[] = [];
  hub.client.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push(params.message);
    return { action: 'accept', content: asked.length === 1 ? { name: 'Ada' } : { color: 'green' } };
  });
  const done = await hub.client.callTool({ name: 'test_input_required_result_multi_round', arguments: {} });
  assert.match(JSON.stringify(done.content), /green/);
  assert.deepEqual(asked, [
    '[fixture asks, not this platform:] Step 1: What is your name?',
    '[fixture asks, not this platform:] Step 2: What is your favorite color?',
  ]);
});

test('arguments that a backend wants in headers too are there, and clients send none', async () => {
  await using hub = await connect(asker);
  const { tools } = await hub.client.listTools();
  const { inputSchema } = tools.find(({ name }) => name === 'repeats_in_header') ?? {};
  assert.deepEqual(inputSchema?.properties, { region: { type: 'string' }, 'x-mcp-header': { type: 'string' } });
  const done = await hub.client.callTool({ name: 'repeats_in_header', arguments: { region: 'eu' } });
  assert.deepEqual(done.content, [{ type: 'text', text: 'both were there' }]);
});

test('what an app says of its work reaches whoever asked for it', async () => {
  for (const revision of ['modern', 'legacy'] as const) {
    await using hub = await connect(asker, { revision });
    const said: unknown[] = [];
    hub.client.setNotificationHandler(
      'notifications/message',
      ({ params }) => void said.push([params.logger, params.data]),
    );
    const _meta = { 'io.modelcontextprotocol/logLevel': 'info' };
    const params = { name: 'test_tool_with_logging', arguments: {}, ...(revision === 'modern' ? { _meta } : {}) };
    await hub.client.callTool(params);
    assert.deepEqual(said[0], ['fixture', 'Tool execution started'], revision);
    assert.equal(said.length, 3);
  }
});

test('a prompt that an app adds is listed, and a subscriber hears of it', async () => {
  const heard: unknown[] = [];
  await using hub = await connect(asker, {
    listChanged: { prompts: { autoRefresh: false, onChanged: (error) => void heard.push(error) } },
  });
  const subscription = await hub.client.listen({ promptsListChanged: true });
  await hub.client.callTool({ name: 'test_trigger_prompt_change', arguments: {} });
  await until('the change was heard', () => heard.length > 0);
  assert.ok((await hub.client.listPrompts()).prompts.some(({ name }) => name === 'added_1'));
  await subscription.close();
});

test('what is read and filled in is on record, by name and without what it was', async () => {
  const { items } = await ada.browser.take<BridgePage<ToolCall>>('/v1/account/tool-calls?limit=200');
  const made = new Set(items.map(({ caller, tool, outcome }) => `${caller} ${tool} ${outcome}`));
  for (const line of [
    'asker fixture.resources/read ok',
    'asker fixture.resources/read error',
    'asker fixture.prompts/get ok',
  ])
    assert.ok(made.has(line), line);
  assert.ok(![...made].some((line) => /few|completion|list/.test(line)));
});

test('a grant that is narrowed ends it at once', async () => {
  await using hub = await connect(asker);
  const permissions = [{ id: 'mcp.tools.call', resources: ['fixture.test_simple_text'] }];
  await ada.browser.take('/v1/apps/asker/permissions', { method: 'PUT', body: { permissions } });
  await assert.rejects(hub.client.readResource({ uri: 'test://static-text' }));
});
