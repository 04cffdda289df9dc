// The tools of the platform through the hub, by the official client in each revision: listed by grants, called as their routes are, and
// on record.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ProtocolError } from '@modelcontextprotocol/client';
import type { BridgePage, Grant, ToolCall } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { installTestApp } from '../../../../tests/support/installed-app.ts';
import { connectHub } from '../../../../tests/support/mcp-client.ts';

const ALL: Grant[] = [
  { id: 'mcp.tools.call', resources: ['platform-*'] },
  { id: 'messaging.read', resources: ['*'] },
  { id: 'messaging.send', resources: ['*'] },
  { id: 'messaging.resolve', resources: ['*'] },
  { id: 'notifications.publish', resources: ['daily'] },
  { id: 'notifications.read', resources: ['daily'] },
  { id: 'apps.catalog.read', resources: ['*'] },
];

let world: Constellation;
let ada: TestAccount;

before(async () => {
  world = await startConstellation();
  ada = await registerAccount(world, 'ada');
  await registerAccount(world, 'ben');
});
after(() => world?.close());

const NAMES = [
  'platform-apps.list',
  ...['conversations', 'direct', 'identity', 'messages', 'resolve', 'send', 'sync'].map(
    (one) => `platform-messaging.${one}`,
  ),
  ...['list', 'publish'].map((one) => `platform-notifications.${one}`),
];

for (const revision of ['modern', 'legacy'] as const) {
  test(`tools of the platform by a client of the ${revision} revision`, async () => {
    const app = await installTestApp(world, ada, `asker-${revision}`, ALL);
    const page = await app.openFrontend();
    await using hub = await connectHub(world, page.capability, { origin: app.origin, revision });
    const { tools } = await hub.client.listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      NAMES,
      'sorted, and runs of workflows for backends alone',
    );

    const opened = await hub.client.callTool({ name: 'platform-messaging.direct', arguments: { to: 'ben' } });
    const { conversation } = opened.structuredContent as { conversation: { id: string; state: string } };
    assert.equal(conversation.state, 'requested');
    const sent = await hub.client.callTool({
      name: 'platform-messaging.send',
      arguments: { conversationId: conversation.id, message: { body: `Hello from ${revision}` } },
    });
    assert.equal((sent.structuredContent as { message: { body: string } }).message.body, `Hello from ${revision}`);
    const read = await hub.client.callTool({
      name: 'platform-messaging.messages',
      arguments: { conversationId: conversation.id, limit: 1 },
    });
    assert.match(JSON.stringify(read.structuredContent), new RegExp(`Hello from ${revision}`));

    const wrongTopic = await hub.client.callTool({
      name: 'platform-notifications.publish',
      arguments: { topic: 'other', title: 'x', body: 'y' },
    });
    assert.equal(wrongTopic.isError, true);
    assert.match(JSON.stringify(wrongTopic.content), /grant_missing/);

    await using backend = await connectHub(world, app.credential, { revision });
    const listed = (await backend.client.listTools()).tools.map(({ name }) => name);
    assert.deepEqual(
      listed.filter((name) => !NAMES.includes(name)),
      ['platform-workflows.get', 'platform-workflows.list'],
    );

    for (const [name, given] of [
      ['platform-messaging.send', { conversationId: 3 }],
      ['platform-messaging.identity', { more: true }],
      ['platform-none.such', {}],
      ['notes.add', {}],
    ] as const)
      await assert.rejects(hub.client.callTool({ name, arguments: given }), ProtocolError, name);
  });
}

test('a caller sees the tools that its grants cover, and no others', async () => {
  const few: Grant[] = [
    { id: 'mcp.tools.call', resources: ['platform-messaging.identity', 'platform-notifications.list', 'notes.*'] },
    { id: 'messaging.read', resources: ['*'] },
  ];
  const app = await installTestApp(world, ada, 'modest', few);
  await using hub = await connectHub(world, app.credential);
  assert.deepEqual(
    (await hub.client.listTools()).tools.map(({ name }) => name),
    ['platform-messaging.identity'],
  );
  await assert.rejects(hub.client.callTool({ name: 'platform-messaging.conversations', arguments: {} }), ProtocolError);
  const none = await installTestApp(world, ada, 'without', [{ id: 'messaging.read', resources: ['*'] }]);
  const answer = await none.call('/v1/services/mcp', { body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } });
  assert.equal((answer.json as { code: string }).code, 'grant_missing');
});

test('the record says who called what and what came of it, newest first', async () => {
  const { items } = await ada.browser.take<BridgePage<ToolCall>>('/v1/account/tool-calls?limit=200');
  const made = items.filter(({ caller }) => caller === 'asker-modern').map(({ tool, outcome }) => `${tool} ${outcome}`);
  assert.deepEqual(made.toReversed().slice(0, 5), [
    'platform-messaging.direct ok',
    'platform-messaging.send ok',
    'platform-messaging.messages ok',
    'platform-notifications.publish error',
    'platform-messaging.send refused',
  ]);
  const page = await ada.browser.take<BridgePage<ToolCall>>('/v1/account/tool-calls?limit=3');
  const rest = await ada.browser.take<BridgePage<ToolCall>>(`/v1/account/tool-calls?limit=3&cursor=${page.nextCursor}`);
  assert.deepEqual([...page.items, ...rest.items], items.slice(0, 6));
});
