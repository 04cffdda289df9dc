// What is kept of apps belongs to one installation of one account, and is bounded in sum.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forgetKept, KEPT_CHARACTERS, type KeptStorage, keepApps } from './kept-apps.ts';

const notes = { appId: 'notes', installedAt: '2026-11-21T10:00:00.000Z' };
const chess = { appId: 'chess', installedAt: '2026-11-22T10:00:00.000Z' };

/** The browser's storage, which Node has not; `full` refuses everything, as a browser without room does. */
function storage({ full = false } = {}): KeptStorage & { readonly items: Map<string, string> } {
  const items = new Map<string, string>([['platform.notice', 'Your session has ended.']]);
  return {
    items,
    get length() {
      return items.size;
    },
    key: (index) => [...items.keys()][index] ?? null,
    getItem: (key) => items.get(key) ?? null,
    removeItem: (key) => {
      items.delete(key);
    },
    setItem: (key, value) => {
      if (full) throw new DOMException('The quota has been exceeded.', 'QuotaExceededError');
      items.set(key, value);
    },
  };
}

test('place and state of each app are found again, also after the page was loaded anew', () => {
  const browser = storage();
  const kept = keepApps(browser, 'ada');
  kept.keepPlace(notes, '/notes/1');
  kept.keepState(notes, '{"draft":"Milk"}');
  kept.keepPlace(chess, '/game');
  const again = keepApps(browser, 'ada');
  assert.deepEqual([again.placeOf(notes), again.stateOf(notes)], ['/notes/1', '{"draft":"Milk"}']);
  assert.deepEqual([again.placeOf(chess), again.stateOf(chess)], ['/game', null]);
  again.keepPlace(notes, null);
  again.keepState(notes, null);
  assert.deepEqual([again.placeOf(notes), again.stateOf(notes)], [null, null]);
});

test('an installation that was made anew finds nothing of the former one', () => {
  const kept = keepApps(storage(), 'ada');
  kept.keepState(notes, '1');
  assert.equal(kept.stateOf({ ...notes, installedAt: chess.installedAt }), null);
});

test('another account finds nothing, and what was there is gone', () => {
  const browser = storage();
  keepApps(browser, 'ada').keepState(notes, '1');
  assert.equal(keepApps(browser, 'bob').stateOf(notes), null);
  assert.equal(keepApps(browser, 'ada').stateOf(notes), null);
});

test('signing out forgets everything of apps, and nothing else', () => {
  const browser = storage();
  const kept = keepApps(browser, 'ada');
  kept.keepState(notes, '1');
  kept.keepPlace(notes, '/a');
  forgetKept(browser);
  assert.deepEqual([...browser.items.keys()], ['platform.notice']);
});

test('what is no longer installed is forgotten', () => {
  const browser = storage();
  const kept = keepApps(browser, 'ada');
  for (const app of [notes, chess]) {
    kept.keepState(app, '1');
    kept.keepPlace(app, '/a');
  }
  kept.keepOnly([chess, { ...notes, installedAt: '2026-11-23T10:00:00.000Z' }]);
  assert.deepEqual(
    [...browser.items.keys()],
    ['platform.notice', 'platform.kept.state.chess', 'platform.kept.place.chess'],
  );
});

test('the sum is bounded: what was written longest ago makes room', () => {
  const browser = storage();
  const kept = keepApps(browser, 'ada');
  const large = JSON.stringify('x'.repeat(64 * 1024 - 2));
  const app = (number: number) => ({ appId: `app-${number}`, installedAt: notes.installedAt });
  for (let number = 0; number < 40; number += 1) kept.keepState(app(number), large);
  kept.keepState(app(20), large);
  for (let number = 40; number < 60; number += 1) kept.keepState(app(number), large);
  const sum = [...browser.items].reduce((total, [key, value]) => total + key.length + value.length, 0);
  assert.ok(sum <= KEPT_CHARACTERS + 100, `${sum}`);
  assert.equal(kept.stateOf(app(0)), null);
  assert.equal(kept.stateOf(app(25)), null);
  for (const number of [20, 45, 59]) assert.equal(kept.stateOf(app(number)), large, `app-${number}`);
});

test('a browser that takes nothing says so', () => {
  assert.throws(() => keepApps(storage({ full: true }), 'ada').keepState(notes, '1'), { name: 'QuotaExceededError' });
});
