// Tiles are where the person put them, and everything else has a place that can be guessed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrange, moveTile, UNARRANGED } from './arrange.ts';

const app = (appId: string, more: { builtIn?: boolean } = {}) => ({
  appId,
  name: appId.toUpperCase(),
  builtIn: false,
  ...more,
});
const apps = [
  app('agent', { builtIn: true }),
  app('notes'),
  app('store', { builtIn: true }),
  app('app10'),
  app('app9'),
  app('alarm', { builtIn: true }),
];
const ids = ({ pinned, rest, parts }: ReturnType<typeof arrange>) =>
  [pinned, rest, parts].map((tiles) => tiles.map(({ appId }) => appId).join(' '));

test('what nobody moved: one’s own apps by name, and the parts of the platform apart from them', () => {
  assert.deepEqual(ids(arrange(apps, UNARRANGED)), ['', 'app9 app10 notes', 'agent alarm store']);
});

test('pins come first, what was moved next, and what was removed is left out', () => {
  const tiles = { pinned: ['agent', 'gone'], order: ['store', 'lost', 'app9'] };
  assert.deepEqual(ids(arrange(apps, tiles)), ['agent', 'app9 app10 notes', 'store alarm']);
});

test('a tile moves within its section, is pinned, and is unpinned', () => {
  const arranged = arrange(apps, { pinned: ['agent'], order: ['store'] });
  assert.deepEqual(moveTile(arranged, 'notes', { section: 'rest', index: 0 }), {
    pinned: ['agent'],
    order: ['notes', 'app9', 'app10', 'store', 'alarm'],
  });
  assert.deepEqual(moveTile(arranged, 'store', { section: 'pinned', index: 1 }).pinned, ['agent', 'store']);
  assert.deepEqual(moveTile(arranged, 'agent', { section: 'parts', index: 99 }), {
    pinned: [],
    order: ['app9', 'app10', 'notes', 'store', 'alarm', 'agent'],
  });
});
