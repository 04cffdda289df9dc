// The greeting of a frame: its shape, its origin, and that a nonce counts once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGreeter, readGreeting } from './handshake.ts';

const ORIGIN = 'http://notes--abc.apps.platform.localhost:8787';
const nonce = (number: number) => `nonce-${number}`.padEnd(16, '0');
const hello = (number: number) => ({ type: 'platform.hello', version: 1, nonce: nonce(number) }) as const;

test('a greeting of the right shape is read', () => {
  assert.deepEqual(readGreeting(hello(1)), hello(1));
  assert.notEqual(readGreeting({ ...hello(1), nonce: crypto.randomUUID() }), null);
});

test('a request for launch data of the right shape is read', () => {
  const request = { ...hello(1), type: 'platform.launch' };
  assert.deepEqual(readGreeting(request), request);
  assert.equal(readGreeting({ ...request, place: '/' }), null);
});

for (const [name, data] of [
  ['another type', { ...hello(1), type: 'platform.welcome' }],
  ['another version', { ...hello(1), version: 2 }],
  ['a version in words', { ...hello(1), version: '1' }],
  ['no nonce', { type: 'platform.hello', version: 1 }],
  ['a short nonce', { ...hello(1), nonce: 'short' }],
  ['an endless nonce', { ...hello(1), nonce: 'x'.repeat(129) }],
  ['a nonce that is no text', { ...hello(1), nonce: ['a'] }],
  ['a further member', { ...hello(1), appId: 'settings' }],
  ['a text', JSON.stringify(hello(1))],
  ['nothing', null],
  ['a map', new Map(Object.entries(hello(1)))],
] as const) {
  test(`a greeting with ${name} is no greeting`, () => assert.equal(readGreeting(data), null));
}

test('only the exact origin of the frame is greeted back', () => {
  const greeter = createGreeter(ORIGIN);
  for (const origin of [
    'null',
    '',
    'http://evil.example',
    `${ORIGIN}.evil.example`,
    ORIGIN.replace('http:', 'https:'),
    ORIGIN.replace('8787', '8788'),
    ORIGIN.replace('notes', 'settings'),
  ]) {
    assert.equal(greeter.accepts(origin, hello(1)), false, origin);
  }
  assert.equal(greeter.accepts(ORIGIN, hello(1)), true);
});

test('a replayed nonce opens no second port, a fresh one of a reloaded document does', () => {
  const greeter = createGreeter(ORIGIN);
  assert.equal(greeter.accepts(ORIGIN, hello(1)), true);
  assert.equal(greeter.accepts(ORIGIN, hello(1)), false);
  assert.equal(greeter.accepts(ORIGIN, hello(2)), true);
});

test('a frame that greets without end is not greeted back for ever', () => {
  const greeter = createGreeter(ORIGIN);
  const accepted = Array.from({ length: 1_000 }, (_, number) => greeter.accepts(ORIGIN, hello(number)));
  assert.equal(accepted.filter(Boolean).length, 64);
});
