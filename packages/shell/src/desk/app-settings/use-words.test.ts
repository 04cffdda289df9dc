// The resource use of a backend, as its owner reads it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { duration } from '../../design/words.ts';
import {
  droppedLines,
  memoryNow,
  memorySoFar,
  networkNow,
  networkSoFar,
  processorNow,
  processorSoFar,
} from './use-words.ts';

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

test('processor and memory are said in plain words, and unknown values are not zero', () => {
  assert.equal(processorNow({ share: 0.123, limit: 1, milliseconds: 0 }), '12 % of one processor');
  assert.equal(processorNow({ share: 0.002, limit: 0.5, milliseconds: 0 }), 'under 1 % of 0.5 processors');
  assert.equal(processorNow({ share: null, limit: 1, milliseconds: null }), 'Unknown');
  assert.equal(
    processorSoFar({ share: 0, limit: 1, milliseconds: 2_000 }),
    '2 seconds of processor time since it started',
  );
  assert.match(processorSoFar({ share: null, limit: 1, milliseconds: null }), /can’t measure/);
  assert.equal(memoryNow({ bytes: 52_428_800, peakBytes: null, limitBytes: 268_435_456 }), '50 MiB of 256 MiB');
  assert.equal(memoryNow({ bytes: null, peakBytes: null, limitBytes: 1 }), 'Unknown');
  assert.match(memorySoFar({ bytes: 1, peakBytes: 50_331_648, limitBytes: 1 }), /^Peak 48 MiB, including file cache$/);
});

test('network use is shown by direction, and the internet only where there is one', () => {
  const network = {
    inbound: { requests: 1, sentBytes: 2_048, receivedBytes: 500 },
    outbound: { requests: 0, sentBytes: 0, receivedBytes: 0 },
    public: null,
  };
  assert.equal(networkNow(network), '2 KiB sent, 500 bytes received');
  assert.deepEqual(networkSoFar(network), [
    'Incoming requests: 1, 2 KiB sent, 500 bytes received',
    'Requests to the platform: none yet',
  ]);
  const open = { ...network, public: { sentBytes: 3_072, receivedBytes: 1_048_576 } };
  assert.equal(networkNow(open), '5 KiB sent, 1 MiB received');
  assert.equal(networkSoFar(open).at(-1), 'Internet: 3 KiB sent, 1 MiB received');
});

test('dropped lines are shown only where there are some', () => {
  assert.equal(droppedLines(0), null);
  assert.match(droppedLines(1) ?? '', /^1 log line was dropped/);
  assert.match(droppedLines(2_500) ?? '', /^2,500 log lines were dropped/);
});
