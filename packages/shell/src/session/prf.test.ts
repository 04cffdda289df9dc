// The PRF result of a ceremony lives in memory until it is taken or dropped.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { dropPrf, holdPrf, holdsPrf, takePrf, wipePrf } from './prf.ts';

afterEach(dropPrf);

test('a result is held until it is dropped', () => {
  holdPrf({ prf: { results: { first: new Uint8Array([1, 2, 3]) } } }, 'one');
  assert.equal(holdsPrf(), true);
  dropPrf();
  assert.equal(holdsPrf(), false);
});

test('a result is taken once, by who then overwrites it', () => {
  holdPrf({ prf: { results: { first: new Uint8Array([1, 2, 3]), second: new Uint8Array([4]) } } }, 'one');
  const taken = takePrf();
  assert.deepEqual(taken, {
    credentialId: 'one',
    hasPrf: true,
    first: new Uint8Array([1, 2, 3]),
    second: new Uint8Array([4]),
  });
  assert.equal(takePrf(), null);
  wipePrf(taken);
  assert.deepEqual([taken?.first, taken?.second], [new Uint8Array(3), new Uint8Array(1)]);
});

test('an authenticator without the extension gives no result; one that has it may give none at first', () => {
  for (const [outputs, hasPrf] of [
    [{}, false],
    [{ prf: { enabled: false } }, false],
    [{ prf: { enabled: true } }, true],
    [{ prf: { results: { first: new Uint8Array() } } }, false],
  ] as const) {
    holdPrf(outputs, 'one');
    assert.deepEqual(takePrf(), { credentialId: 'one', hasPrf, first: null, second: null });
  }
});

test('the next ceremony overwrites what the one before gave', () => {
  holdPrf({ prf: { results: { first: new Uint8Array([1]) } } }, 'one');
  holdPrf({}, 'two');
  assert.equal(takePrf()?.credentialId, 'two');
});

test('the result is copied, so that what a caller keeps of it can be cleared apart', () => {
  const theirs = new Uint8Array([9, 9, 9]);
  holdPrf({ prf: { results: { first: theirs.buffer, second: theirs } } }, 'one');
  dropPrf();
  assert.deepEqual([...theirs], [9, 9, 9]);
});
