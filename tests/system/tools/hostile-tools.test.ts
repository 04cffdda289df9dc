// A backend that serves tools in every wrong way: what is no definition is not listed, what is no answer is an error with words, and
// nobody else is slowed.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Client, ProtocolError } from '@modelcontextprotocol/client';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { registerAccount, type TestAccount } from '../../support/client.ts';
import { type Constellation, startConstellation } from '../../support/constellation.ts';
import { installTestApp } from '../../support/installed-app.ts';
import { connectHub, type HubClient } from '../../support/mcp-client.ts';
import { publishTestApp } from '../../support/publish.ts';
import { type RealNode, startRealNode } from '../../support/real-node.ts';
import { bundleWorkload } from './bundle-workload.ts';

let world: Constellation;
let node: RealNode;
let ada: TestAccount;
let hub: HubClient;
let client: Client;

before(async () => {
  world = await startConstellation();
  node = await startRealNode(world, { credential: world.core.localNode.nodeCredential });
  ada = await registerAccount(world, 'ada');
  const workload = { runtime: 'node', entry: 'main.mjs', mcp: { path: '/tools' }, resources: { memoryMiB: 256 } };
  const files = { 'workload/main.mjs': await bundleWorkload('hostile-workload.ts'), 'frontend/index.html': '' };
  const permissions = [{ id: 'mcp.tools.serve', resources: ['self'] }];
  await publishTestApp(ada, 'evil', { workload, permissions }, files);
  await ada.browser.take('/v1/apps', { body: { appId: 'evil' } });
  const asker = await installTestApp(world, ada, 'asker', [{ id: 'mcp.tools.call', resources: ['*'] }]);
  const page = await asker.openFrontend();
  hub = await connectHub(world, page.capability, { origin: asker.origin });
  ({ client } = hub);
});
after(async () => {
  await hub?.[Symbol.asyncDispose]();
  await node?.stop();
  await world?.close();
});

const LISTED = [
  ...[
    'alternates',
    'breaks-off',
    'endless',
    'error',
    'explodes',
    'garbage',
    'huge',
    'lies',
    'long-words',
    'other-id',
    'own-meta',
  ],
  ...[
    'phishing',
    'platform-search.query',
    'recursive',
    'redirects',
    'rpc-error',
    'silent',
    'status-500',
    'structured',
    'text-only',
  ],
  ...['twice-answered', 'unstructured'],
];

test('only definitions that are some are listed, as the words of their app', async () => {
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name),
    LISTED.map((name) => `evil.${name}`),
  );
  const find = (name: string) => tools.find((tool) => tool.name === `evil.${name}`);
  assert.match(find('platform-search.query')?.description ?? '', /^\[evil says:\] I am built in\.$/);
  assert.deepEqual(find('own-meta')?._meta, { 'platform/app': { id: 'evil', name: 'evil' } });
  assert.ok(Buffer.byteLength(find('long-words')?.description ?? '') <= 4_096 + 20);
  assert.ok((find('long-words')?.title?.length ?? 0) <= 128);
  assert.deepEqual(find('lies')?.annotations, { destructiveHint: true });
  assert.equal(find('lies')?.icons, undefined);
});

async function call(name: string, given: object = {}): Promise<CallToolResult> {
  return client.callTool({ name: `evil.${name}`, arguments: { ...given } });
}
const wordsOf = ({ content }: CallToolResult) => (content[0] as { readonly text: string }).text;

for (const name of [
  ...[
    'huge',
    'endless',
    'garbage',
    'other-id',
    'status-500',
    'redirects',
    'breaks-off',
    'text-only',
    'structured',
    'unstructured',
  ],
])
  test(`an answer that is none is an error with words: ${name}`, async () => {
    const result = await call(name);
    assert.equal(result.isError, true, JSON.stringify(result).slice(0, 500));
    assert.match(wordsOf(result), /^(?:upstream_failed|upstream_timeout): /);
    assert.equal(result.structuredContent, undefined);
    assert.ok(!JSON.stringify(result).includes('evil.example'));
  });

test('a client that declares nothing is asked nothing', () =>
  assert.rejects(call('phishing'), (thrown) => {
    assert.ok(thrown instanceof ProtocolError);
    assert.deepEqual([thrown.code, thrown.message.includes('evil.example')], [-32_021, false]);
    return true;
  }));

test('errors of the app are its own, and cannot pass for refusals of the platform', async () => {
  const error = await call('error');
  assert.deepEqual([error.isError, wordsOf(error), error._meta?.['platform/refusal']], [true, 'it failed', undefined]);
  await assert.rejects(
    call('rpc-error'),
    (thrown) => thrown instanceof ProtocolError && !thrown.message.includes('\u202e'),
  );
  assert.equal(wordsOf(await call('twice-answered')), 'first');
});

test('a schema that takes too long stops its own tools for a while, and nobody else', async () => {
  assert.equal(wordsOf(await call('recursive', { a: { a: {} } })), 'fine');
  await assert.rejects(call('alternates', { a: `${'a'.repeat(60)}b` }), /takes too long/);
  await assert.rejects(call('alternates', { a: 'a' }), /takes too long/, 'not tried again');
  const waiting = await call('recursive', {});
  assert.match(wordsOf(waiting), /^rate_limited: /);
  const ben = await registerAccount(world, 'ben');
  const other = await installTestApp(world, ben, 'other', [
    { id: 'mcp.tools.call', resources: ['platform-*'] },
    { id: 'messaging.read', resources: ['*'] },
  ]);
  await using own = await connectHub(world, other.credential);
  const result = await own.client.callTool({ name: 'platform-messaging.identity', arguments: {} });
  assert.equal(result.isError, undefined);
});

test('a call of an app that never answers ends with its caller', async () => {
  const leaving = new AbortController();
  const silent = client.callTool({ name: 'evil.silent', arguments: {} }, { signal: leaving.signal });
  leaving.abort();
  await assert.rejects(silent);
});
