// Who stopped a backend is named, and one that wakes by itself asks nothing of a person.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stoppedBy } from '@platform/contract';
import { needsPerson, stoppedAbout, stoppedWords } from './stopped-words.ts';

const { kind } = stoppedBy.shape;
const nameOf = (appId: string) => (appId === 'minder' ? 'Minder' : appId);

test('every kind has words of its own', () => {
  const said = kind.options.map((each) => stoppedWords({ kind: each, appId: 'minder' }, nameOf));
  assert.equal(new Set(said).size, kind.options.length);
  assert.ok(said.includes('Stopped by Minder'));
  assert.equal(stoppedWords({ kind: 'app', appId: 'gone' }, nameOf), 'Stopped by gone');
});

test('what a person can start says so, what wakes by itself too', () => {
  assert.equal(stoppedAbout({ kind: 'operator' }), 'It stays stopped until you start it.');
  assert.equal(stoppedAbout({ kind: 'idle' }), 'Starts on demand.');
  assert.equal(stoppedAbout(undefined), 'Starts on demand.');
});

test('only what failed or was stopped waits for a person', () => {
  assert.deepEqual(
    kind.options.filter((each) => !needsPerson({ state: 'stopped', stoppedBy: { kind: each } })),
    ['idle'],
  );
  assert.ok(needsPerson({ state: 'failed' }));
  for (const state of ['running', 'starting', 'stopped']) assert.ok(!needsPerson({ state }));
});
