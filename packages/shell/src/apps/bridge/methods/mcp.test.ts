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
