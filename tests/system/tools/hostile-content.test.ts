// A backend that serves resources, prompts and questions in every wrong way: what is no definition is not listed, what is no answer is an
// error with words, and no question passes for one of the platform.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Client, ProtocolError } from '@modelcontextprotocol/client';
import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server';
import { registerAccount, type TestAccount } from '../../support/client.ts';
import { type Constellation, startConstellation } from '../../support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../support/installed-app.ts';
import { connectHub, type HubClient, type HubClientOptions } from '../../support/mcp-client.ts';
import { publishTestApp } from '../../support/publish.ts';
import { type RealNode, startRealNode } from '../../support/real-node.ts';
import { bundleWorkload } from './bundle-workload.ts';
import { QUESTIONS } from './hostile-questions.ts';

const EVERYTHING: NonNullable<HubClientOptions['capabilities']> = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {} },
  roots: {},
};
const CALLING = [{ id: 'mcp.tools.call' as const, resources: ['evil.*'] }];

let world: Constellation;
let node: RealNode;
let ada: TestAccount;
let asker: InstalledTestApp;
let hub: HubClient;
let client: Client;

before(async () => {
  world = await startConstellation();
  node = await startRealNode(world, { credential: world.core.localNode.nodeCredential });
  ada = await registerAccount(world, 'ada');
  const workload = { runtime: 'node', entry: 'main.mjs', mcp: { path: '/mcp' }, resources: { memoryMiB: 256 } };
  const files = { 'workload/main.mjs': await bundleWorkload('hostile-content-workload.ts'), 'frontend/index.html': '' };
  const permissions = [{ id: 'mcp.tools.serve', resources: ['self'] }];
  await publishTestApp(ada, 'evil', { workload, permissions }, files);
  await ada.browser.take('/v1/apps', { body: { appId: 'evil' } });
  asker = await installTestApp(world, ada, 'asker', CALLING);
  hub = await open(asker);
  ({ client } = hub);
});
after(async () => {
  await hub?.[Symbol.asyncDispose]();
  await node?.stop();
  await world?.close();
});

async function open(
  app: InstalledTestApp,
  options: Pick<HubClientOptions, 'capabilities' | 'revision'> = {},
): Promise<HubClient> {
  const { capability } = await app.openFrontend();
  const path = '/v1/services/mcp/evil';
  return connectHub(world, capability, { origin: app.origin, path, capabilities: EVERYTHING, ...options });
}

const SAID = { 'platform/app': { id: 'evil', name: 'evil' } };

test('of resources and prompts only definitions that are some are listed', async () => {
  const { resources } = await client.listResources();
  assert.deepEqual(
    resources.map(({ uri }) => uri),
    ['asks', 'error', 'fine', 'garbage', 'huge', 'lies', 'none', 'silent'].map((name) => `evil://${name}`),
  );
  const lies = resources.find(({ name }) => name === 'lies');
  assert.ok((lies?.title?.length ?? 0) <= 128 && Buffer.byteLength(lies?.description ?? '') <= 4_096);
  assert.doesNotMatch(JSON.stringify(lies), /\u202e|169\.254|everybody|text\/html|"other"/u);
  assert.deepEqual([lies?.size, lies?.annotations, lies?._meta], [undefined, {}, SAID]);
  const { resourceTemplates } = await client.listResourceTemplates();
  assert.deepEqual(
    resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    ['evil://{id}'],
  );
  const { prompts } = await client.listPrompts();
  assert.deepEqual(
    prompts.map(({ name }) => name),
    ['no-messages', 'talks'],
  );
  const talks = prompts.find(({ name }) => name === 'talks');
  assert.ok(Buffer.byteLength(talks?.arguments?.[0]?.description ?? '') <= 4_096);
  assert.deepEqual([talks?._meta, talks?.icons, talks?.arguments?.[0]?.required], [SAID, undefined, undefined]);
});

test('what a resource holds passes as the app’s', async () => {
  const { contents } = await client.readResource({ uri: 'evil://fine' });
  assert.deepEqual(contents, [{ uri: 'evil://fine', text: 'fine', _meta: { own: 1 } }]);
});

for (const uri of ['evil://none', 'evil://huge', 'evil://garbage'])
  test(`an answer that is none is an error with words: ${uri}`, async () => {
    await assert.rejects(client.readResource({ uri }), (error) => {
      assert.ok(error instanceof ProtocolError);
      assert.match(error.message, /upstream_failed: /);
      return true;
    });
  });

test('a refusal of the app passes without its data', async () => {
  await assert.rejects(client.readResource({ uri: 'evil://error' }), (error) => {
    assert.ok(error instanceof ProtocolError);
    assert.deepEqual([error.message.includes('\u202e'), error.data], [false, undefined]);
    return true;
  });
});

for (const uri of ['', 'no-scheme', 'evil://ä', `evil://${'x'.repeat(3_000)}`])
  test(`what is no address reaches no app: ${uri.slice(0, 20)}`, () =>
    assert.rejects(client.readResource({ uri }), /no URI|Invalid|header/i));

test('prompts that are not listed reach no app, and what one says is cut and cleaned', async () => {
  for (const name of ['twice', 'a b', 'nothing']) await assert.rejects(client.getPrompt({ name }), /Unknown prompt/);
  await assert.rejects(client.getPrompt({ name: 'no-messages' }), /upstream_failed/);
  const { description = '', messages } = await client.getPrompt({ name: 'talks', arguments: { a: 'x' } });
  assert.ok(Buffer.byteLength(description) <= 4_096 && !description.includes('\u202e'));
  assert.match(JSON.stringify(messages), /resource_link/);
  assert.doesNotMatch(JSON.stringify(messages), /platform\/|127\.0\.0\.1/);
  await assert.rejects(
    client.getPrompt({ name: 'talks', arguments: { a: 'x'.repeat(300_000) } }),
    /payload_too_large: The arguments take more than/,
  );
});

test('completions are lines, and only of what is listed', async () => {
  const ref = { type: 'ref/prompt' as const, name: 'talks' };
  const { completion } = await client.complete({ ref, argument: { name: 'a', value: '' } });
  assert.ok(completion.values.every((value) => Buffer.byteLength(value) <= 1_024 && !value.includes('\u202e')));
  for (const other of [
    { type: 'ref/prompt' as const, name: 'twice' },
    { type: 'ref/resource' as const, uri: 'evil://{other}' },
  ])
    await assert.rejects(client.complete({ ref: other, argument: { name: 'a', value: '' } }), /Unknown reference/);
});

async function ask(name: string, given: HubClient = hub): Promise<CallToolResult | InputRequiredResult> {
  return given.client.callTool({ name, arguments: {} }, { allowInputRequired: true });
}

interface Asked {
  readonly message: string;
  readonly url?: string;
  readonly _meta?: object;
  readonly requestedSchema?: object;
}

for (const [name, { refused, passes }] of Object.entries(QUESTIONS))
  test(`a question: ${name}`, async () => {
    const answer = (await ask(name)) as CallToolResult & InputRequiredResult;
    if (refused !== undefined) {
      assert.equal(answer.isError, true, JSON.stringify(answer));
      const { text } = answer.content[0] as { readonly text: string };
      assert.match(text, /^upstream_failed: /);
      assert.match(text, refused);
      return;
    }
    assert.equal(answer.resultType, 'input_required', JSON.stringify(answer));
    const [question] = Object.values(answer.inputRequests ?? {}) as unknown as [{ readonly params: Asked }];
    const { message, url, _meta, requestedSchema } = question.params;
    assert.match(message, passes ?? /never/);
    assert.deepEqual(_meta, SAID);
    assert.doesNotMatch(JSON.stringify(requestedSchema ?? {}), /\u202e|\\u0007/u);
    if (url !== undefined) assert.equal(new URL(url).hostname, /at (\S+):\]/.exec(message)?.[1]);
  });

test('a resource asks as a tool does', async () => {
  const answer = await client.readResource({ uri: 'evil://asks' }, { allowInputRequired: true });
  const { inputRequests = {} } = answer as unknown as InputRequiredResult;
  const { params } = inputRequests.page as unknown as { readonly params: Asked };
  assert.match(params.message, /^\[evil asks, not this platform,/);
});

test('a client that declares nothing is asked nothing, in each revision', async () => {
  await using silent = await open(asker, { capabilities: {} });
  await assert.rejects(ask('url-elsewhere', silent), (error) => {
    assert.ok(error instanceof ProtocolError);
    assert.deepEqual([error.code, error.data], [-32_021, { requiredCapabilities: { elicitation: { url: {} } } }]);
    return true;
  });
  await using forms = await open(asker, { capabilities: { elicitation: { form: {} } } });
  await assert.rejects(ask('url-elsewhere', forms), /elicitation/);
  await using earlier = await open(asker, { revision: 'legacy' });
  const answer = (await ask('url-elsewhere', earlier)) as CallToolResult;
  assert.match(JSON.stringify(answer.content), /cannot be asked in its revision/);
});

test('what an app remembers serves its own caller, for the very request', async () => {
  const { requestState = '' } = (await ask('stateful')) as InputRequiredResult;
  assert.notEqual(requestState, 'mine');
  const again = (given: HubClient, more: object = {}, name = 'stateful') =>
    given.client.callTool({ name, arguments: {}, requestState, ...more } as Parameters<Client['callTool']>[0]);
  const done = (await again(hub)) as CallToolResult;
  assert.deepEqual(done.content, [{ type: 'text', text: 'mine' }]);
  const other = await installTestApp(world, ada, 'other', CALLING);
  await using others = await open(other);
  for (const [what, attempt] of [
    ['another caller', () => again(others)],
    ['other arguments', () => again(hub, { arguments: { a: 1 } })],
    ['another tool', () => again(hub, {}, 'impostor')],
    ['a changed state', () => again(hub, { requestState: `${requestState}x` })],
    ['the state as the app gave it', () => again(hub, { requestState: 'mine' })],
    ['no state at all', () => again(hub, { requestState: '' })],
  ] as const)
    await assert.rejects(attempt(), /requestState/, what);
});
