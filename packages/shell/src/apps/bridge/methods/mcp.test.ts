// Tools over the bridge: called as the app, with what the page gave and nothing more; a proposal is told from a result.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { call, PROPOSAL, world } from '../../../../test-support/methods-world.ts';

const text = (words: string) => [{ type: 'text', text: words }];

test('tools are listed and called as the app that asks', async () => {
  const state = world();
  assert.deepEqual(await call(state, 'mcp.listTools', { cursor: 'abc' }), { items: [], nextCursor: null });
  const result = await call(state, 'mcp.callTool', { name: 'notes.add', arguments: { note: 'Milk' } });
  assert.deepEqual(result, { kind: 'result', content: text('done'), isError: false, refusal: null });
  assert.deepEqual(state.done, ['tools asker abc', 'tool asker notes.add {"note":"Milk"}']);
});

test('a call that the person has to approve is a proposal, whether the page asked for one or not', async () => {
  const state = world({ toolAnswer: { kind: 'proposal', proposal: PROPOSAL } });
  assert.deepEqual(await call(state, 'mcp.callTool', { name: 'notes.add' }), { kind: 'proposal', proposal: PROPOSAL });
  assert.deepEqual(await call(state, 'mcp.proposeTool', { name: 'notes.add' }), PROPOSAL);
  assert.deepEqual(state.done, ['tool asker notes.add {}', 'propose asker notes.add {}']);
});

test('a proposal that core did not make is refused in its words', async () => {
  const refusal = { code: 'rate_limited', retryAfter: 60 };
  const limited = world({ toolAnswer: { kind: 'result', content: text('Too many wait.'), isError: true, refusal } });
  const refused = { name: 'BridgeRefusal', code: 'rate_limited', message: 'Too many wait.' };
  await assert.rejects(call(limited, 'mcp.proposeTool', { name: 'notes.add' }), refused);
  const odd = world({ toolAnswer: { kind: 'result', content: [], isError: false, refusal: null } });
  await assert.rejects(call(odd, 'mcp.proposeTool', { name: 'notes.add' }), { code: 'upstream_failed' });
});

test('a page names a tool as the hub lists it, and gives it an object', async () => {
  const wrong = [
    {},
    { name: '' },
    { name: 'notes add' },
    { name: 'notes.add\n' },
    { name: 'x'.repeat(201) },
    { name: 'notes.add', arguments: [] },
    { name: 'notes.add', arguments: 'Milk' },
    { name: 'notes.add', propose: false },
    { name: 'notes.add', appId: 'other' },
  ];
  for (const method of ['mcp.callTool', 'mcp.proposeTool'])
    for (const params of wrong) {
      const state = world();
      await assert.rejects(call(state, method, params), { code: 'invalid_request' }, JSON.stringify(params));
      assert.deepEqual(state.done, []);
    }
});

const proposalOf = (caller: string, state: string) => ({
  answers: { 'account.proposals.read': { proposal: { caller, state, arguments: { note: 'private' } } } },
});

test('what became of a proposal is said to the app that made it, and nothing else of it', async () => {
  const own = world(proposalOf('asker', 'executed'));
  assert.deepEqual(await call(own, 'mcp.proposalState', { id: 'prop-1' }), { state: 'executed' });
  assert.deepEqual(await call(own, 'mcp.reviewProposal', { id: 'prop-1' }), { state: 'executed' });
  assert.ok(!own.done.includes('proposal? prop-1'), 'one that is decided is not asked about');
});

test('a proposal that waits is put before the person, and one of another app is not there', async () => {
  const own = world(proposalOf('asker', 'pending'));
  assert.deepEqual(await call(own, 'mcp.reviewProposal', { id: 'prop-1' }), { state: 'pending' });
  assert.ok(own.done.includes('proposal? prop-1'));
  for (const method of ['mcp.proposalState', 'mcp.reviewProposal']) {
    const other = world(proposalOf('bank', 'pending'));
    await assert.rejects(call(other, method, { id: 'prop-1' }), { name: 'BridgeRefusal', code: 'not_found' });
    assert.ok(!other.done.includes('proposal? prop-1'), method);
  }
  const hidden = world({ ...proposalOf('asker', 'pending'), inFront: false });
  await assert.rejects(call(hidden, 'mcp.reviewProposal', { id: 'prop-1' }), { code: 'not_authorized' });
});

test('an app learns what it used of its budget, and neither models nor costs', async () => {
  assert.deepEqual(await call(world(), 'intelligence.usage'), {
    limits: { monthlyTokens: 1_000_000 },
    usage: { month: '2026-11', tokens: 1_200, reserved: 300 },
  });
});
