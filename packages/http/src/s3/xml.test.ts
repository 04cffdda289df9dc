// What a document of S3 costs the other work on its reader's thread.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { childText, readXml, XmlError } from './xml.ts';

const LIMITS = { characters: 2 * 1024 * 1024, elements: 40_001 };
const MOST = 1_500_000;

const repeated = (piece: (index: number) => string): string => {
  let text = '';
  for (let index = 0; text.length < MOST; index += 1) text += piece(index);
  return text;
};

/** Documents of 1.5 MB, made of one thing each. */
const documents: Readonly<Record<string, string>> = {
  attributes: `<a${repeated((index) => ` b${index}=""`)}/>`,
  namespaces: `<a${repeated((index) => ` xmlns:b${index}="c"`)}/>`,
  'the attributes of many elements': `<a>${repeated(() => '<b c=""/>')}</a>`,
  'one attribute of line ends': `<a b="${'\n'.repeat(MOST)}"/>`,
  'one attribute of entities': `<a b="${repeated(() => '&lt;')}"/>`,
  elements: `<a>${repeated(() => '<b/>')}</a>`,
  'elements with text': `<a>${repeated(() => `<b>${'x'.repeat(31)}</b>`)}</a>`,
  text: `<a>${'x'.repeat(MOST)}</a>`,
  brackets: `<a>${']'.repeat(MOST)}</a>`,
  entities: `<a>${repeated(() => '&#x26;')}</a>`,
  'empty CDATA': `<a>${repeated(() => '<![CDATA[]]>')}</a>`,
  comments: `<a>${repeated(() => '<!---->')}</a>`,
  'a name without end': `<${'a'.repeat(MOST)}/>`,
  'white space within a tag': `<a${' '.repeat(MOST)}/>`,
};

/** The processor time of the longest turn of the event loop while `work` runs, in milliseconds. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let isOver = false;
  let longest = 0;
  const watch = (async () => {
    while (!isOver) {
      const before = process.threadCpuUsage();
      await new Promise((resolve) => setImmediate(resolve));
      const { user, system } = process.threadCpuUsage(before);
      longest = Math.max(longest, (user + system) / 1_000);
    }
  })();
  // Its own synchronous beginning counts.
  await new Promise((resolve) => setImmediate(resolve));
  await work();
  isOver = true;
  await watch;
  return longest;
}

for (const [what, source] of Object.entries(documents)) {
  test(`1.5 MB of ${what} hold up nobody`, async () => {
    const read = () => readXml(source, LIMITS).catch((error: unknown) => assert.ok(error instanceof XmlError));
    const turns: number[] = [];
    // Garbage of the test before is collected in one of them.
    for (let turn = 0; turn < 3; turn += 1) turns.push(await longestTurn(read));
    assert.ok(Math.min(...turns) < 30, `a turn took ${turns.map((one) => one.toFixed()).join(', ')} ms`);
  });
}

test('a document may have the namespaces of S3 and names as long as a key may be', async () => {
  const key = '%E2%82%AC'.repeat(341);
  const source = `<?xml version="1.0"?>\n<L xmlns="http://s3.amazonaws.com/doc/2006-03-01/" xmlns:x="y"><K x:t="u">${key}</K></L>`;
  assert.equal(childText(await readXml(source, LIMITS), 'K'), key);
});

test('a document is read the same wherever it is cut', async () => {
  const keys = Array.from({ length: 3_000 }, (_, index) => `${index}&amp;€`);
  const { children = [] } = await readXml(`<L>${keys.map((key) => `<K>${key}</K>`).join('\n')}</L>`, LIMITS);
  assert.deepEqual(
    children.map(({ text }) => text),
    keys.map((key) => key.replace('&amp;', '&')),
  );
});

for (const [what, source] of [
  ['a document type', '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'],
  ['a document without end', `<a>${'<b>x</b>'.repeat(10_000)}`],
  ['two roots', '<a/><b/>'],
  ['nothing', ''],
] as const) {
  test(`${what} is refused`, async () => {
    await assert.rejects(readXml(source, LIMITS), XmlError);
  });
}

test('a document that nobody waits for any more is not read to its end', async () => {
  const reading = new AbortController();
  const text = documents.elements ?? assert.fail();
  const read = readXml(text, { ...LIMITS, elements: MOST }, reading.signal);
  setImmediate(() => reading.abort(new Error('left')));
  await assert.rejects(read, { message: 'left' });
});
