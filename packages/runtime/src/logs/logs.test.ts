// What is kept of a workload's output, in which order, and what a flood costs.
import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { after, describe, test } from 'node:test';
import { holdClock } from '../../test-support/held-clock.ts';
import { createLogIntake } from './log-intake.ts';
import { type LogStore, openLogStore } from './log-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'pt-logs-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const clock = holdClock();
const silent = () => undefined;
const failures: string[] = [];
const log = {
  debug: silent,
  info: silent,
  warn: silent,
  error: (_fields: object, message: string) => void failures.push(message),
};
const open = () => openLogStore(folder, clock, log);

async function intakeOf(store: LogStore, id: string, parts: readonly (string | Buffer)[]): Promise<void> {
  const intake = createLogIntake(store.writer(id), () => clock.now().getTime());
  const stream = new PassThrough();
  intake.take(stream, 'stdout');
  for (const part of parts) stream.write(part);
  stream.end();
  await intake.ended();
}

describe('the log of an installation', () => {
  test('is read newest first, page by page, each line once', async () => {
    const store = open();
    const writer = store.writer('paged');
    for (let index = 0; index < 25; index += 1) writer.append('stdout', `line ${index}`);
    const seen: string[] = [];
    let before: string | null | undefined;
    do {
      const page = await store.read('paged', {
        limit: 10,
        ...(before === undefined || before === null ? {} : { before }),
      });
      seen.push(...page.items.map((item) => item.line));
      before = page.before;
    } while (before !== null);
    assert.deepEqual(
      seen,
      Array.from({ length: 25 }, (_, index) => `line ${24 - index}`),
    );
  });

  test('is still there after a restart, even one that cut its last line', async () => {
    const writer = open().writer('restart');
    writer.append('stderr', 'first');
    writer.append('system', 'second');
    await writer.settled();
    appendFileSync(join(folder, 'restart.jsonl'), '{"n":3,"at":"2026');
    const again = open();
    again.writer('restart').append('stdout', 'third');
    const { items } = await again.read('restart', { limit: 10 });
    assert.deepEqual(
      items.map((item) => [item.stream, item.line]),
      [
        ['stdout', 'third'],
        ['system', 'second'],
        ['stderr', 'first'],
      ],
    );
    assert.equal(items[0]?.at, '2026-01-01T00:00:00.000Z');
  });

  test('keeps the last 1,000 lines in bounded space, however many there were', async () => {
    const store = open();
    const writer = store.writer('many');
    for (let index = 0; index < 10_000; index += 1) {
      while (!writer.append('stdout', `${index} ${'x'.repeat(4_000)}`)) await writer.settled();
    }
    await writer.settled();
    const { items, before } = await store.read('many', { limit: 1_000 });
    assert.equal(items.length, 1_000);
    assert.equal(before, null);
    assert.match(items[0]?.line ?? '', /^9999 /);
    assert.ok(statSync(join(folder, 'many.jsonl')).size < 10 * 1024 * 1024);
  });

  test('is for the platform alone to read', async () => {
    const writer = open().writer('private');
    writer.append('stdout', 'x');
    await writer.settled();
    assert.equal(statSync(join(folder, 'private.jsonl')).mode & 0o077, 0);
  });

  test('that is removed is gone', async () => {
    const store = open();
    store.writer('gone').append('stdout', 'x');
    await store.remove('gone');
    assert.deepEqual(await store.read('gone', { limit: 10 }), { items: [], before: null });
    assert.deepEqual(failures, []);
  });

  test('takes lines as they were written, across chunks, with broken UTF-8 and without a last newline', async () => {
    const store = open();
    await intakeOf(store, 'split', [
      'one\ntw',
      'o\r\n\n',
      Buffer.from([0x66, 0xff, 0x6f, 0x0a]),
      Buffer.from('€'.slice(0)).subarray(0, 2),
      Buffer.from('€').subarray(2),
      '!',
    ]);
    const { items } = await store.read('split', { limit: 10 });
    assert.deepEqual(items.map((item) => item.line).reverse(), ['one', 'two', '', 'f\uFFFDo', '€!']);
  });

  test('shows what would steer a terminal instead of keeping it', async () => {
    const store = open();
    await intakeOf(store, 'terminal', [
      '\u001b[31mred\u001b[0m\u001b]52;c;eA==\u0007!\tkept\nback\b\rover\0 \u009b1m\n',
    ]);
    const { items } = await store.read('terminal', { limit: 10 });
    assert.deepEqual(items.map((item) => item.line).reverse(), ['red!\tkept', 'back\u2408\u240dover\u2400 ']);
  });

  test('cuts a line that is too long and goes on with the next', async () => {
    const store = open();
    await intakeOf(store, 'long', ['y'.repeat(3_000), 'y'.repeat(3_000), 'y'.repeat(1_000_000), '\nnext\n']);
    const { items } = await store.read('long', { limit: 10 });
    assert.deepEqual(items.map((item) => item.line.length).reverse(), [4_097, 4]);
    assert.ok(items[1]?.line.endsWith('…'));
  });

  for (const [what, line] of [
    ['nothing', '\n'],
    ['a carriage return', '\r\n'],
    ['one letter', 'x\n'],
    ['half a character', Buffer.of(0xe2, 0x0a)],
    ['an escape', '\u001b\n'],
    ['ten letters', `${'x'.repeat(10)}\n`],
    ['4 KiB', `${'x'.repeat(4_096)}\n`],
    ['a megabyte', `${'x'.repeat(1_048_576)}\n`],
  ] as const) {
    test(`makes a workload wait whose lines have ${what} each, by bytes and by lines`, async () => {
      let now = 0;
      let kept = 0;
      const writer = { append: () => ++kept > 0, diskFull: () => false, settled: async () => undefined };
      const intake = createLogIntake(writer, () => now);
      const stream = new PassThrough({ highWaterMark: 64 * 1024 * 1024 });
      intake.take(stream, 'stdout');
      const bytes = Buffer.from(line);
      const chunk = Buffer.concat(Array.from({ length: Math.ceil(65_536 / bytes.length) }, () => bytes));
      const most = 40;
      for (let count = 0; count < most; count += 1) stream.write(chunk);
      await new Promise((resolve) => setImmediate(resolve));
      assert.ok(stream.isPaused());
      const lines = kept + intake.dropped();
      assert.ok(lines <= 70_000, `${lines} lines were read at once`);
      const unread = stream.readableLength;
      assert.ok(unread >= most * chunk.length - 600_000 - chunk.length, `${unread} bytes were left`);
      now = 100_000;
      stream.destroy();
    });
  }

  test('of a flood keeps a part and counts the rest', async () => {
    const store = open();
    await intakeOf(
      store,
      'flood',
      Array.from({ length: 20 }, () => 'spam\n'.repeat(10_000)),
    );
    const stored = readFileSync(join(folder, 'flood.jsonl'), 'utf8');
    const kept = stored.split('\n').filter((line) => line.includes('"spam"')).length;
    const dropped = [...stored.matchAll(/"(\d+) lines were dropped/g)].map(([, count]) => Number(count));
    assert.equal(kept, 1_000, 'all of them came within one second');
    assert.equal(
      dropped.reduce((sum, one) => sum + one, 0),
      199_000,
    );
  });
});
