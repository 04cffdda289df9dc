// The search for secret material is linear in the body: what it looks at is counted, whatever the body makes of itself.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findForbiddenMaterial } from './forbidden-material.ts';
import { ScanBudget } from './scan-budget.ts';

const LARGEST = 32 * 1024;
const EXPANDS = '\uFDFA';

/** The same text in so many wrappings. */
function wrapped(text: string, times: number, wrap: (inner: string) => string): string {
  let made = text;
  for (let count = 0; count < times; count += 1) made = wrap(made);
  return made;
}

const shapes: Readonly<Record<string, (length: number) => unknown>> = {
  'plain text': (length) => 'a b '.repeat(length / 4),
  'text that expands': (length) => EXPANDS.repeat(length / 3),
  'percent signs that encode nothing': (length) => `%${EXPANDS.repeat(length / 3)}`,
  'a sign that is encoded once more each time': (length) => `%${'25'.repeat(12)}${'a b '.repeat(length / 4)}`,
  'lists in text in lists': (length) =>
    wrapped(JSON.stringify(['a b '.repeat(length / 40), '']), 3, (inner) => JSON.stringify([inner, ''])),
  'many wrappings in base64': (length) =>
    wrapped('a b '.repeat(length / 40), 8, (inner) => Buffer.from(inner).toString('base64')),
  'many beginnings of an address': (length) => 'otpauth://'.repeat(length / 10),
  'many beginnings of a key': (length) => '-----BEGIN A A A '.repeat(length / 17),
  'names that expand': (length) =>
    Object.fromEntries(Array.from({ length: length / 300 }, (_, at) => [`${at}${EXPANDS.repeat(90)}`, 1])),
  'one long name': (length) => ({ [EXPANDS.repeat(length / 3)]: 1 }),
};

for (const [what, shape] of Object.entries(shapes)) {
  test(`${what}: no more than sixteen times the body is looked at`, (t) => {
    const body = JSON.stringify({ label: shape(LARGEST) });
    let looked = 0;
    const real = ScanBudget.prototype.spend;
    t.mock.method(ScanBudget.prototype, 'spend', function (this: ScanBudget, length: number) {
      real.call(this, length);
      looked += length;
    });
    findForbiddenMaterial(body);
    assert.ok(looked > 0 || what === 'one long name');
    assert.ok(looked <= 16 * body.length + 4_096, `${looked} for ${body.length}`);
  });
}

test('a body that makes more of itself than any honest one is refused, and one that barely does not', () => {
  const found = (value: unknown) => findForbiddenMaterial(JSON.stringify({ label: value }));
  assert.deepEqual(found(EXPANDS.repeat(LARGEST / 3)), { path: '', kind: 'more text than can be searched' });
  assert.deepEqual(found({ [`x${'y'.repeat(2_000)}`]: 1 }), { path: '', kind: 'more text than can be searched' });
  assert.equal(found(`Greetings ${EXPANDS} and ${EXPANDS}, from the phone on my desk`), null);
  assert.equal(found(`100 % of ${'the of '.repeat(2_000)}`), null);
});
