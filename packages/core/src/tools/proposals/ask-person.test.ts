// A client that shows addresses (elicitation in URL mode) is led to the page on which its person decides, and gets what came of it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { BridgePage, Proposal, ShownProposal } from '@platform/contract';
import { confirm, registerAccount, type TestAccount } from '../../../../../tests/support/client.ts';
import { connectClient, OutsideClient } from '../../../../../tests/support/connected-client.ts';
import { type Constellation, startConstellation } from '../../../../../tests/support/constellation.ts';
import { connectHub } from '../../../../../tests/support/mcp-client.ts';

const DIRECT = 'platform-messaging.direct';

let world: Constellation;
let ada: TestAccount;

before(async () => {
  world = await startConstellation();
  ada = await registerAccount(world, 'ada');
  await registerAccount(world, 'ben');
});
after(() => world?.close());

const outside = () => ({ port: world.port, origin: new OutsideClient(world).origin });
const read = async (id: string): Promise<ShownProposal> =>
  (await ada.browser.take<{ proposal: ShownProposal }>(`/v1/account/proposals/${id}`)).proposal;

async function approve(id: string): Promise<void> {
  const { argumentsHash } = await read(id);
  const confirmation = await confirm(ada, 'tools.approve', id);
  await ada.browser.take(`/v1/account/proposals/${id}/approve`, { body: { argumentsHash, confirmation } });
}

/** A connected client, whose person does this when it shows an address. */
async function connected(decide: (id: string) => Promise<'accept' | 'decline'>) {
  const { tokens } = await connectClient(world, ada);
  const hub = await connectHub(outside(), tokens.access_token, {
    path: '/mcp',
    capabilities: { elicitation: { url: {} } },
  });
  const asked: string[] = [];
  hub.client.setRequestHandler('elicitation/create', async ({ params }) => {
    assert.equal(params.mode, 'url');
    const { url } = params as { readonly url: string };
    const [, id = ''] = /#\/proposals\/(prop-[\w-]+)$/.exec(url) ?? [];
    assert.equal(url, `${world.origin}/#/proposals/${id}`);
    asked.push(id);
    return { action: await decide(id) };
  });
  return { hub, asked };
}

test('what its person approves on that page is the result of the call', async () => {
  const { hub, asked } = await connected(async (id) => {
    await approve(id);
    return 'accept';
  });
  await using client = hub;
  const result = (await client.client.callTool({ name: DIRECT, arguments: { to: 'ben' } })) as CallToolResult;
  assert.equal(result.isError, undefined, JSON.stringify(result));
  assert.match(JSON.stringify(result.structuredContent), /"conversation"/);
  assert.equal(asked.length, 1);
});

test('what its person declines in the client, or on the page, is not done', async () => {
  for (const where of ['client', 'page'] as const) {
    const { hub, asked } = await connected(async (id) => {
      if (where === 'page') await ada.browser.take(`/v1/account/proposals/${id}/decline`, { method: 'POST' });
      return where === 'page' ? 'accept' : 'decline';
    });
    await using client = hub;
    const result = (await client.client.callTool({ name: DIRECT, arguments: { to: 'ben' } })) as CallToolResult;
    assert.deepEqual([result.isError, result.content[0]], [true, { type: 'text', text: 'The person declined it.' }]);
    assert.equal((await read(asked[0] ?? '')).state, 'declined');
  }
});

test('a client that cannot show addresses gets the proposal, and where it is decided on', async () => {
  const { tokens } = await connectClient(world, ada);
  for (const revision of ['modern', 'legacy'] as const) {
    await using hub = await connectHub(outside(), tokens.access_token, { path: '/mcp', revision });
    const result = (await hub.client.callTool({ name: DIRECT, arguments: { to: 'ben' } })) as CallToolResult;
    const { proposal } = result.structuredContent as { proposal: Proposal };
    assert.equal(proposal.state, 'pending');
    assert.ok(JSON.stringify(result.content).includes(`${world.origin}/#/proposals/${proposal.id}`));
    const seen = await read(proposal.id);
    assert.deepEqual([seen.callerName, seen.callerHost], ['A test client', '127.0.0.1']);
  }
});

test('a round that nobody began, or that another client began, decides nothing', async () => {
  const { items: before } = await ada.browser.take<BridgePage<ShownProposal>>('/v1/account/proposals?state=pending');
  const { tokens } = await connectClient(world, ada);
  const { tokens: others } = await connectClient(world, ada);
  const call = async (token: string, more: object) => {
    const answer = await new OutsideClient(world).send('/mcp', {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...{ accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28' },
        ...{ 'mcp-method': 'tools/call', 'mcp-name': DIRECT },
      },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: {
          ...{ name: DIRECT, arguments: { to: 'ben' } },
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: {} } },
          },
          ...more,
        },
      }),
    });
    const text = answer.text.includes('data:') ? (/data: (.*)/.exec(answer.text)?.[1] ?? '') : answer.text;
    return JSON.parse(text) as { result?: { resultType?: string; requestState?: string; isError?: boolean } };
  };
  const first = await call(tokens.access_token, {});
  assert.equal(first.result?.resultType, 'input_required', JSON.stringify(first));
  const state = first.result?.requestState ?? '';
  const answers = { inputResponses: { approval: { action: 'decline' } } };
  for (const [token, requestState] of [
    [tokens.access_token, 'forged'],
    [others.access_token, state],
  ] as const) {
    const wrong = await call(token, { requestState, ...answers });
    assert.notEqual(wrong.result?.resultType, 'input_required', JSON.stringify(wrong));
    assert.notEqual(wrong.result?.isError, undefined);
  }
  const { items } = await ada.browser.take<BridgePage<ShownProposal>>('/v1/account/proposals?state=pending');
  assert.equal(items.length, before.length + 1);
});
