// Following a log: every line once and in order, across rotations and restarts, at the reader's pace.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, test } from 'node:test';
import type { NodeLogPiece } from '@platform/contract';
import { holdClock } from '../../test-support/held-clock.ts';
import { type LogStart, type LogStore, openLogStore } from './log-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'pt-tail-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const silent = () => undefined;
const log = { debug: silent, info: silent, warn: silent, error: assert.fail };
const open = () => openLogStore(folder, holdClock(), log);

let store: LogStore;
let ending: AbortController;
let count = 0;
let id = '';
beforeEach(() => {
  store = open();
  ending = new AbortController();
  count += 1;
  id = `log-${count}`;
});
afterEach(() => ending.abort());

async function write(from: number, to: number): Promise<void> {
  const writer = store.writer(id);
  for (let line = from; line <= to; line += 1) {
    writer.append('stdout', `line ${line}`);
    // The disk is never so far behind that a line is dropped.
    if (line % 500 === 0) await writer.settled();
  }
  await writer.settled();
}

function follow(start: LogStart): AsyncGenerator<NodeLogPiece, void, undefined> {
  return store.follow(id, start, ending.signal);
}

/** Takes pieces until one satisfies, and gives all of them. */
async function take(
  pieces: AsyncGenerator<NodeLogPiece, void, undefined>,
  enough: (piece: NodeLogPiece) => boolean,
): Promise<NodeLogPiece[]> {
  const taken: NodeLogPiece[] = [];
  for (;;) {
    const { value } = await pieces.next();
    assert.ok(value !== undefined, 'the stream ended');
    taken.push(value);
    if (enough(value)) return taken;
  }
}

const texts = (pieces: readonly NodeLogPiece[]) => pieces.flatMap(({ items }) => items.map(({ line }) => line));
const lines = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}`);

test('a stream begins with the newest lines and goes on with what is written', async () => {
  await write(1, 10);
  const pieces = follow({ newest: 3 });
  const first = await pieces.next();
  assert.deepEqual(first.value && [texts([first.value]), first.value.last, first.value.before], [
    lines(8, 10),
    10,
    '8',
  ]);
  const older = await store.read(id, { limit: 100, before: '8' });
  assert.deepEqual(older.items.map(({ line }) => line).reverse(), lines(1, 7));
  const next = take(pieces, ({ last }) => last === 12);
  await write(11, 12);
  assert.deepEqual(texts(await next), lines(11, 12));
});

test('the log of an installation that never wrote is followed from its first line', async () => {
  const pieces = follow({ newest: 200 });
  assert.deepEqual((await pieces.next()).value, { items: [], last: 0, missed: 0, before: null });
  const next = take(pieces, ({ last }) => last === 1);
  await write(1, 1);
  assert.deepEqual(texts(await next), lines(1, 1));
});

test('a stream is resumed behind the last line that was taken, also by another Runtime', async () => {
  await write(1, 20);
  const [resumed] = await take(follow({ after: 15 }), ({ last }) => last === 20);
  assert.deepEqual(resumed && [texts([resumed]), resumed.missed], [lines(16, 20), 0]);
  store = open();
  const pieces = follow({ after: 20 });
  const next = take(pieces, ({ last }) => last === 21);
  await write(21, 21);
  assert.deepEqual(texts(await next), lines(21, 21));
});

test('a position that the log never reached gives everything there is', async () => {
  await write(1, 2);
  const pieces = await take(follow({ after: 900 }), ({ last }) => last === 2);
  assert.deepEqual(texts(pieces), lines(1, 2));
});

test('a reader that keeps up sees every line once while the log is rotated under it', async () => {
  const all: string[] = [];
  const pieces = follow({ newest: 0 });
  await pieces.next();
  // More than the 2,000 lines after which the file is shortened, several times over.
  for (let from = 1; from < 9_000; from += 900) {
    const taken = take(pieces, ({ last }) => last === from + 899);
    await write(from, from + 899);
    const round = await taken;
    assert.ok(round.every(({ missed }) => missed === 0));
    all.push(...texts(round));
  }
  assert.deepEqual(all, lines(1, 9_000));
});

test('a reader that stays away learns how many lines it missed, and holds nothing back', async () => {
  await write(1, 5);
  const pieces = follow({ newest: 5 });
  await pieces.next();
  await write(6, 6_000);
  const round = await take(pieces, ({ last }) => last === 6_000);
  const seen = texts(round);
  const missed = round.reduce((sum, piece) => sum + piece.missed, 0);
  assert.ok(missed > 0);
  assert.equal(missed + seen.length, 5_995);
  assert.deepEqual(seen, lines(6_000 - seen.length + 1, 6_000));
});

test('a stream ends when its reader wants no more', async () => {
  const pieces = follow({ newest: 1 });
  await pieces.next();
  const next = pieces.next();
  ending.abort();
  assert.deepEqual(await next, { value: undefined, done: true });
});
