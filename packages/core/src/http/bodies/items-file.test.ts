// Promises of reading a body item by item: the outcome is that of parse-body.ts, wherever the body is cut, and what is
// held of it is bounded.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { type JsonBody, limits, RefusalError, routes } from '@platform/contract';
import { fc } from '../../../../../tests/support/fast-check.ts';
import { thorough } from '../../../../../tests/support/thorough.ts';
import { checkItems } from './items-file.ts';
import { parseBody } from './parse-body.ts';

const REPLACE: JsonBody = routes['services.search.replace'].body;
const UPSERT: JsonBody = routes['services.search.upsert'].body;
const folder = mkdtempSync(path.join(tmpdir(), 'platform-items-'));
after(() => rmSync(folder, { recursive: true }));

let files = 0;

/** The entries and their ids, or the refusal. */
async function streamed(body: string | Buffer, spec = REPLACE): Promise<unknown> {
  files += 1;
  const [from, to] = [path.join(folder, `${files}-body`), path.join(folder, `${files}-items`)];
  writeFileSync(from, body);
  return outcomeOf(async () => {
    const keys = checkItems(spec, from, to);
    const lines = readFileSync(to, 'utf8').split('\n').slice(0, -1);
    return { keys, entries: lines.map((line) => JSON.parse(line)) };
  });
}

async function whole(body: string | Buffer, spec = REPLACE): Promise<unknown> {
  return outcomeOf(async () => {
    const { entries } = parseBody(Buffer.from(body), spec) as { entries: { id: string }[] };
    return { keys: entries.map(({ id }) => id), entries };
  });
}

async function outcomeOf(read: () => Promise<unknown>): Promise<unknown> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof RefusalError) return error.refusal;
    throw error;
  }
}

const entry = (id: string, more: object = {}) => ({ id, title: `Title ${id}`, url: `/n/${id}`, ...more });

test('right bodies, and every kind of faulty one, have the outcome of a body that is parsed as a whole', async () => {
  const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  const bodies: readonly (string | Buffer)[] = [
    '{"entries":[]}',
    JSON.stringify({ entries: [entry('a', { text: 'größe \u2028 東京' }), entry('b', { kind: 'k' })] }),
    ' {\n"entries" : [ {"id":"\\u0061","title":" a\\/b ","url":"/"} ] } ',
    '{"entries":[{"id":"a","title":"one","title":"two","url":"/a"}]}',
    '{"entries":[{"id":"a"}],"entries":[{"id":"b","title":"b","url":"/b"}]}',
    '{"entries":[{"id":"b","title":"b","url":"/b"}],"entries":7}',
    '{"entries":7,"entries":[{"id":"b","title":"b","url":"/b"}]}',
    '{"entries":[{"__proto__":{"id":"x"},"title":"b","url":"/b"}]}',
    '{"__proto__":{"entries":[]}}',
    '{"entries":[],"__proto__":1}',
    '{"entries":[],"more":{"entries":[1,2]}}',
    '{"more":[[{"entries":[{"id":"a","title":"b","url":"/b"}]}]],"entries":[]}',
    '{"entries":[{"id":"a","title":"","url":"x","extra":1},{},7,null,"s",[]]}',
    '{"entries":[{"id":"a","title":"t","url":"/"},{"id":"a","title":"t","url":"/"}]}',
    '{"entries":{}}',
    '{"entries":null}',
    '{}',
    '[]',
    '[{"entries":[]}]',
    '"entries"',
    'null',
    '1e3',
    '',
    ' ',
    '{"entries":[],}',
    '{"entries":[,]}',
    '{"entries":[1,]}',
    '{"entries":[{"id":"a",}]}',
    '{"entries":[]}}',
    '{"entries":[]} {}',
    '{"entries":[01]}',
    '{"entries":[1.]}',
    '{"entries":[tru]}',
    '{"entries":["\t"]}',
    '{"entries":["\\x"]}',
    "{'entries':[]}",
    '{"entries":[',
    '{"entries":["a',
    '{"entries":[{"id":"\\ud800","title":"t","url":"/"}]}',
    '{"entries":[{"id":"a\\ud800b","title":"t","url":"/"}]}',
    '{"entries":[{"id":"\\ud83d\\ude00","title":"t","url":"/"}]}',
    '{"entries":[{"a\\u0000":1}]}',
    '{"entries":[],"more":"\\u0000"}',
    `{"entries":[${deep(30)}]}`,
    `{"entries":${deep(40)}}`,
    Buffer.from([0x7b, 0xff, 0x7d]),
    Buffer.concat([Buffer.from('{"entries":[]}'), Buffer.from([0xc3])]),
    Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('{"entries":[]}')]),
    JSON.stringify({ entries: Array.from({ length: 80 }, () => ({})) }),
  ];
  for (const body of bodies) {
    for (const spec of [REPLACE, UPSERT])
      assert.deepEqual(await streamed(body, spec), await whole(body, spec), String(body).slice(0, 120));
  }
});

test('a list that is too long or too short is refused in the same words', async () => {
  const of = (count: number) => JSON.stringify({ entries: Array.from({ length: count }, (_, at) => entry(`e-${at}`)) });
  for (const [spec, count] of [
    [UPSERT, 0],
    [UPSERT, limits.searchUpsert.value],
    [UPSERT, limits.searchUpsert.value + 1],
    [REPLACE, limits.searchEntries.value + 1],
  ] as const)
    assert.deepEqual(await streamed(of(count), spec), await whole(of(count), spec), String(count));
});

test('any document has the same outcome', async () => {
  const value = fc.jsonValue({ maxDepth: 3 });
  const right = fc.record({
    id: fc.string({ minLength: 1 }),
    title: fc.string(),
    url: fc.constant('/x'),
    text: fc.string(),
  });
  const body = fc.oneof(
    fc.record({ entries: fc.array(fc.oneof(right, value)) }),
    fc.dictionary(fc.constantFrom('entries', 'more', '__proto__'), value),
    value,
  );
  await fc.assert(
    fc.asyncProperty(body, fc.constantFrom(undefined, 1), async (document, space) => {
      const text = JSON.stringify(document, null, space);
      assert.deepEqual(await streamed(text), await whole(text));
    }),
    { numRuns: thorough(200, 5_000) },
  );
});

test('characters that lie across pieces of the file come out whole', async () => {
  const text = '東é😀"\\'.repeat(1_500);
  const entries = Array.from({ length: 60 }, (_, at) =>
    entry(`e-${at}`, { text: `${'x'.repeat(at)}${text}`.slice(0, 5_000) }),
  );
  const body = JSON.stringify({ entries });
  assert.deepEqual(await streamed(body), await whole(body));
});

test('what would have to be held is refused as soon as it is too much', async () => {
  const much = 'x'.repeat(limits.searchBodyEntry.value);
  const numbers = '1,'.repeat(limits.searchBodyEntry.value);
  for (const body of [
    `{"entries":[{"id":"${much}"}]}`,
    `{"entries":[{"a":[${numbers}1]}]}`,
    `{"${much}":1}`,
    `{"more":[${numbers}1]}`,
    `{"more":${'1'.repeat(limits.searchBodyEntry.value + 1)}}`,
  ]) {
    const { code, detail } = (await streamed(body)) as { code: string; detail: string };
    assert.equal(code, 'invalid_request');
    assert.match(detail, /has more than 262144 characters/);
  }
  const spaces = ' '.repeat(limits.searchBodyEntry.value);
  assert.deepEqual(await streamed(`{"entries":[${spaces}]${spaces}}`), { keys: [], entries: [] });
});
