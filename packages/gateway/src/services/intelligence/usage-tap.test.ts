// What a call used when its answer cannot be read to its end: whoever makes that so gains nothing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ExchangeEnd, openShares } from '@platform/http';
import { openRooms } from '../room.ts';
import { endpointOf } from './endpoints.ts';
import { openai } from './openai.ts';
import { type Used, usageTap } from './usage-tap.ts';

const KiB = 1024;
const text = 'x'.repeat(30 * KiB);
const usage = { prompt_tokens: 7, completion_tokens: 9_000 };
const whole = Buffer.from(JSON.stringify({ choices: [{ message: { content: text } }], usage }));
const events = Buffer.from(`data: ${JSON.stringify({ choices: [{ delta: { content: text } }] })}\n\n`);

function usedOf(
  answer: Buffer,
  {
    room = 1024 * KiB,
    type = 'application/json',
    how = 'complete' as ExchangeEnd,
    coding = 'identity',
    most = 16_384,
  } = {},
): Used {
  let used: Used | undefined;
  const tap = usageTap({
    dialect: openai,
    endpoint: endpointOf(openai.endpoints, 'POST', 'chat/completions'),
    estimatedInput: 5,
    reservedOutput: most,
    room: openRooms(room, openShares(1e9, 0).open()).open(),
    onEnd: (told) => {
      used = told;
    },
  });
  tap.sent?.();
  tap.head?.(200, { 'content-type': type, 'content-encoding': coding });
  for (let at = 0; at < answer.length; at += KiB) tap.chunk?.(answer.subarray(at, at + KiB));
  tap.end?.(how);
  assert.ok(used !== undefined);
  return used;
}

test('what the provider reports counts', () => {
  assert.deepEqual(usedOf(whole), { inputTokens: 7, outputTokens: 9_000, reached: true });
});

const unreadable: Readonly<Record<string, readonly [Buffer, Parameters<typeof usedOf>[1]]>> = {
  'for which the app left no room': [whole, { room: 2 * KiB }],
  'that the app did not wait for': [whole.subarray(0, -1), { how: 'abandoned' }],
  'that the provider cut off': [whole.subarray(0, -1), { how: 'failed' }],
  'that is encoded': [whole, { coding: 'gzip' }],
  'in plain text': [Buffer.from(text), { type: 'text/plain' }],
  'that is a line after line of objects': [whole, { type: 'application/x-ndjson' }],
};

for (const [what, [answer, options]] of Object.entries(unreadable)) {
  test(`an answer ${what} counts as text, up to what was reserved`, () => {
    const { inputTokens, outputTokens } = usedOf(answer, options);
    assert.deepEqual([inputTokens, outputTokens], [5, Math.ceil(answer.length / 3)]);
    assert.equal(usedOf(answer, { ...options, most: 100 }).outputTokens, 100);
  });
}

test('a line of a stream that is too long counts as text', () => {
  const long = Buffer.from(`data: ${'x'.repeat(2 * 1024 * KiB)}\n\n`);
  const given = { type: 'text/event-stream', most: 1e9 };
  assert.equal(usedOf(events, given).outputTokens, Math.ceil(text.length / 3));
  assert.equal(
    usedOf(Buffer.concat([events, long]), given).outputTokens,
    Math.ceil((text.length + long.length - 2) / 3),
  );
});

test('sounds and pictures are no text', () => {
  assert.equal(usedOf(whole, { type: 'audio/mpeg' }).outputTokens, 0);
});
