// The random steps of isolation.test.ts: what a few apps of two accounts index and lose, and what is asked meanwhile.
import fc from 'fast-check';

export const APPS = ['harbour-one', 'harbour-two'] as const;
export const IDS = ['a', 'b', 'c', 'd', 'e'] as const;
const KINDS = ['note', 'link'] as const;

/** They resemble each other, hold each other, and mean something to a database or to a query language. */
const WORDS = `harbour harbor harbours lighthouse house lantern lantren green tea tee Müll Mull note 東京の会議 東京 C++ c#
  100% a_b userName O'Brien Straße acct-left 2026-11-22`;
const SYNTAX = `% _ * & | ! ( ) :* <-> \\ ' '' " “ $1 {} [a-z] .* ~2 OR NOT`;

const index = fc.nat({ max: 1_000 });
const word = fc.constantFrom(...WORDS.split(/\s+/));
const syntax = fc.constantFrom(...SYNTAX.split(' '));
/** Holds a word at least: of nothing else nothing is found. */
const title = fc
  .tuple(fc.array(fc.oneof({ weight: 3, arbitrary: word }, { weight: 1, arbitrary: syntax }), { maxLength: 3 }), word)
  .map(([others, last]) => [...others, last].join(' '));

const written = (minLength: 0 | 1) =>
  fc.uniqueArray(
    fc.record({ id: fc.constantFrom(...IDS), title, kind: fc.constantFrom(...KINDS), text: fc.option(title) }),
    { minLength, maxLength: 4, selector: ({ id }) => id },
  );
export type Written = readonly {
  readonly id: string;
  readonly title: string;
  readonly kind: string;
  readonly text: string | null;
}[];

/** What is typed: made of the title of an entry, of whomever, that is there or was; or of nothing in particular. */
const typed = fc.oneof(
  { weight: 4, arbitrary: fc.record({ how: fc.constantFrom('title', 'former'), of: index, at: index }) },
  {
    weight: 2,
    arbitrary: fc.record({ how: fc.constantFrom('beginning', 'slip', 'phrase', 'last'), of: index, at: index }),
  },
  { weight: 1, arbitrary: fc.record({ how: fc.constant('words'), text: title }) },
  {
    weight: 1,
    arbitrary: fc.record({
      how: fc.constant('words'),
      text: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 16 }),
    }),
  },
);
export type Typed = typeof typed extends fc.Arbitrary<infer Value> ? Value : never;

/**
 * Which engine answers: PostgreSQL; the external index; the external index while it matches everything and keeps
 * deleted documents; or whichever of the first two is ready.
 */
export type By = 'postgres' | 'elsewhere' | 'leaky' | 'either';

const find = fc.record({
  kind: fc.constant('find' as const),
  owner: index,
  typed,
  app: fc.option(fc.constantFrom(...APPS), { freq: 3 }),
  only: fc.option(fc.constantFrom(...KINDS), { freq: 3 }),
  limit: fc.constantFrom(200, 200, 200, 1),
  by: fc.constantFrom<By>('postgres', 'elsewhere', 'leaky', 'either'),
});

const app = index;
const step = fc.oneof(
  { weight: 10, arbitrary: find },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('replace' as const), app, entries: written(0) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('upsert' as const), app, entries: written(1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), app, id: fc.constantFrom(...IDS) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear' as const), app }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('grant' as const), app }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('upgrade' as const), app }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('install' as const), app }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('uninstall' as const), app, entries: written(1) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('uninstall-badly' as const), app, entries: written(1) }) },
);
export type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
export type Find = typeof find extends fc.Arbitrary<infer Value> ? Value : never;

export const steps = fc.array(step, { minLength: 40, maxLength: 70 });
