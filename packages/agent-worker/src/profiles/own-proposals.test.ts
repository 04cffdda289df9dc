// A profile with some tools alone learns of what it proposed itself, through whichever tool about proposals.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { OfferedTool, Outcome } from '../tools/agent-tool.ts';
import { noting, ofOwn, openOwnProposals } from './own-proposals.ts';

const context = { session: 's', signal: undefined, onConsent: () => undefined };

function toolOf(tool: string, outcome: Outcome): { readonly offered: OfferedTool; readonly calls: unknown[] } {
  const calls: unknown[] = [];
  const call: OfferedTool['call'] = async (args) => {
    calls.push(args);
    return outcome;
  };
  return { offered: { name: tool, tool, description: '', inputSchema: {}, asks: false, call }, calls };
}

function volumeOf(t: TestContext): string {
  const volume = mkdtempSync(join(tmpdir(), 'agent-proposals-'));
  t.after(() => rmSync(volume, { recursive: true }));
  return volume;
}

test('what a tool proposed is known to its profile alone, also after a start', async (t) => {
  const volume = volumeOf(t);
  const own = openOwnProposals(volume);
  const proposal = { id: 'prop-1', state: 'pending', tool: 'notes.add', expiresAt: '' };
  const { offered } = toolOf('notes.add', { text: '', isError: false, proposal });
  await noting(offered, (id) => own.note('pro-a', id)).call({}, context);
  for (const one of [own, openOwnProposals(volume)])
    assert.deepEqual([one.has('pro-a', 'prop-1'), one.has('pro-b', 'prop-1')], [true, false]);
});

test('of the proposals of others nothing is read, listed or withdrawn', async () => {
  const isOwn = (id: string) => id === 'prop-mine';
  for (const verb of ['get', 'cancel', 'later-verb']) {
    const { offered, calls } = toolOf(`platform-proposals.${verb}`, { text: 'secret', isError: false });
    for (const id of ['prop-other', '', 1, null, ['prop-mine'], { id: 'prop-mine' }])
      await assert.rejects(ofOwn(offered, isOwn).call({ id }, context), /There is no such proposal/);
    assert.deepEqual(calls, []);
    assert.equal((await ofOwn(offered, isOwn).call({ id: 'prop-mine' }, context)).text, 'secret');
  }
  const page = { items: [{ id: 'prop-other', arguments: 'secret' }, { id: 'prop-mine' }], nextCursor: 'c' };
  const { offered } = toolOf('platform-proposals.list', { text: JSON.stringify(page), isError: false });
  const { text } = await ofOwn(offered, isOwn).call({ limit: 2 }, context);
  assert.deepEqual(JSON.parse(text), { items: [{ id: 'prop-mine' }], nextCursor: 'c' });
  const odd = toolOf('platform-proposals.list', { text: 'All: secret', isError: false });
  await assert.rejects(ofOwn(odd.offered, isOwn).call({}, context), SyntaxError);
});

test('what cannot be read is nobody’s, and the oldest give way', (t) => {
  const volume = volumeOf(t);
  writeFileSync(join(volume, 'proposals.json'), '[["prop-1"');
  const own = openOwnProposals(volume);
  assert.equal(own.has('main', 'prop-1'), false);
  for (let count = 0; count <= 200; count += 1) own.note('main', `prop-${count}`);
  assert.deepEqual([own.has('main', 'prop-0'), own.has('main', 'prop-1')], [false, true]);
});
