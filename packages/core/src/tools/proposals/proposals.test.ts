// Proposed calls of tools of the platform: nothing happens until their person approves, then it happens once, as it was shown, and
// with what the app may do by then.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import type { BridgePage, Grant, Proposal, ShownProposal, ToolCall } from '@platform/contract';
import { confirm, registerAccount, type TestAccount } from '../../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../../tests/support/constellation.ts';
import { installTestApp } from '../../../../../tests/support/installed-app.ts';
import { connectHub } from '../../../../../tests/support/mcp-client.ts';

const SERVICES: Grant[] = [
  { id: 'messaging.read', resources: ['*'] },
  { id: 'messaging.send', resources: ['*'] },
  { id: 'notifications.publish', resources: ['daily'] },
];
const PROPOSES: Grant[] = [{ id: 'mcp.tools.propose', resources: ['platform-*'] }, ...SERVICES];
const NOTE = { topic: 'daily', title: 'Water the plants', body: 'The fern first.' };
const PUBLISH = 'platform-notifications.publish';
const DIRECT = 'platform-messaging.direct';

let world: Constellation;
let ada: TestAccount;

before(async () => {
  world = await startConstellation();
  ada = await registerAccount(world, 'ada');
  await registerAccount(world, 'ben');
});
after(() => world?.close());

async function proposeBy(
  client: Client,
  name: string,
  given: object,
): Promise<Pick<Proposal, 'id' | 'state' | 'tool'>> {
  const result = (await client.callTool({ name, arguments: { ...given } })) as CallToolResult;
  assert.equal(result.isError, undefined, JSON.stringify(result.content));
  return (result.structuredContent as { proposal: Proposal }).proposal;
}

const shown = async (id: string, by = ada): Promise<ShownProposal> =>
  (await by.browser.take<{ proposal: ShownProposal }>(`/v1/account/proposals/${id}`)).proposal;

function approve(id: string, body: object, by = ada) {
  return by.fetch(`/v1/account/proposals/${id}/approve`, { body });
}

async function approveShown(id: string): Promise<ShownProposal> {
  const { argumentsHash, confirms } = await shown(id);
  const confirmation = confirms ? { confirmation: await confirm(ada, 'tools.approve', id) } : {};
  const answer = await approve(id, { argumentsHash, ...confirmation });
  assert.equal(answer.status, 200, answer.text);
  return (answer.json as { proposal: ShownProposal }).proposal;
}

const published = async (): Promise<number> =>
  (await ada.browser.take<BridgePage<{ appId: string }>>('/v1/notifications?limit=200')).items.filter(
    ({ appId }) => appId !== 'platform',
  ).length;

for (const [part, revision] of [
  ['frontend', 'modern'],
  ['backend', 'legacy'],
] as const)
  test(`the ${part} of an app proposes, and the person has it done once (${revision} revision)`, async () => {
    const appId = `helper-${part}`;
    const app = await installTestApp(world, ada, appId, PROPOSES);
    const [credential, origin] =
      part === 'backend' ? [app.credential, undefined] : [(await app.openFrontend()).capability, app.origin];
    await using hub = await connectHub(world, credential, { revision, ...(origin === undefined ? {} : { origin }) });
    const { tools } = await hub.client.listTools();
    const publish = tools.find(({ name }) => name === PUBLISH);
    assert.equal(publish?._meta?.['platform/approval'], 'required');
    assert.equal(publish?.outputSchema, undefined, 'a client would hold the proposal to it');
    for (const one of ['list', 'get', 'cancel'])
      assert.ok(
        tools.some(
          ({ name, _meta }) => name === `platform-proposals.${one}` && _meta?.['platform/approval'] === undefined,
        ),
      );

    const before = await published();
    const { id } = await proposeBy(hub.client, PUBLISH, NOTE);
    assert.equal(await published(), before, 'it is inert');
    const seen = await shown(id);
    assert.deepEqual([seen.state, seen.tool, seen.caller, seen.confirms], ['pending', PUBLISH, appId, false]);
    assert.deepEqual(seen.arguments, NOTE);
    const got = await hub.client.callTool({ name: 'platform-proposals.get', arguments: { id } });
    assert.deepEqual((got.structuredContent as { proposal: Proposal }).proposal.state, 'pending');

    const done = await approveShown(id);
    assert.equal(done.state, 'executed');
    assert.equal(await published(), before + 1);
    const again = await approve(id, { argumentsHash: seen.argumentsHash });
    assert.deepEqual([again.status, (again.json as { code: string }).code], [409, 'proposal_conflict']);
    assert.equal(await published(), before + 1);
    const after = await hub.client.callTool({ name: 'platform-proposals.get', arguments: { id } });
    const { proposal } = after.structuredContent as { proposal: Proposal & { result: CallToolResult } };
    assert.equal(proposal.state, 'executed');
    assert.match(JSON.stringify(proposal.result.structuredContent), /Water the plants/);

    const { items } = await ada.browser.take<BridgePage<ToolCall>>('/v1/account/tool-calls?limit=200');
    const own = items.filter(({ caller, tool }) => caller === appId && tool === PUBLISH);
    assert.deepEqual(own.map(({ outcome }) => outcome).toReversed(), ['proposed', 'ok']);
    assert.ok(own.every(({ argumentsHash }) => argumentsHash === seen.argumentsHash));
  });

test('what speaks for the person to others is approved with a passkey, used for this proposal', async () => {
  const app = await installTestApp(world, ada, 'speaker', PROPOSES);
  await using hub = await connectHub(world, app.credential);
  const one = await proposeBy(hub.client, DIRECT, { to: 'ben' });
  const other = await proposeBy(hub.client, DIRECT, { to: 'ben' });
  const { argumentsHash, confirms } = await shown(one.id);
  assert.equal(confirms, true);
  assert.equal((await approve(one.id, { argumentsHash })).status, 400);
  const ofOther = await confirm(ada, 'tools.approve', other.id);
  assert.equal((await approve(one.id, { argumentsHash, confirmation: ofOther })).status, 401);
  assert.equal((await shown(one.id)).state, 'pending');
  assert.equal((await approveShown(one.id)).state, 'executed');
});

test('another hash, another account and another caller decide nothing', async () => {
  const app = await installTestApp(world, ada, 'stranger-a', PROPOSES);
  const rival = await installTestApp(world, ada, 'stranger-b', PROPOSES);
  const eve = await registerAccount(world, 'eve');
  await using hub = await connectHub(world, app.credential);
  const { id } = await proposeBy(hub.client, PUBLISH, NOTE);
  const { argumentsHash } = await shown(id);
  const wrong = await approve(id, { argumentsHash: '0'.repeat(64) });
  assert.deepEqual([wrong.status, (wrong.json as { code: string }).code], [409, 'proposal_conflict']);
  assert.equal((await approve(id, { argumentsHash }, eve)).status, 404);
  assert.equal((await eve.fetch(`/v1/account/proposals/${id}/decline`, { method: 'POST' })).status, 404);
  assert.equal((await rival.call(`/v1/services/proposals/${id}`)).status, 404);
  assert.equal((await rival.call(`/v1/services/proposals/${id}/cancel`, { method: 'POST' })).status, 404);
  assert.deepEqual((await rival.call('/v1/services/proposals')).json, { items: [], nextCursor: null });
  assert.equal((await shown(id)).state, 'pending');
});

test('of approvals at the same time one counts', async () => {
  const app = await installTestApp(world, ada, 'twice', PROPOSES);
  await using hub = await connectHub(world, app.credential);
  const before = await published();
  const { id } = await proposeBy(hub.client, PUBLISH, NOTE);
  const { argumentsHash } = await shown(id);
  const answers = await Promise.all(Array.from({ length: 5 }, () => approve(id, { argumentsHash })));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409, 409]);
  assert.equal(await published(), before + 1);
});

test('what is declined or withdrawn is not done, and cannot be approved any more', async () => {
  const app = await installTestApp(world, ada, 'withdrawer', PROPOSES);
  await using hub = await connectHub(world, app.credential);
  const before = await published();
  const declined = await proposeBy(hub.client, PUBLISH, NOTE);
  await ada.browser.take(`/v1/account/proposals/${declined.id}/decline`, { method: 'POST' });
  const withdrawn = await proposeBy(hub.client, PUBLISH, NOTE);
  const result = await hub.client.callTool({ name: 'platform-proposals.cancel', arguments: { id: withdrawn.id } });
  assert.equal((result.structuredContent as { proposal: Proposal }).proposal.state, 'declined');
  for (const { id } of [declined, withdrawn]) {
    const { argumentsHash, state } = await shown(id);
    assert.equal(state, 'declined');
    assert.equal((await approve(id, { argumentsHash })).status, 409);
    assert.equal((await ada.fetch(`/v1/account/proposals/${id}/decline`, { method: 'POST' })).status, 409);
  }
  assert.equal(await published(), before);
  const page = await ada.browser.take<BridgePage<ShownProposal>>('/v1/account/proposals?state=declined&limit=1');
  assert.equal(page.items[0]?.id, withdrawn.id, 'the newest first');
  const rest = await ada.browser.take<BridgePage<ShownProposal>>(
    `/v1/account/proposals?state=declined&cursor=${page.nextCursor}`,
  );
  assert.equal(rest.items[0]?.id, declined.id);
});

for (const [what, permissions] of [
  ['lost the grant to propose it', SERVICES],
  ['lost the grant of the service', PROPOSES.slice(0, 3)],
] as const)
  test(`an app that ${what} meanwhile does not get it done`, async () => {
    const appId = what.replaceAll(' ', '-');
    const app = await installTestApp(world, ada, appId, PROPOSES);
    await using hub = await connectHub(world, app.credential);
    const before = await published();
    const { id } = await proposeBy(hub.client, PUBLISH, NOTE);
    const { argumentsHash } = await shown(id);
    await ada.browser.take(`/v1/apps/${appId}/permissions`, { method: 'PUT', body: { permissions } });
    const answer = await approve(id, { argumentsHash });
    assert.deepEqual([answer.status, (answer.json as { code: string }).code], [409, 'proposal_conflict']);
    assert.equal((await shown(id)).state, 'failed');
    assert.equal(await published(), before);
  });

test('proposals of an app that is removed are gone', async () => {
  const app = await installTestApp(world, ada, 'removed', PROPOSES);
  await using hub = await connectHub(world, app.credential);
  const { id } = await proposeBy(hub.client, PUBLISH, NOTE);
  await ada.browser.take('/v1/apps/removed', { method: 'DELETE' });
  assert.equal((await ada.fetch(`/v1/account/proposals/${id}`)).status, 404);
});

test('arguments that the tool does not take are refused when they are proposed', async () => {
  const app = await installTestApp(world, ada, 'careless', PROPOSES);
  await using hub = await connectHub(world, app.credential);
  await assert.rejects(hub.client.callTool({ name: PUBLISH, arguments: { topic: 3 } }), /Invalid arguments/);
  await assert.rejects(hub.client.callTool({ name: 'platform-messaging.identityx', arguments: {} }), /Unknown tool/);
  const large = await hub.client.callTool({ name: PUBLISH, arguments: { ...NOTE, body: 'x'.repeat(300_000) } });
  assert.equal(large.isError, true);
  assert.deepEqual((await app.call('/v1/services/proposals')).json, { items: [], nextCursor: null });
});

test('fifty wait for a decision or were declined, and no more than so many bytes', async () => {
  const app = await installTestApp(world, ada, 'many', PROPOSES);
  await using hub = await connectHub(world, app.credential);
  const ids: string[] = [];
  for (let at = 0; at < 50; at += 1) ids.push((await proposeBy(hub.client, PUBLISH, { ...NOTE, title: `${at}` })).id);
  const another = () => hub.client.callTool({ name: PUBLISH, arguments: NOTE });
  assert.match(JSON.stringify(await another()), /rate_limited/);
  await ada.browser.take(`/v1/account/proposals/${ids[0]}/decline`, { method: 'POST' });
  assert.match(JSON.stringify(await another()), /rate_limited/, 'nobody asks again and again');
  await approveShown(ids[1] ?? '');
  assert.equal((await another()).isError, undefined);
  const all: Proposal[] = [];
  for (let cursor = ''; ; ) {
    const { items, nextCursor } = (await app.call(`/v1/services/proposals?limit=20${cursor}`))
      .json as BridgePage<Proposal>;
    all.push(...items);
    if (nextCursor === null) break;
    cursor = `&cursor=${nextCursor}`;
  }
  assert.deepEqual([all.filter(({ state }) => state === 'pending').length, all.length], [49, 51]);
  assert.deepEqual(
    all.map(({ id }) => id),
    all
      .map(({ id }) => id)
      .sort()
      .toReversed(),
  );
  const large = await installTestApp(world, ada, 'large', PROPOSES);
  await using other = await connectHub(world, large.credential);
  const sync = { name: 'platform-messaging.direct', arguments: { to: 'ben' } };
  const wide = {
    name: 'platform-messaging.send',
    arguments: { conversationId: `conv-${'A'.repeat(43)}`, message: { body: '€'.repeat(16_384) } },
  };
  let refused: unknown;
  for (let at = 0; at < 30 && refused === undefined; at += 1) {
    const result = (await other.client.callTool(wide)) as CallToolResult;
    if (result.isError === true) refused = result;
  }
  assert.match(JSON.stringify(refused), /rate_limited.*together/);
  assert.match(JSON.stringify(await other.client.callTool(sync)), /pending/, 'a small one still fits');
});

test('an approved call goes on while the backend of who proposed it starts', async () => {
  const app = await installTestApp(world, ada, 'starting', PROPOSES);
  await using hub = await connectHub(world, app.credential);
  const { id } = await proposeBy(hub.client, DIRECT, { to: 'ben' });
  const { argumentsHash } = await shown(id);
  const confirmation = await confirm(ada, 'tools.approve', id);
  const [answer] = await Promise.all([approve(id, { argumentsHash, confirmation }), app.restart()]);
  assert.equal((answer.json as { proposal: ShownProposal }).proposal.state, 'executed', answer.text);
});
