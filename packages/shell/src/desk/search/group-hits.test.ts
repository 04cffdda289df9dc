// What was found is listed by app, and no app takes the place of the others.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SearchResult } from '@platform/contract';
import { groupHits, summaryOf } from './group-hits.ts';

const NONE = new Set<string>();

function found(apps: readonly string[], items: readonly (readonly [appId: string, id: string])[]): SearchResult {
  return {
    query: 'milk',
    apps: apps.map((appId) => ({ appId, name: appId.toUpperCase(), icon: null })),
    items: items.map(([appId, id]) => ({ appId, id, title: id, kind: 'note', url: `?open=${id}`, score: 0.5 })),
  };
}

function drawn(result: SearchResult, shownWhole: ReadonlySet<string> = NONE): string[] {
  return groupHits(result, shownWhole).map(
    ({ appId, hits, more }) =>
      `${appId ?? 'apps'}: ${hits.map(({ title }) => title).join(' ')}${more ? ` +${more}` : ''}`,
  );
}

const many = (appId: string, amount: number) =>
  Array.from({ length: amount }, (_, at) => [appId, `${appId[0]}${at}`] as const);

test('apps come first, then each app with what it holds, the one with the best hit first', () => {
  const result = found(
    ['milk', 'farm'],
    [
      ['notes', 'a'],
      ['lists', 'b'],
      ['notes', 'c'],
    ],
  );
  assert.deepEqual(drawn(result), ['apps: MILK FARM', 'notes: a c', 'lists: b']);
  assert.deepEqual(drawn(found([], [])), []);
});

test('an app named “apps” is not mistaken for the list of apps', () => {
  const groups = groupHits(found(['apps'], [['apps', 'a']]), NONE);
  assert.equal(new Set(groups.map(({ key }) => key)).size, 2);
  assert.deepEqual(
    groups.map(({ appId }) => appId),
    [null, 'apps'],
  );
});

test('an app with many hits leaves room for the others until the person wants to see them', () => {
  const result = found([], [...many('notes', 30), ...many('lists', 5), ['mail', 'm0']]);
  assert.deepEqual(drawn(result), ['notes: n0 n1 n2 n3 +26', 'lists: l0 l1 l2 l3 l4', 'mail: m0']);
  const whole = groupHits(result, new Set(['notes']));
  assert.deepEqual([whole[0]?.hits.length, whole[0]?.more], [30, 0]);
  assert.deepEqual(drawn(found([], many('notes', 12))), ['notes: n0 n1 n2 n3 n4 n5 n6 n7 n8 n9 +2']);
});

test('a hit keeps its place in its app and the words of it, an app opens where it begins', () => {
  const [apps, notes] = groupHits(found(['farm'], [['notes', '<b>']]), NONE);
  assert.deepEqual(apps?.hits, [{ key: 'app farm', appId: 'farm', title: 'FARM', kind: null, target: null }]);
  assert.deepEqual(notes?.hits, [
    { key: 'item notes <b>', appId: 'notes', title: '<b>', kind: 'note', target: '?open=<b>' },
  ]);
});

test('the summary counts all that is listed, and the apps that hold it', () => {
  assert.equal(summaryOf(found([], [['notes', 'a']]), 0), '1 result');
  assert.equal(summaryOf(found(['farm'], many('notes', 3)), 0), '4 results');
  const inTwo = found(['farm'], [...many('notes', 3), ['mail', 'm']]);
  assert.equal(summaryOf(inTwo, 0), '5 results in 2 apps');
  assert.equal(summaryOf(inTwo, 3), '8 results, 4 of them in 2 apps');
  assert.equal(summaryOf(found([], []), 1), '1 result');
});
