// Profiles on the disk: what is kept, what a share of the budget counts, and what a full disk does to it.
import assert from 'node:assert/strict';
import fs, { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type AgentProfileBody, agentProfileBody, agents } from '@platform/contract/agents';
import { openProfileStore } from './profile-store.ts';

function volumeOf(t: TestContext): string {
  const volume = mkdtempSync(join(tmpdir(), 'agent-profiles-'));
  t.after(() => rmSync(volume, { recursive: true }));
  return volume;
}

const november = () => new Date('2026-11-28T12:00:00Z');
const body = (more: Partial<AgentProfileBody> = {}): AgentProfileBody =>
  agentProfileBody.parse({ name: 'Kitchen help', ...more });

test('there is always one, which can be changed and not deleted', (t) => {
  const volume = volumeOf(t);
  const store = openProfileStore(volume, november);
  assert.deepEqual(
    store.list().map(({ id, name, tools, usage }) => [id, name, tools, usage]),
    [['main', '', null, { month: '2026-11', tokens: 0 }]],
  );
  store.change('main', body({ name: '', instructions: 'Be brief.' }));
  assert.throws(() => store.remove('main'), { code: 'invalid_request' });
  assert.equal(openProfileStore(volume, november).find('main')?.instructions, 'Be brief.');
});

test('others come and go, each with a name', (t) => {
  const volume = volumeOf(t);
  const store = openProfileStore(volume, november);
  const { id } = store.create(body({ name: '  Kitchen help ', tools: ['notes.add'] }));
  assert.deepEqual(
    openProfileStore(volume, november)
      .list()
      .map(({ name, tools }) => [name, tools]),
    [
      ['', null],
      ['Kitchen help', ['notes.add']],
    ],
  );
  assert.throws(() => store.create(body({ name: ' ' })), { code: 'invalid_request' });
  assert.throws(() => store.change(id, body({ name: '' })), { code: 'invalid_request' });
  assert.equal(store.left(id), Number.POSITIVE_INFINITY);
  store.remove(id);
  assert.equal(store.find(id), undefined);
  assert.equal(store.left(id), 0, 'what is deleted may use nothing');
  for (const act of [() => store.remove(id), () => store.change(id, body())]) assert.throws(act, { code: 'not_found' });
  for (let count = store.list().length; count < agents.limits.agentProfiles.value; count += 1) store.create(body());
  assert.throws(() => store.create(body()), { code: 'concurrency_limited' });
});

test('a share counts what was used this month, across starts, and begins anew with the next one', (t) => {
  const volume = volumeOf(t);
  const store = openProfileStore(volume, november);
  const { id } = store.create(body({ monthlyTokens: 100 }));
  assert.deepEqual([store.left(id), store.left('main')], [100, Number.POSITIVE_INFINITY]);
  store.spend(id, 70);
  store.spend('main', 500);
  assert.equal(openProfileStore(volume, november).left(id), 30);
  store.spend(id, 70);
  assert.equal(store.left(id), 0);
  const december = openProfileStore(volume, () => new Date('2026-12-01T00:00:00Z'));
  assert.equal(december.left(id), 100);
  december.spend(id, 1);
  assert.deepEqual(
    december.list().map(({ usage }) => usage.tokens),
    [0, 1],
  );
});

test('what the disk does not take counts all the same, and changes nothing else', (t) => {
  const store = openProfileStore(volumeOf(t), november);
  const { id } = store.create(body({ monthlyTokens: 100 }));
  const full = t.mock.method(fs, 'fsyncSync', () => {
    throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
  });
  syncBuiltinESMExports();
  t.after(() => {
    full.mock.restore();
    syncBuiltinESMExports();
  });
  assert.throws(() => store.spend(id, 100), { code: 'ENOSPC' });
  assert.equal(store.left(id), 0);
  assert.throws(() => store.change(id, body({ monthlyTokens: null })), { code: 'ENOSPC' });
  assert.throws(() => store.remove(id), { code: 'ENOSPC' });
  assert.equal(store.list().length, 2);
  assert.equal(store.left(id), 0);
});

test('a file that cannot be read is not written over', (t) => {
  const volume = volumeOf(t);
  writeFileSync(join(volume, 'profiles.json'), '{"profiles":[');
  assert.throws(() => openProfileStore(volume, november), SyntaxError);
  assert.equal(readFileSync(join(volume, 'profiles.json'), 'utf8'), '{"profiles":[');
});
