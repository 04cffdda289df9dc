// What of a host remains in a heading.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shortHost } from './short-host.ts';

test('a long host loses its beginning, which anybody can choose, and never its end', () => {
  assert.equal(shortHost('outside.example:8443'), 'outside.example:8443');
  const short = shortHost(`accounts.bank.example.${'a'.repeat(60)}.outside.example:8443`);
  assert.equal(short.length, 64);
  assert.match(short, /^…a+\.outside\.example:8443$/);
});
