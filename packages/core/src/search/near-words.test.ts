// Promises about slips: one slip in a word of five letters or more is always recognised, in any script.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../../tests/support/fast-check.ts';
import { remainsOf, slips } from './near-words.ts';
import { similarWords } from './similar-words.ts';

const letter = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyzабвгдежзиαβγδ한글');
const word = fc.array(letter, { minLength: 5, maxLength: 12 });

type Slip = 'insert' | 'remove' | 'replace' | 'swap';
const slip = fc.record({
  kind: fc.constantFrom<Slip>('insert', 'remove', 'replace', 'swap'),
  at: fc.nat(11),
  letter,
});

function withSlip(
  letters: readonly string[],
  { kind, at, letter }: { kind: Slip; at: number; letter: string },
): string {
  const index = at % letters.length;
  if (kind === 'insert') return letters.toSpliced(index, 0, letter).join('');
  if (kind === 'remove') return letters.toSpliced(index, 1).join('');
  if (kind === 'replace') return letters.toSpliced(index, 1, letter).join('');
  const [one = '', two = ''] = letters.slice(index, index + 2);
  return letters.toSpliced(index, 2, two, one).join('');
}

test('a word with one slip is proposed by the index of remains and taken for the word', () => {
  fc.assert(
    fc.property(word, slip, (letters, change) => {
      const meant = letters.join('');
      const typed = withSlip(letters, change);
      fc.pre(typed !== meant);
      const own = new Set(remainsOf(meant));
      assert.ok(remainsOf(typed).some((rest) => own.has(rest)));
      assert.equal(slips(typed, meant, { most: 1, prefix: false }), 1);
      const similar = similarWords([{ word: typed, last: false }], [{ typed, word: meant }], 1);
      assert.deepEqual(similar.get(typed), [meant]);
    }),
  );
});

test('the number of slips is the same in both directions, and none only between equal words', () => {
  fc.assert(
    fc.property(word, word, (one, other) => {
      const [a, b] = [one.join(''), other.join('')];
      const distance = slips(a, b, { most: 20, prefix: false });
      assert.equal(distance, slips(b, a, { most: 20, prefix: false }));
      assert.equal(distance === 0, a === b);
      assert.equal(slips(a, b, { most: 1, prefix: false }), distance !== null && distance <= 1 ? distance : null);
    }),
  );
});

const distances: [string, string, number | null][] = [
  ['passprot', 'passport', 1],
  ['tiramsu', 'tiramisu', 1],
  ['sourdoh', 'sourdough', 2],
  ['calender', 'calendar', 1],
  ['kitten', 'sitting', null],
];
for (const [typed, meant, distance] of distances) {
  test(`from ${typed} to ${meant} it is ${distance ?? 'more than 2'} slips`, () => {
    assert.equal(slips(typed, meant, { most: 2, prefix: false }), distance);
  });
}

test('what was typed may be the beginning of a word', () => {
  assert.equal(slips('kranknversicherung', 'krankenversicherungskarte', { most: 1, prefix: true }), 1);
  assert.equal(slips('kranknversicherung', 'krankenversicherungskarte', { most: 1, prefix: false }), null);
});

test('short words must be right', () => {
  assert.equal(similarWords([{ word: 'hose', last: false }], [{ typed: 'hose', word: 'nose' }], 1).size, 0);
});
