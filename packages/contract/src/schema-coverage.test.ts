// Whatever is wrong with a request or a manifest, the words that come back are the platform's: no text of zod, and none
// that leaves the reader guessing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import type { RouteSpec } from './domain.ts';
import { manifest } from './domains/packages.ts';
import { routes } from './domains.ts';
import { schemaWords } from './schema-words.ts';

const STRANGE = 'Ünknown \u202e\u0000 /..//%2e%2e #?';
/** Of each kind: missing, wrong type, too small, too large, wrong pattern, no such value, unknown member. */
const WRONG: readonly unknown[] = [
  undefined,
  null,
  true,
  -1,
  1.5,
  Number.NaN,
  1e300,
  '',
  ' ',
  'x',
  'X.y',
  STRANGE,
  'ab'.repeat(300_000),
  [],
  [null],
  Array.from({ length: 2 }, () => STRANGE),
  Array.from({ length: 70_000 }, () => 'a'),
  {},
  { unknwon: 1 },
  { [STRANGE]: STRANGE },
  Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`m${index}`, index])),
];

const OF_ZOD = /invalid|expected|received|too (?:big|small)|unrecognized|NaN|undefined|\[object/i;
/** What is left when nobody wrote words: too little to act on. */
const EMPTY = /^(?:is not valid|has the wrong format|must be of another type|must be )$/;

interface Place {
  readonly where: string;
  readonly schema: z.core.$ZodType;
}

function* requestSchemas(): Generator<Place> {
  for (const [id, spec] of Object.entries(routes) as [string, RouteSpec][]) {
    if (spec.params !== undefined) yield { where: `${id} params`, schema: spec.params };
    if (spec.query !== undefined) yield { where: `${id} query`, schema: spec.query };
    if (spec.body === undefined || !('schema' in spec.body)) continue;
    yield { where: `${id} body`, schema: spec.body.schema };
    if (spec.body.streams !== undefined) yield { where: `${id} item`, schema: spec.body.streams.item };
  }
  yield { where: 'manifest', schema: manifest };
}

/** The schema and everything it is made of. */
function* parts({ where, schema }: Place): Generator<Place> {
  yield { where, schema };
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'object':
      for (const [name, member] of Object.entries(def.shape))
        yield* parts({ where: `${where}.${name}`, schema: member });
      return;
    case 'array':
      return yield* parts({ where: `${where}[]`, schema: def.element });
    case 'record':
      yield* parts({ where: `${where} names`, schema: def.keyType });
      return yield* parts({ where: `${where}.*`, schema: def.valueType });
    case 'union':
      for (const [index, option] of def.options.entries()) yield* parts({ where: `${where}|${index}`, schema: option });
      return;
    case 'pipe':
      yield* parts({ where, schema: def.in });
      return yield* parts({ where, schema: def.out });
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'readonly':
    case 'catch':
      return yield* parts({ where, schema: def.innerType });
    case 'any':
    case 'boolean':
    case 'custom':
    case 'enum':
    case 'literal':
    case 'null':
    case 'number':
    case 'string':
    case 'transform':
    case 'unknown':
      return;
    default:
      assert.fail(`${where}: this walk does not know schemas of the type ${def.type}.`);
  }
}

const all = [...requestSchemas()].flatMap((place) => [...parts(place)]);

test('the walk meets the schemas of every domain, and every kind of them', () => {
  const kinds = new Set(all.map(({ schema }) => (schema as z.core.$ZodTypes)._zod.def.type));
  for (const kind of ['object', 'array', 'record', 'union', 'enum', 'number', 'string', 'pipe'] as const)
    assert.ok(kinds.has(kind), kind);
  assert.ok(all.length > 300, String(all.length));
});

test('no wrong value of any part is answered with words of zod, or with none', () => {
  for (const { where, schema } of all) {
    for (const value of WRONG) {
      // A transform outside its pipe gets what no caller can send it.
      if ((schema as z.core.$ZodTypes)._zod.def.type === 'transform') continue;
      const result = z.safeParse(schema, value, { error: schemaWords });
      for (const { message, path } of result.error?.issues ?? []) {
        const found = `${where}${path.map((part) => `.${String(part)}`).join('')}: ${message}`;
        assert.doesNotMatch(message, OF_ZOD, found);
        assert.doesNotMatch(message, EMPTY, found);
        assert.match(message, /^[a-z`]/, found);
      }
    }
  }
});

test('every pattern and every refinement brings its own words', () => {
  const silent = all.flatMap(({ where, schema }) => {
    const { def } = (schema as z.core.$ZodTypes)._zod;
    const checks = [...(def.checks ?? []), ...('check' in def ? [{ _zod: { def } }] : [])];
    return checks
      .map((check) => check._zod.def as { check?: string; format?: string; fn?: unknown; error?: unknown })
      .filter(({ check, format, fn, error }) => {
        const needsWords =
          (check === 'string_format' && format === 'regex') || (check === 'custom' && fn !== undefined);
        return needsWords && error === undefined;
      })
      .map(() => where);
  });
  assert.deepEqual([...new Set(silent)], []);
});
