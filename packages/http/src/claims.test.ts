// Which fields a stranger could speak with in the name of a proxy, and which are a client's own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLAIMS, OWN } from '../test-support/claims.ts';
import { isClaim } from './claims.ts';

for (const name of CLAIMS) {
  test(`${name} passes from no sender`, () => {
    for (const spelled of [
      name,
      name.toLowerCase(),
      name.toUpperCase(),
      name.replaceAll('-', '_'),
      name.replaceAll('-', '.'),
    ])
      assert.ok(isClaim(spelled), spelled);
  });
}

for (const name of OWN) test(`${name} is a client's own`, () => assert.ok(!isClaim(name)));

test('however many names there are, each is judged by itself', () => {
  for (let index = 0; index < 5_000; index += 1) {
    assert.ok(!isClaim(`x-own-${index}`));
    assert.ok(isClaim(`x-${index}-client-ip`));
  }
});
