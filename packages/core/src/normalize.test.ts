// Promises of bounded normalization: it is normalization, and it stops.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../tests/support/fast-check.ts';
import { normalizeWithin } from './normalize.ts';

const EIGHTEEN = '\uFDFA';

test('text within the limit comes out as the language normalizes it, wherever it is cut into pieces', () => {
  const character = fc.constantFrom(
    'a',
    'e\u0301',
    '\u1112\u1161\u11ab',
    '한',
    'ｶﾞ',
    'ﬁ',
    '½',
    '😀',
    'क्षि',
    '\u0301',
    ' ',
    '東',
  );
  fc.assert(
    fc.property(
      fc.array(character, { minLength: 0, maxLength: 40 }),
      fc.integer({ min: 1, max: 60 }),
      fc.constantFrom('NFKC' as const, 'NFKD' as const),
      (characters, times, form) => {
        const text = characters.join('').repeat(times);
        assert.deepEqual(normalizeWithin(text, form, 1_000_000), { text: text.normalize(form), cut: false });
      },
    ),
  );
});

test('what a character expands to counts, and no character is cut in half', () => {
  const { text, cut } = normalizeWithin(EIGHTEEN.repeat(10_000), 'NFKC', 100);
  assert.deepEqual([text, cut], [EIGHTEEN.normalize('NFKC').repeat(6).slice(0, 100), true]);
  assert.deepEqual(normalizeWithin('😀😀', 'NFKC', 3), { text: '😀', cut: true });
  assert.deepEqual(normalizeWithin('😀😀', 'NFKC', 4), { text: '😀😀', cut: false });
  assert.deepEqual(normalizeWithin('ab', 'NFKC', 2), { text: 'ab', cut: false });
});

test('of a text that is far too long only the beginning is looked at', (t) => {
  const pieces = t.mock.method(String.prototype, 'normalize');
  normalizeWithin(EIGHTEEN.repeat(1_000_000), 'NFKC', 1_000);
  assert.equal(pieces.mock.callCount(), 1);
});
