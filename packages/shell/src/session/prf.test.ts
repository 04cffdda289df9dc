// The PRF result of a sign-in lives in memory until it is dropped.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { dropPrf, holdPrf, holdsPrf } from './prf.ts';

afterEach(dropPrf);

test('a result is held until it is dropped', () => {
  holdPrf({ prf: { results: { first: new Uint8Array([1, 2, 3]) } } });
  assert.equal(holdsPrf(), true);
  dropPrf();
  assert.equal(holdsPrf(), false);
});

test('an authenticator without the extension leaves nothing to hold', () => {
  holdPrf({});
  holdPrf({ prf: { enabled: false } });
  assert.equal(holdsPrf(), false);
});

test('the result is copied, so that what a caller keeps of it can be cleared apart', () => {
  const theirs = new Uint8Array([9, 9, 9]);
  holdPrf({ prf: { results: { first: theirs.buffer, second: theirs } } });
  dropPrf();
  assert.deepEqual([...theirs], [9, 9, 9]);
});
