// The tables of `platform ps`: parts, and backends wide and narrow.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { age, type PsRow, partLines, psLines } from './ps-table.ts';

const now = new Date('2026-11-21T12:00:00.000Z');
const none = { requests: 0, sentBytes: 0, receivedBytes: 0 };
const running: PsRow = {
  id: 'inst-1',
  account: 'anna',
  appId: 'notes',
  version: '1.0.0',
  node: 'local',
  state: 'running',
  since: '2026-11-21T11:55:00.000Z',
  reason: null,
  restarts: 2,
  lastExit: { at: '2026-11-21T11:54:00.000Z', reason: 'Exited with code 1.' },
  usage: {
    cpu: { milliseconds: 1, share: 0.123, limit: 1 },
    memory: { bytes: 52 * 1024 * 1024, peakBytes: null, limitBytes: 1 },
    network: { outbound: none, inbound: none, public: null },
    logLinesDropped: 0,
  },
};
const failed: PsRow = {
  ...running,
  account: 'bert',
  appId: 'a-long-name-of-an-app',
  state: 'failed',
  since: '2026-11-18T12:00:00.000Z',
  reason: 'It did not\nlisten on port 8080 \u001b[31mwithin 60 s. It listens on 9090 instead.',
  usage: null,
};

test('each part of the platform is one line, which says how it last ended', () => {
  const since = '2026-11-21T11:55:00.000Z';
  const parts = [
    { name: 'PostgreSQL', pid: 1, since, restarts: 0, lastExit: null },
    { name: 'Core', pid: 2, since, restarts: 1, lastExit: 'Core was killed by SIGKILL.' },
    { name: 'Node', pid: null, since, restarts: 2, lastExit: 'Node ended with code 1.' },
  ];
  assert.deepEqual(
    partLines(parts, { width: 24, now }).map((line) => line.length),
    [24, 24, 24],
  );
  assert.deepEqual(partLines(parts, { width: Number.POSITIVE_INFINITY, now }), [
    'PostgreSQL  running for 5 min',
    'Core        running for 5 min, restarted once. Last exit: Core was killed by SIGKILL.',
    'Node        restarting for 5 min, restarted 2 times. Last exit: Node ended with code 1.',
  ]);
});

test('one at rest has no reason but that somebody stopped it', () => {
  const asleep: PsRow = { ...running, state: 'stopped', usage: null };
  const why = (row: PsRow) => psLines([row], { width: 160, now })[1]?.split(/ {2,}/).at(-1);
  assert.equal(why(asleep), '2');
  assert.equal(why({ ...asleep, reason: 'Stopped until it is started again.' }), 'Stopped until it is started again.');
});

test('a wide terminal gets one line for each backend, in columns', () => {
  assert.deepEqual(psLines([running, failed], { width: Number.POSITIVE_INFINITY, now }), [
    'BACKEND                     VERSION  NODE   STATE    SINCE   CPU  MEMORY  RESTARTS  REASON',
    'anna/notes                  1.0.0    local  running  5 min  12 %  52 MiB         2',
    'bert/a-long-name-of-an-app  1.0.0    local  failed     3 d                       2  It did not listen on port 8080 [31mwithin 60 s. It listens on 9090 instead.',
  ]);
});

test('no line is longer than the terminal is wide', () => {
  for (const width of [20, 40, 80, 100, 120, 200]) {
    for (const line of psLines([running, failed], { width, now })) assert.ok(line.length <= width, `${width}: ${line}`);
  }
});

test('a narrow terminal gets short lines, with the reason where there is one', () => {
  assert.deepEqual(psLines([running, failed], { width: 44, now }), [
    'anna/notes 1.0.0',
    '  running 5 min, 12 % cpu, 52 MiB',
    'bert/a-long-name-of-an-app 1.0.0',
    '  failed 3 d',
    '  It did not listen on port 8080 [31mwithin…',
  ]);
});

test('unknown values are shown as unknown, never as zero', () => {
  const unseen: PsRow = { ...running, state: null, since: null, restarts: null, lastExit: null, usage: null };
  const blind: PsRow = {
    ...running,
    usage: running.usage && {
      ...running.usage,
      cpu: { milliseconds: null, share: null, limit: 1 },
      memory: { bytes: null, peakBytes: null, limitBytes: 1 },
    },
  };
  const [, first, second] = psLines([unseen, blind], { width: 200, now });
  assert.match(first ?? '', /unplaced +0$/);
  assert.match(second ?? '', /running +5 min +\? +\? +2$/);
  assert.deepEqual(psLines([], { width: 80, now }), ['No installed app has a backend.']);
});

test('ages have one unit', () => {
  assert.deepEqual([-5, 119_000, 120_000, 7_200_000, 172_800_000].map(age), ['0 s', '119 s', '2 min', '2 h', '2 d']);
});
