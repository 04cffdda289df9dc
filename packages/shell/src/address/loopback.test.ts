// What is said to be open to this computer alone must be.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { isLoopback } from './loopback.ts';

test('localhost, names below it and loopback addresses lead to this computer; nothing else does', () => {
  for (const host of ['localhost', 'notes--x.public.localhost', '127.0.0.1', '127.8.8.8', '[::1]'])
    assert.equal(isLoopback(host), true, host);
  for (const host of [
    'example.org',
    'localhost.example.org',
    'mylocalhost',
    '10.0.0.1',
    '[::]',
    '0.0.0.0',
    '1127.0.0.1',
  ])
    assert.equal(isLoopback(host), false, host);
});
