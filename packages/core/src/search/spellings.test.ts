// Promises of search about what is written in several ways: the pairs of the vectors and more of their classes are found in
// both directions, also in entries that were indexed before these ways were one.
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { orderIn } from './condition.ts';
import { holds } from './match-document.ts';
import { searchDocumentOf } from './search-document.ts';
import { SearchQuery } from './search-query.ts';
import { oneSpelling } from './spellings.ts';
import { components } from './words.ts';

const file = new URL('../../test-vectors/search-pairs.json', import.meta.url);
const vectors: { cases: { a: string; b: string; source: string }[] } = JSON.parse(fs.readFileSync(file, 'utf8'));

type Places = Parameters<typeof holds>[1]['places'];

function isFound(typed: string, places: Places): boolean {
  const query = new SearchQuery(typed);
  return !query.empty && holds(query.condition('beginning'), { places, similar: new Map(), title: false });
}

const indexed = (title: string): Places => searchDocumentOf({ title, text: '', url: '/' }).places;

/** What was kept of a title before: each part, and the parts written together. */
function formerlyIndexed(title: string): Places {
  const words = [...components(title, { most: 1_000, spelling: 'former' })].flatMap(({ parts, joined }) => [
    ...parts.flatMap((part) =>
      part.kind === 'word' ? [{ word: part.symbol ?? part.folded, position: part.position }] : [],
    ),
    ...(joined === null ? [] : [{ word: joined, position: parts[0]?.position ?? 0 }]),
  ]);
  return new Map(words.map(({ word, position }) => [word, [{ position, weight: 'A' }]]));
}

for (const { a, b, source } of vectors.cases)
  test(`${b} finds ${a} (${source})`, () => {
    assert.ok(isFound(b, indexed(a)));
    // The number is a word of its own, and not in the other.
    if (source !== 'prefix of the last word' && b !== '1234') assert.ok(isFound(a, indexed(b)), 'the other way round');
  });

const SAME: Readonly<Record<string, readonly string[]>> = {
  apostrophes: [..."'’‘‛′`´ʹʻʼʽʾʿˈꞌ＇"].map((mark) => `o${mark}zbek`),
  'apostrophes of Ukrainian': [..."'’ʼ"].map((mark) => `об${mark}єкт`),
  'digits of years': [
    '2026',
    '٢٠٢٦',
    '۲۰۲۶',
    '२०२६',
    '২০২৬',
    '੨੦੨੬',
    '௨௦௨௬',
    '๒๐๒๖',
    '၂၀၂၆',
    '២០២៦',
    '２０２６',
    '𝟸𝟶𝟸𝟼',
  ],
  'digits within words': ['कक्षा९', 'कक्षा9'],
  'nuktas of Devanagari': ['फ़ोन', 'फ\u093Cोन', 'फोन'],
  'nuktas that Unicode composes': ['ऩऱऴ', 'न\u093Cर\u093Cळ\u093C', 'नरळ'],
  'nuktas of Gurmukhi': ['ਜ਼ਮੀਨ', 'ਜਮੀਨ'],
  'nuktas of Bengali': ['পাহাড়', 'পাহাড\u09BC', 'পাহাড'],
  'joiners of Persian and spaces': ['می‌خواهم', 'می خواهم'],
  'joiners of Persian and none': ['می‌خواهم', 'میخواهم'],
  'joiners of Devanagari': ['क्‍ष', 'क्‌ष', 'क्ष'],
  'joiners of Malayalam': ['അവന്‍', 'അവന്'],
  'joiners of Latin': ['Auf\u200Clage', 'Auflage'],
  gershayim: ['צה״ל', 'צה"ל', 'צה”ל', "צה''ל", 'צה׳׳ל', 'צהל'],
  'gershayim in a longer word': ['מנכ״לית', 'מנכ"לית', 'מנכלית'],
  geresh: ['ג׳ירפה', "ג'ירפה", 'ג’ירפה', 'גירפה'],
};
for (const [what, spellings] of Object.entries(SAME))
  test(`${what} are one: each of ${spellings.length} spellings finds each`, () => {
    for (const title of spellings)
      for (const typed of spellings) assert.ok(isFound(typed, indexed(`x ${title} y`)), `${typed} finds ${title}`);
  });

test('quotes that are no gershayim still quote', () => {
  const places = indexed('שלום עולם טוב');
  assert.ok(isFound('"שלום עולם"', places));
  assert.ok(!isFound('"עולם שלום"', places));
  assert.ok(isFound('"צה״ל בא"', indexed('צה"ל בא')));
});

test('what a query had found before is found in what was indexed before', () => {
  const titles = [...vectors.cases.flatMap(({ a, b }) => [a, b]), ...Object.values(SAME).flat()];
  for (const title of titles) {
    // Runs of scripts without spaces are kept as pairs.
    const places = formerlyIndexed(title);
    if (places.size === 0) continue;
    assert.ok(isFound(title, places), title);
  }
});

test('of a query that has two readings, the order of words is asked of both', () => {
  const order = orderIn(new SearchQuery('"۱۲۳۴ کد"').condition('whole'));
  assert.equal(order?.kind, 'any');
  assert.equal(orderIn(new SearchQuery('"one two"').condition('whole'))?.kind, 'ordered');
  assert.equal(orderIn(new SearchQuery('۱۲۳۴ کد').condition('whole')), null);
});

test('every digit of Unicode is one of ten, and no text grows', () => {
  const values = new Set<string>();
  for (let code = 0; code <= 0x10ffff; code += 1) {
    const character = String.fromCodePoint(code);
    if (/\p{Nd}/u.test(character)) values.add(oneSpelling(character));
  }
  assert.deepEqual([...values].sort(), [...'0123456789']);
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const made = oneSpelling(text);
      assert.ok(made.length <= text.length);
      assert.equal(oneSpelling(made), made);
    }),
  );
});

test('a long text of nothing but such marks is read in no time', () => {
  for (const piece of ["ׁ'", 'ש״', 'ش\u200C', 'َ\u200C', ' \u0301', 'ʼ', '۱', '़', 'aʼ']) {
    const begun = process.cpuUsage();
    oneSpelling(piece.repeat(100_000));
    assert.ok(process.cpuUsage(begun).user < 1_000_000, piece);
  }
});
