// What was opened and searched for last comes first, for one account, until it signs out.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addRecent, forgetRecent, RECENT_AT_MOST, type RecentStorage, readRecent } from './recent.ts';

function storage(): RecentStorage {
  const values = new Map<string, string>();
  return {
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => void values.set(key, value),
    removeItem: (key) => void values.delete(key),
  };
}

test('the last comes first, each once, and the oldest make room', () => {
  const kept = storage();
  for (const appId of ['a', 'b', 'a']) addRecent(kept, 'ada', 'apps', appId);
  assert.deepEqual(readRecent(kept, 'ada'), { apps: ['a', 'b'], searches: [] });
  for (let at = 0; at < 9; at += 1) addRecent(kept, 'ada', 'searches', `s${at}`);
  const { apps, searches } = readRecent(kept, 'ada');
  assert.deepEqual([apps, searches[0], searches.length], [['a', 'b'], 's8', RECENT_AT_MOST]);
});

test('another account sees and keeps nothing of it, and nobody after the end of the session', () => {
  const kept = storage();
  addRecent(kept, 'ada', 'searches', 'gift for bob');
  assert.deepEqual(readRecent(kept, 'bob'), { apps: [], searches: [] });
  addRecent(kept, 'bob', 'apps', 'notes');
  assert.deepEqual(readRecent(kept, 'ada'), { apps: [], searches: [] });
  forgetRecent(kept);
  assert.deepEqual(readRecent(kept, 'bob'), { apps: [], searches: [] });
});

test('a browser that has no room is no failure', () => {
  const full = { ...storage(), setItem: () => assert.fail('full') };
  addRecent(full, 'ada', 'apps', 'notes');
});
