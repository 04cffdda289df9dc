// What a backend uses, as its owner reads it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytes, duration } from '../design/words.ts';
import {
  droppedLines,
  memoryNow,
  memorySoFar,
  networkNow,
  networkSoFar,
  processorNow,
  processorSoFar,
} from './use-words.ts';

for (const [amount, words] of [
  [0, '0 bytes'],
  [1, '1 byte'],
  [999, '999 bytes'],
  [1_000, '1 kB'],
  [1_550, '1.6 kB'],
  [52_428_800, '52 MB'],
  [999_999, '1 MB'],
  [1_250_000_000, '1.3 GB'],
] as const) {
  test(`${amount} is ${words}`, () => assert.equal(bytes(amount), words));
}

for (const [milliseconds, words] of [
  [0, '0 seconds'],
  [340, '0.3 seconds'],
  [1_000, '1 second'],
  [34_400, '34 seconds'],
  [200_000, '3 minutes'],
  [7_300_000, '2 hours'],
] as const) {
  test(`${milliseconds} ms is ${words}`, () => assert.equal(duration(milliseconds), words));
}

test('processor and memory are said in plain words, and what is unknown is not nought', () => {
  assert.equal(processorNow({ share: 0.123, limit: 1, milliseconds: 0 }), '12 % of one processor');
  assert.equal(processorNow({ share: 0.002, limit: 0.5, milliseconds: 0 }), 'under 1 % of 0.5 processors');
  assert.equal(processorNow({ share: null, limit: 1, milliseconds: null }), 'Unknown');
  assert.equal(processorSoFar({ share: 0, limit: 1, milliseconds: 2_000 }), '2 seconds of work since it started');
  assert.match(processorSoFar({ share: null, limit: 1, milliseconds: null }), /cannot tell/);
  assert.equal(memoryNow({ bytes: 52_000_000, peakBytes: null, limitBytes: 268_435_456 }), '52 MB of 268 MB');
  assert.equal(memoryNow({ bytes: null, peakBytes: null, limitBytes: 1 }), 'Unknown');
  assert.match(memorySoFar({ bytes: 1, peakBytes: 61_000_000, limitBytes: 1 }), /^At most 61 MB/);
});

test('network use is shown by direction, and the internet only where there is one', () => {
  const network = {
    inbound: { requests: 1, sentBytes: 2_000, receivedBytes: 500 },
    outbound: { requests: 0, sentBytes: 0, receivedBytes: 0 },
    public: null,
  };
  assert.equal(networkNow(network), '2 kB sent, 500 bytes received');
  assert.deepEqual(networkSoFar(network), [
    'You asked it: 1 time, 2 kB sent, 500 bytes received',
    'It asked the platform: nothing yet',
  ]);
  const open = { ...network, public: { sentBytes: 3_000, receivedBytes: 1_000_000 } };
  assert.equal(networkNow(open), '5 kB sent, 1 MB received');
  assert.equal(networkSoFar(open).at(-1), 'Internet: 3 kB sent, 1 MB received');
});

test('dropped lines are shown only where there are some', () => {
  assert.equal(droppedLines(0), null);
  assert.match(droppedLines(1) ?? '', /1 line was left out/);
  assert.match(droppedLines(2_500) ?? '', /2,500 lines were left out/);
});
