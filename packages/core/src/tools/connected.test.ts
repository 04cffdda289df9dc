// Connected clients at /mcp: what their person allowed, by the official client; and what ends it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { BridgePage, Connection, ToolCall } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { connectClient, OutsideClient } from '../../../../tests/support/connected-client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { connectHub } from '../../../../tests/support/mcp-client.ts';

let world: Constellation;
let ada: TestAccount;

before(async () => {
  world = await startConstellation();
  ada = await registerAccount(world, 'ada');
  await registerAccount(world, 'ben');
});
after(() => world?.close());

const outside = () => ({ port: world.port, origin: new OutsideClient(world).origin });

for (const revision of ['modern', 'legacy'] as const)
  test(`a client reads and proposes what was chosen beforehand, in the ${revision} revision`, async () => {
    const { tokens } = await connectClient(world, ada);
    await using hub = await connectHub(outside(), tokens.access_token, { path: '/mcp', revision });
    const { tools } = await hub.client.listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      [
        ...['apps.list', 'contacts.list', 'messaging.conversations', 'messaging.direct', 'messaging.identity'],
        ...['messaging.messages', 'messaging.resolve', 'messaging.send', 'messaging.sync', 'notifications.list'],
        ...['proposals.cancel', 'proposals.get', 'proposals.list', 'schedules.list', 'search.query'],
      ].map((name) => `platform-${name}`),
    );
    const proposed = tools.filter(({ _meta }) => _meta?.['platform/approval'] === 'required').map(({ name }) => name);
    assert.deepEqual(
      proposed,
      ['platform-messaging.direct', 'platform-messaging.send'],
      'all that does more than read',
    );
    for (const [name, given] of [
      ['platform-apps.list', {}],
      ['platform-contacts.list', { limit: 10 }],
      ['platform-messaging.identity', {}],
      ['platform-messaging.resolve', { address: 'ben' }],
      ['platform-notifications.list', { limit: 1 }],
      ['platform-schedules.list', {}],
      ['platform-search.query', { q: 'messages' }],
    ] as const) {
      const result = await hub.client.callTool({ name, arguments: given });
      assert.equal(result.isError, undefined, `${name} ${JSON.stringify(result.content)}`);
    }
  });

test('a client that may write does so as its person, and the record names it', async () => {
  const { tokens } = await connectClient(world, ada, { scopes: ['tools:call:platform-messaging.*'] });
  await using hub = await connectHub(outside(), tokens.access_token, { path: '/mcp' });
  const opened = await hub.client.callTool({ name: 'platform-messaging.direct', arguments: { to: 'ben' } });
  const { conversation } = opened.structuredContent as { conversation: { id: string } };
  const sent = await hub.client.callTool({
    name: 'platform-messaging.send',
    arguments: { conversationId: conversation.id, message: { body: 'from outside' } },
  });
  assert.equal(sent.isError, undefined, JSON.stringify(sent.content));
  const { items } = await ada.browser.take<BridgePage<ToolCall>>('/v1/account/tool-calls');
  const { items: connections } = await ada.browser.take<BridgePage<Connection>>('/v1/account/connections');
  const writer = connections.find(({ scopes }) => scopes.includes('tools:call:platform-messaging.*'));
  assert.equal(items[0]?.tool, 'platform-messaging.send');
  assert.equal(items[0]?.caller, writer?.id);
});

test('without a token that serves there, a client learns where to get one', async () => {
  const client = new OutsideClient(world);
  const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const ask = (path: string, headers: Readonly<Record<string, string>>) =>
    client.send(path, { method: 'POST', body: message, headers: { 'content-type': 'application/json', ...headers } });
  const without = await ask('/mcp', {});
  assert.equal(without.status, 401);
  const where = `resource_metadata="${client.origin}/.well-known/oauth-protected-resource/mcp"`;
  assert.equal(without.headers['www-authenticate'], `Bearer ${where}`);
  const wrong = await ask('/mcp/notes', { authorization: `Bearer pct_${'x'.repeat(43)}` });
  assert.match(
    String(wrong.headers['www-authenticate']),
    /^Bearer error="invalid_token", resource_metadata=".*\/mcp\/notes"$/,
  );
  const one = await connectClient(world, ada, { app: 'notes', scopes: ['tools:call:*'] });
  const elsewhere = await ask('/mcp', { authorization: `Bearer ${one.tokens.access_token}` });
  assert.equal(elsewhere.status, 403);
  const noApp = await ask('/mcp/notes', { authorization: `Bearer ${one.tokens.access_token}` });
  assert.equal(noApp.status, 404);
});

test('a page may ask before it sends its token, and reads what it is refused', async () => {
  const client = new OutsideClient(world);
  const origin = 'http://127.0.0.1:6274';
  for (const path of ['/mcp', '/mcp/notes']) {
    const asked = await client.send(path, { method: 'OPTIONS', headers: { origin } });
    assert.equal(asked.status, 204);
    assert.equal(asked.headers['access-control-allow-origin'], origin);
    assert.match(String(asked.headers['access-control-allow-headers']), /authorization.*mcp-protocol-version/);
    const refused = await client.send(path, { method: 'POST', body: '{}', headers: { origin } });
    assert.deepEqual([refused.status, refused.headers['access-control-allow-origin']], [401, origin]);
    assert.match(String(refused.headers['access-control-expose-headers']), /WWW-Authenticate/);
  }
  const { tokens } = await connectClient(world, ada);
  const headers = { authorization: `Bearer ${tokens.access_token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const elsewhere = { ...headers, origin: 'https://evil.example' };
  assert.equal((await client.send('/mcp', { method: 'POST', body, headers: elsewhere })).status, 403);
});

test('a connection that its person ends is refused at the next call', async () => {
  const { tokens } = await connectClient(world, ada);
  await using hub = await connectHub(outside(), tokens.access_token, { path: '/mcp' });
  const { items } = await ada.browser.take<BridgePage<Connection>>('/v1/account/connections');
  for (const { id } of items) await ada.browser.take(`/v1/account/connections/${id}`, { method: 'DELETE' });
  await assert.rejects(hub.client.listTools());
});
