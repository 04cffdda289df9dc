// Promises about text that expands: what is indexed and looked for is bounded in the form in which that is done.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@platform/contract';
import { searchDocumentOf } from './search-document.ts';
import { SearchQuery } from './search-query.ts';

/** Expands to eighteen characters, which are four words. */
const EXPANDS = '\uFDFA';

function lastPosition({ places }: ReturnType<typeof searchDocumentOf>): number {
  return Math.max(...[...places.values()].flat().map(({ position }) => position));
}

/** A word of letters alone: digits that follow each other are written together. */
function numbered(index: number): string {
  return [...index.toString(26)].map((digit) => String.fromCharCode(97 + Number.parseInt(digit, 26))).join('');
}

function wordsIn(condition: unknown): number {
  return JSON.stringify(condition).match(/"text"/g)?.length ?? 0;
}

test('of a text that expands as much is indexed as of one that does not', () => {
  const most = limits.searchIndexedText.value;
  const document = (text: string) => searchDocumentOf({ title: 't', text, url: '/' });
  // As many words as the limit has characters, at most, and those of the title.
  assert.ok(lastPosition(document(EXPANDS.repeat(most / 3))) < most / 4);
  const words = Array.from({ length: most / 8 }, (_, index) => numbered(index));
  assert.ok(lastPosition(document(words.join(' '))) >= words.length, 'plain text is indexed as a whole');
  const title = searchDocumentOf({ title: EXPANDS.repeat(limits.searchTitle.value), text: '', url: '/' });
  assert.ok(lastPosition(title) <= limits.searchIndexedLine.value / 4);
});

test('a title and a query of ordinary characters are taken as a whole', () => {
  const words = Array.from({ length: limits.searchQueryWords.value }, (_, index) => `wörd${index}`);
  const query = new SearchQuery(words.join(' ')).condition('whole');
  for (const index of words.keys()) assert.match(JSON.stringify(query), new RegExp(`"word${index}"`));
});

test('of a query with very many words, or one that expands, the first are looked for', () => {
  const expanding = new SearchQuery(EXPANDS.repeat(limits.searchQuery.value));
  assert.ok(!expanding.empty);
  assert.ok(wordsIn(expanding.condition('whole')) <= 2 * limits.searchQueryWords.value);
  const quoted = new SearchQuery(`"${EXPANDS}" `.repeat(limits.searchQuery.value / 4));
  assert.ok(wordsIn(quoted.condition('whole')) <= 2 * limits.searchQueryWords.value);
  const many = new SearchQuery('a '.repeat(limits.searchQuery.value / 2));
  assert.equal(wordsIn(many.condition('whole')), limits.searchQueryWords.value);
  assert.ok(many.comparable.length <= 8);
});
