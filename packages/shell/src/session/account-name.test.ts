// Account names: the page refuses what core would refuse, and nothing core would take.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accountName } from '@platform/contract';
import { fc } from '../../../../tests/support/fast-check.ts';
import { thorough } from '../../../../tests/support/thorough.ts';
import { accountNameProblem } from './account-name.ts';

for (const [name, problem] of [
  ['', /Enter a name/],
  ['9ab', /start with a letter/],
  ['-ab', /start with a letter/],
  ['ab', /at least 3/],
  ['a'.repeat(33), /at most 32/],
  ['a--b', /double hyphens/],
  ['abc-', /trailing/],
  ['a_b', /letters a to z/],
  ['müller', /letters a to z/],
] as const) {
  test(`"${name}" is refused with a sentence that says why`, () =>
    assert.match(accountNameProblem(name) ?? '', problem));
}

test('the page and core agree on every name that is not reserved', () => {
  const name = fc.string({ unit: fc.constantFrom(...'abz09-_. ü'), maxLength: 36 });
  fc.assert(
    fc.property(name, (text) => {
      assert.equal(accountNameProblem(text) === null, accountName.safeParse(text).success);
    }),
    { numRuns: thorough(500, 20_000) },
  );
});
