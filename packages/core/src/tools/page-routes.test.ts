// Tools for pages through the shell: as the app, within its grants, whatever the session itself may do.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { BridgePage, Grant, ShownProposal, ToolAnswer, ToolCall, UsableTool } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { installTestApp } from '../../../../tests/support/installed-app.ts';
import type { RawAnswer } from '../../../../tests/support/raw-http.ts';

const PUBLISH: Grant[] = [
  { id: 'mcp.tools.call', resources: ['platform-notifications.*'] },
  { id: 'notifications.publish', resources: ['daily'] },
];

let world: Constellation;
let ada: TestAccount;
before(async () => {
  world = await startConstellation();
  ada = await registerAccount(world, 'ada');
  await installTestApp(world, ada, 'asker', PUBLISH);
  await installTestApp(world, ada, 'modest', [...PUBLISH, { id: 'mcp.tools.propose', resources: ['platform-*'] }]);
  await installTestApp(world, ada, 'without', [{ id: 'notifications.publish', resources: ['daily'] }]);
});
after(() => world?.close());

const call = (body: object, appId = 'asker') =>
  ada.browser.fetch(`/v1/apps/${appId}/mcp/calls`, { body, headers: { origin: world.origin } });
const codeOf = ({ json }: RawAnswer) => (json as { readonly code: string }).code;

test('a page lists and calls what its app may use, and the record names the app', async () => {
  // As a browser sends what only reads: without an Origin.
  const listing = { headers: { origin: undefined } };
  const { items, nextCursor } = await ada.browser.take<BridgePage<UsableTool>>('/v1/apps/asker/mcp/tools', listing);
  assert.deepEqual(
    items.map(({ name, app, approval }) => [name, app, approval]),
    [['platform-notifications.publish', null, 'none']],
  );
  assert.equal(items[0]?.inputSchema.type, 'object');
  assert.equal(nextCursor, null);
  const news = { topic: 'daily', title: 'Bread', body: 'is here' };
  const done = await call({ name: 'platform-notifications.publish', arguments: news });
  assert.equal(done.status, 200, done.text);
  const answer = done.json as Extract<ToolAnswer, { kind: 'result' }>;
  assert.deepEqual([answer.kind, answer.isError, answer.refusal], ['result', false, null]);
  assert.match(JSON.stringify(answer.structuredContent), /Bread/);
  const record = await ada.browser.take<BridgePage<ToolCall>>('/v1/account/tool-calls');
  assert.deepEqual(
    record.items.map(({ caller, tool, outcome }) => [caller, tool, outcome]),
    [['asker', 'platform-notifications.publish', 'ok']],
  );
});

test('a refusal within a tool is a result that says so; what is no tool of the app is refused', async () => {
  const news = { topic: 'other', title: 'Bread', body: '' };
  const refused = await call({ name: 'platform-notifications.publish', arguments: news });
  const { isError, refusal } = refused.json as Extract<ToolAnswer, { kind: 'result' }>;
  assert.deepEqual([isError, refusal?.code], [true, 'grant_missing']);
  for (const [body, code] of [
    [{ name: 'platform-messaging.send' }, 'invalid_request'],
    [{ name: 'platform-none.such' }, 'invalid_request'],
    [{ name: 'platform-notifications.publish', arguments: { topic: 3 } }, 'invalid_request'],
    [{ name: 'platform-notifications.publish\nx' }, 'invalid_request'],
    [{ name: 'platform-notifications.publish', arguments: [] }, 'invalid_request'],
  ] as const)
    assert.equal(codeOf(await call(body)), code, JSON.stringify(body));
});

test('an app without a grant for tools is told which it lacks, and one that is not installed is not there', async () => {
  for (const [appId, code] of [
    ['without', 'grant_missing'],
    ['nobody', 'not_found'],
  ] as const) {
    assert.equal(codeOf(await ada.fetch(`/v1/apps/${appId}/mcp/tools`)), code);
    assert.equal(codeOf(await call({ name: 'platform-notifications.publish' }, appId)), code);
  }
});

test('what is to be proposed waits for the person, and is not called', async () => {
  const news = { topic: 'daily', title: 'Later', body: '' };
  const asked = await call({ name: 'platform-notifications.publish', arguments: news, propose: true });
  const { proposal } = asked.json as Extract<ToolAnswer, { kind: 'proposal' }>;
  assert.deepEqual([proposal.state, proposal.tool], ['pending', 'platform-notifications.publish']);
  const [waits] = (await ada.browser.take<BridgePage<ShownProposal>>('/v1/account/proposals?state=pending')).items;
  assert.deepEqual([waits?.id, waits?.caller, waits?.arguments], [proposal.id, 'asker', news]);
  const { items } = await ada.browser.take<BridgePage<{ readonly title: string }>>('/v1/notifications');
  assert.ok(!items.some(({ title }) => title === 'Later'));
});

test('a tool that the app may only propose is listed so, and its call is a proposal', async () => {
  const permissions = [{ id: 'mcp.tools.propose', resources: ['platform-notifications.*'] }, PUBLISH[1]];
  await ada.browser.take('/v1/apps/modest/permissions', { method: 'PUT', body: { permissions } });
  const { items } = await ada.browser.take<BridgePage<UsableTool>>('/v1/apps/modest/mcp/tools');
  assert.deepEqual(
    items.map(({ name, approval }) => [name, approval]),
    [
      ['platform-notifications.publish', 'required'],
      ...['cancel', 'get', 'list'].map((one) => [`platform-proposals.${one}`, 'none']),
    ],
  );
  const news = { topic: 'daily', title: 'Bread', body: '' };
  const answer = await call({ name: 'platform-notifications.publish', arguments: news }, 'modest');
  assert.equal((answer.json as ToolAnswer).kind, 'proposal', answer.text);
});

test('a pause of the account ends it', async () => {
  await ada.browser.take('/v1/runtime/pause', { method: 'POST' });
  assert.equal(codeOf(await ada.fetch('/v1/apps/asker/mcp/tools')), 'runtime_paused');
});
