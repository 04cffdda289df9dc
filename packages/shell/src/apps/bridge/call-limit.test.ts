// A method may be called so often in a while, by each app.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCallLimit } from './call-limit.ts';

test('an app may call so often in a window, another one as often, and both again in the next', () => {
  let time = 0;
  const limit = createCallLimit(() => time, { calls: 3, windowMs: 1_000 });
  for (const appId of ['notes', 'chess']) {
    for (let calls = 0; calls < 3; calls += 1) limit.count(appId);
    assert.throws(() => limit.count(appId), { code: 'rate_limited' });
  }
  time = 999;
  assert.throws(() => limit.count('notes'), { code: 'rate_limited' });
  time = 1_000;
  limit.count('notes');
});
