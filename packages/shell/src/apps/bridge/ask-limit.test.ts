// Questions before the person: one at a time, and not again and again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAskLimit } from './ask-limit.ts';

const yes = async () => true;
const no = async () => false;

test('a second question while one is open is refused and does not disturb the first', async () => {
  const limit = createAskLimit(() => 0);
  const answer = Promise.withResolvers<boolean>();
  const first = limit.ask('store', () => answer.promise);
  await assert.rejects(limit.ask('store', yes), { code: 'concurrency_limited' });
  await assert.rejects(limit.ask('other', yes), { code: 'concurrency_limited' });
  answer.resolve(true);
  assert.equal(await first, true);
  assert.equal(await limit.ask('other', yes), true);
});

test('after three refusals within a minute an app has to wait, another has not', async () => {
  let now = 0;
  const limit = createAskLimit(() => now);
  for (let times = 0; times < 3; times += 1) assert.equal(await limit.ask('pushy', no), false);
  await assert.rejects(limit.ask('pushy', yes), { code: 'rate_limited' });
  assert.equal(await limit.ask('polite', yes), true);
  now = 60_000;
  assert.equal(await limit.ask('pushy', yes), true);
});

test('an answer may say more than yes; null declines', async () => {
  const limit = createAskLimit(() => 0);
  const somebody = { address: 'ben@platform.example' };
  for (const one of ['first', 'second', 'third'])
    assert.equal(await limit.ask<typeof somebody | null>('picky', async () => null), null, one);
  await assert.rejects(limit.ask('picky', yes), { code: 'rate_limited' });
  assert.equal(await limit.ask('polite', async () => somebody), somebody);
});

test('a yes in between clears the earlier refusals', async () => {
  const limit = createAskLimit(() => 0);
  await limit.ask('store', no);
  await limit.ask('store', no);
  await limit.ask('store', yes);
  await limit.ask('store', no);
  assert.equal(await limit.ask('store', no), false);
});

test('a question that fails leaves the way free for the next', async () => {
  const limit = createAskLimit(() => 0);
  await assert.rejects(
    limit.ask('store', () => Promise.reject(new Error('not in the catalog'))),
    /catalog/,
  );
  assert.equal(await limit.ask('store', yes), true);
});
