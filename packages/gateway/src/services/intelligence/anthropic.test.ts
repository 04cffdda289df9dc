// Promises of the dialect `anthropic` that need no call.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anthropic } from './anthropic.ts';

for (const [path, base, expected] of [
  ['v1/messages', '', 'v1/messages'],
  ['messages', '', 'v1/messages'],
  ['v1/messages', '/v1', 'messages'],
  ['messages', '/proxy/v1', 'messages'],
  ['messages/count_tokens', '/proxy', 'v1/messages/count_tokens'],
  ['', '', ''],
] as const) {
  test(`a client calls "${path}": below "${base}" that is "${expected}"`, () => {
    assert.equal(anthropic.upstreamPath(path, base), expected);
  });
}
