// What a call used, in whatever form it is reported: a workload that makes it unreadable, or leaves, gains nothing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { type ExchangeEnd, openShares } from '@platform/http';
import fc from 'fast-check';
import { openRooms } from '../../room.ts';
import { anthropic } from '../anthropic.ts';
import { endpointOf } from '../endpoints.ts';
import { openai } from '../openai.ts';
import { accountTap, type Used } from './accounting.ts';

const KiB = 1024;
const text = 'x'.repeat(30 * KiB);
const usage = { prompt_tokens: 7, completion_tokens: 9_000 };
const whole = Buffer.from(JSON.stringify({ choices: [{ message: { content: text } }], usage }));
const unreported = Buffer.from(JSON.stringify({ choices: [{ message: { content: text } }] }));

interface Given {
  readonly room?: number;
  readonly type?: string | undefined;
  readonly how?: ExchangeEnd;
  readonly coding?: string;
  readonly most?: number;
  readonly path?: string;
  readonly piece?: number;
  readonly dialect?: typeof openai;
  /** Called before the end. */
  readonly onPieces?: () => void;
}

function usedOf(answer: Buffer, given: Given = {}): Promise<Used> {
  const { room = 1024 * KiB, how = 'complete', coding, most = 16_384, piece = KiB, dialect = openai } = given;
  const type = 'type' in given ? given.type : 'application/json';
  const path = given.path ?? (dialect === openai ? 'chat/completions' : 'messages');
  return new Promise((resolve) => {
    const tap = accountTap({
      dialect,
      endpoint: endpointOf(dialect.endpoints, 'POST', path),
      estimatedInput: 5,
      reservedOutput: most,
      room: openRooms(room, openShares(1e9, 0).open()).open(),
      onEnd: resolve,
    });
    tap.sent?.();
    tap.head?.(200, {
      ...(type === undefined ? {} : { 'content-type': type }),
      ...(coding === undefined ? {} : { 'content-encoding': coding }),
    });
    for (let at = 0; at < answer.length; at += piece) tap.chunk?.(answer.subarray(at, at + piece));
    given.onPieces?.();
    tap.end?.(how);
  });
}

function stream(...events: readonly object[]): Buffer {
  return Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
}

test('what the provider reports counts, whatever its answer says that it is', async () => {
  for (const type of ['application/json', undefined, 'text/plain', 'text/event-stream', 'application/x-ndjson', 'a/b'])
    for (const piece of [1, KiB])
      assert.deepEqual(await usedOf(whole, { type, piece }), { inputTokens: 7, outputTokens: 9_000, reached: true });
});

test('a compressed answer is read', async () => {
  const codings = {
    gzip: gzipSync,
    'x-gzip': gzipSync,
    deflate: deflateSync,
    br: brotliCompressSync,
    zstd: zstdCompressSync,
  };
  for (const [coding, compress] of Object.entries(codings)) {
    const room = 64 * KiB * KiB;
    assert.equal((await usedOf(compress(whole), { coding, room })).outputTokens, 9_000, coding);
    const cut = compress(unreported);
    const { outputTokens } = await usedOf(cut, { coding, room, how: 'failed' });
    assert.ok(outputTokens >= text.length / 3, `${coding}: ${outputTokens}`);
  }
});

test('one in a coding that nobody reads, or for which there is no room, counts as all that was reserved', async () => {
  for (const [coding, room] of [
    ['compress', 64 * KiB * KiB],
    ['gzip, gzip', 64 * KiB * KiB],
    ['gzip', 8 * KiB],
  ] as const)
    assert.equal((await usedOf(gzipSync(whole), { coding, room, most: 700 })).outputTokens, 700, coding);
});

const unreadable: Readonly<Record<string, readonly [Buffer, Given]>> = {
  'for which the app left no room': [whole, { room: 2 * KiB }],
  'that the provider cut off': [whole.subarray(0, -1), { how: 'failed' }],
  'in plain text': [Buffer.from(text), { type: 'text/plain' }],
  'without a type': [Buffer.from(text), { type: undefined }],
  'of a type that no text has': [Buffer.from(text), { type: 'audio/mpeg' }],
  'of events that are none': [Buffer.from(text), { type: 'text/event-stream' }],
};

for (const [what, [answer, options]] of Object.entries(unreadable)) {
  test(`an answer ${what} counts as text`, async () => {
    const { inputTokens, outputTokens } = await usedOf(answer, options);
    assert.deepEqual([inputTokens, outputTokens], [5, Math.ceil(answer.length / 3)]);
    assert.equal((await usedOf(answer, { ...options, most: 100 })).outputTokens, outputTokens);
  });
}

test('text that somebody did not wait for counts up to what was reserved, and what was reported until then in full', async () => {
  const left = { how: 'abandoned', type: 'text/event-stream', most: 100 } as const;
  assert.equal((await usedOf(stream({ choices: [{ delta: { content: text } }] }), left)).outputTokens, 100);
  const reported = stream({ choices: [{ delta: { content: 'a' } }], usage });
  assert.deepEqual(await usedOf(reported, left), { inputTokens: 7, outputTokens: 9_000, reached: true });
});

test('lines of a stream that are too long, or no JSON, count as text', async () => {
  const events = stream({ choices: [{ delta: { content: text } }] });
  const given = { type: 'text/event-stream', most: 1e9 };
  assert.equal((await usedOf(events, given)).outputTokens, Math.ceil(text.length / 3));
  for (const length of [2 * KiB * KiB, 5]) {
    const odd = Buffer.from(`data: {${'x'.repeat(length)}\n\n`);
    const { outputTokens } = await usedOf(Buffer.concat([events, odd]), given);
    assert.ok(outputTokens >= (text.length + length) / 3, String(outputTokens));
  }
});

test('sounds and pictures are no text where they are asked for', async () => {
  assert.equal((await usedOf(whole, { type: 'audio/mpeg', path: 'audio/speech' })).outputTokens, 0);
  const picture = Buffer.from(JSON.stringify({ data: [{ b64_json: text }] }));
  assert.equal((await usedOf(picture, { path: 'images/generations' })).outputTokens, 0);
  const spoken = stream({ choices: [{ delta: { audio: { id: 'a', data: text } } }] });
  assert.equal((await usedOf(spoken, { type: 'text/event-stream' })).outputTokens, 0);
});

test('a stream of a response that repeats its text counts it once', async () => {
  const item = { id: 'm', type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] };
  const response = { id: 'r', object: 'response', instructions: text, output: [item] };
  const events = stream(
    { type: 'response.created', response: { ...response, output: [] } },
    { type: 'response.output_text.delta', delta: text },
    { type: 'response.output_text.done', text },
    { type: 'response.output_item.done', item },
    { type: 'response.completed', response },
  );
  const given = { type: 'text/event-stream', path: 'responses' };
  assert.equal((await usedOf(events, given)).outputTokens, Math.ceil(text.length / 3));
});

test('numbers and names that a model chose count, as deep as they are', async () => {
  const input = { [text]: [1_234_567] };
  const answer = Buffer.from(JSON.stringify({ content: [{ type: 'tool_use', id: 't', input }] }));
  const { outputTokens } = await usedOf(answer, { dialect: anthropic });
  assert.equal(outputTokens, Math.ceil((text.length + 7) / 3));
  const depth = 100_000;
  const deep = Buffer.from(`{"a":${'['.repeat(depth)}"${text}"${']'.repeat(depth)}}`);
  assert.ok((await usedOf(deep, { dialect: anthropic })).outputTokens >= text.length / 3);
});

test('steps that an answer took count where its sums leave them out', async () => {
  const iterations = [
    { type: 'compaction', input_tokens: 180_000, output_tokens: 3_500 },
    { type: 'message', input_tokens: 23_000, output_tokens: 1_000 },
  ];
  const answer = Buffer.from(
    JSON.stringify({ content: [], usage: { input_tokens: 23_000, output_tokens: 1_000, iterations } }),
  );
  assert.deepEqual(await usedOf(answer, { dialect: anthropic }), {
    ...{ inputTokens: 203_000, outputTokens: 4_500, reached: true },
  });
});

const tokens = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 1e6 }), fc.constant(null), fc.constant(undefined));
const report = fc.record({ prompt_tokens: tokens, completion_tokens: tokens, total_tokens: tokens });

test('of any reports in any order and any pieces no member counts less than its largest', async () => {
  const piece = fc.integer({ min: 1, max: 64 });
  await fc.assert(
    fc.asyncProperty(fc.array(report, { minLength: 1, maxLength: 6 }), piece, async (reports, size) => {
      const events = reports.map((one) => ({ choices: [{ delta: { content: 'abcdef' } }], usage: one }));
      const used = await usedOf(stream(...events), { type: 'text/event-stream', piece: size });
      const largest = (name: keyof (typeof reports)[number]) => Math.max(0, ...reports.map((one) => one[name] ?? 0));
      const [input, output, total] = [largest('prompt_tokens'), largest('completion_tokens'), largest('total_tokens')];
      assert.ok(used.inputTokens >= input && used.outputTokens >= output);
      assert.ok(used.inputTokens + used.outputTokens >= total);
      if (input > 0) assert.equal(used.inputTokens, input);
      if (output === 0 && total === 0) assert.equal(used.outputTokens, reports.length * 2);
      assert.ok(used.inputTokens + used.outputTokens > 0);
      const reversed = await usedOf(stream(...events.toReversed()), { type: 'text/event-stream' });
      assert.deepEqual(reversed, used);
    }),
  );
});

test('text counts under every name that nobody knows, in any shape', async () => {
  const known = /^(?:usage|x_groq|timings|url|image_url|data|result|embedding|b64_json|partial_image_b64)$/;
  const name = fc.string({ minLength: 1, maxLength: 12 }).filter((one) => !known.test(one) && one !== '__proto__');
  const shapes = [(value: unknown, at: string) => ({ [at]: value }), (value: unknown) => [value]];
  await fc.assert(
    fc.asyncProperty(name, fc.array(fc.constantFrom(...shapes), { maxLength: 5 }), async (at, wraps) => {
      const written = wraps.reduce<unknown>((value, wrap) => wrap(value, at), text);
      for (const dialect of [openai, anthropic])
        for (const holder of [{ choices: [{ delta: { [at]: written } }] }, { type: 'of_tomorrow', [at]: written }]) {
          const { outputTokens } = await usedOf(stream(holder), { type: 'text/event-stream', dialect });
          assert.ok(outputTokens >= text.length / 3, `${at}: ${outputTokens}`);
        }
    }),
    { numRuns: 50 },
  );
});

test('answers in pieces of one byte take the memory of their bytes, whatever they are', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const live = (): number => {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const length = 900 * KiB;
  for (const [type, begin] of [
    ['text/event-stream', 'data: {"a":"'],
    ['application/json', '{"a":"'],
    ['text/plain', 'x'],
  ] as const) {
    const bytes = Buffer.from(begin + 'x'.repeat(length));
    const before = live();
    let held = 0;
    const onPieces = (): void => {
      held = live();
    };
    await usedOf(bytes, { type, piece: 1, how: 'failed', room: 64 * KiB * KiB, onPieces });
    assert.ok(held - before < 8 * KiB * KiB, `${type}: ${Math.round((held - before) / KiB)} KiB more`);
  }
});
