// Our reader of JSON and the one of the language agree about everything but what the latter drops.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { fc } from '../../../../tests/support/fast-check.ts';
import { thorough } from '../../../../tests/support/thorough.ts';
import { hasRepeatedNames, type JsonNode, readJson } from './json-members.ts';

/** The value as JSON.parse makes it; numbers, booleans and null by their kind only. */
function shape(node: JsonNode): unknown {
  if (node.kind === 'string') return node.value;
  if (node.kind === 'array') return node.items.map(shape);
  if (node.kind === 'object') return Object.fromEntries(node.members.map(({ name, value }) => [name, shape(value)]));
  return node.kind;
}

function shapeOfValue(value: unknown): unknown {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(shapeOfValue);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOfValue(member)]));
  return value === null ? 'null' : typeof value;
}

function parsed(text: string): unknown {
  try {
    return shapeOfValue(JSON.parse(text));
  } catch {
    return undefined;
  }
}

test('documents are read as JSON.parse reads them, with any white space', () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(0, 1, 4, '\t', '\r\n '), (text, space) => {
      const spaced = JSON.stringify(JSON.parse(text), null, space);
      const node = readJson(spaced);
      assert.ok(node !== null);
      assert.deepEqual(shape(node), parsed(spaced));
    }),
  );
});

test('text is taken for JSON exactly when JSON.parse takes it', () => {
  const fragment = fc.constantFrom(
    ...'{ } [ ] : , "a" "\\u00e9" "\\x" "\\" 1 -1 01 1. .5 1e9 -0 true false null nul \n \u00a0 " \'a\' // +1 NaN "\t"'.split(
      ' ',
    ),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(fragment).map((parts) => parts.join('')),
      ),
      (text) => {
        assert.equal(readJson(text) === null, parsed(text) === undefined, JSON.stringify(text));
      },
    ),
    { numRuns: thorough(1_000, 50_000) },
  );
});

test('repeated names and __proto__ are kept, each in its place', () => {
  const node = readJson('{"a":1,"__proto__":{"b":"x"},"a":"y"}');
  assert.ok(node?.kind === 'object');
  assert.deepEqual(
    node.members.map(({ name, value }) => [name, value.kind]),
    [
      ['a', 'number'],
      ['__proto__', 'object'],
      ['a', 'string'],
    ],
  );
  assert.ok(hasRepeatedNames(node));
  assert.ok(hasRepeatedNames(readJson('[{"x":[{"n":1,"\\u006e":2}]}]') ?? node), 'the same name spelled differently');
  assert.equal(hasRepeatedNames(readJson('{"a":{"b":1},"b":{"a":1}}') ?? node), false);
});

test('depth ends where the stack is still safe', () => {
  assert.notEqual(readJson('['.repeat(64) + ']'.repeat(64)), null);
  assert.equal(readJson('['.repeat(65) + ']'.repeat(65)), null);
  assert.equal(readJson('['.repeat(200_000)), null);
  assert.equal(readJson('{"a":'.repeat(50_000)), null);
});
