// Says a search in the query language of OpenSearch.
//
// Every indexed word is kept as `<account>:<word>`, and the account is a filter of every query besides: beginnings,
// parts and slips are looked up among the words of the account alone, however many others share the index.
import type { Condition, WordCondition } from '../condition.ts';
import type { SearchScope } from '../engine.ts';
import type { SearchQuery } from '../search-query.ts';

/** Slips that are allowed in a word that is long enough; with any, a typed word may also be a part of one. */
export type Slips = 0 | 1 | 2;

/** Letters from which on there may be one slip (contract 4), and two. */
const FIRST_SLIP = 5;
const SECOND_SLIP = 7;

type Clause = Readonly<Record<string, object>>;
type Field = 'title' | 'words';

/** The form in which a word of an account is indexed. */
export function termOf(accountKey: string, word: string): string {
  return `${accountKey}:${word}`;
}

interface Reading {
  readonly accountKey: string;
  readonly field: Field;
  readonly slips: Slips;
}

/** The member `query` of a search. Scores are those of the tier in which an entry was found, 0 to 0.825. */
export function queryBody({ accountKey, appId, kind }: SearchScope, query: SearchQuery, slips: Slips): Clause {
  const beginning = query.condition('beginning');
  const filter: Clause[] = [{ term: { account: accountKey } }];
  if (appId !== null) filter.push({ term: { app: appId } });
  if (kind !== null) filter.push({ term: { kind } });
  filter.push(clauseOf(beginning, { accountKey, field: 'words', slips }));
  // As PostgreSQL ranks them: what was typed before what only resembles it, and titles before texts.
  const tiers = [...tiersOf(query, accountKey, 0).map(({ clause, rank }) => tier(clause, 0.3 + 0.7 * rank))];
  if (slips > 0) tiers.push(...tiersOf(query, accountKey, slips).map(({ clause, rank }) => tier(clause, 0.3 * rank)));
  return { bool: { filter, should: [{ dis_max: { queries: tiers } }], minimum_should_match: 0 } };
}

function tiersOf(query: SearchQuery, accountKey: string, slips: Slips): { clause: Clause; rank: number }[] {
  const [beginning, whole] = [query.condition('beginning'), query.condition('whole')];
  return [
    { clause: clauseOf(whole, { accountKey, field: 'title', slips }), rank: 0.75 },
    { clause: clauseOf(beginning, { accountKey, field: 'title', slips }), rank: 0.5 },
    { clause: clauseOf(whole, { accountKey, field: 'words', slips }), rank: 0.25 },
    { clause: clauseOf(beginning, { accountKey, field: 'words', slips }), rank: 0.01 },
  ];
}

function tier(filter: Clause, boost: number): Clause {
  return { constant_score: { filter, boost } };
}

function clauseOf(condition: Condition, reading: Reading): Clause {
  switch (condition.kind) {
    case 'word':
      return anyOf(wordClauses(condition, reading));
    case 'any':
      return anyOf(condition.of.map((part) => clauseOf(part, reading)));
    case 'all':
      return allOf(condition.of.map((part) => clauseOf(part, reading)));
    case 'ordered':
      // Their order is looked at where the words have positions, in PostgreSQL.
      return allOf(condition.of.map(({ text, prefix }) => wordClause(text, prefix, reading)));
  }
}

function wordClauses({ text, prefix, comparable }: WordCondition, reading: Reading): Clause[] {
  const clauses = [wordClause(text, prefix, reading)];
  if (reading.slips > 0 && comparable !== null) clauses.push(partClause(text, reading), ...slipClauses(text, reading));
  return clauses;
}

function wordClause(text: string, prefix: boolean, { accountKey, field }: Reading): Clause {
  const value = termOf(accountKey, text);
  return prefix ? { prefix: { [field]: { value } } } : { term: { [field]: { value } } };
}

/** Comparable words are letters only, and account keys hold nothing that is syntax. */
function partClause(text: string, { accountKey, field }: Reading): Clause {
  return { wildcard: { [field]: { value: `${accountKey}:*${text}*` } } };
}

function slipClauses(text: string, { accountKey, field, slips }: Reading): Clause[] {
  const letters = [...text];
  // One letter short of a word that is long enough.
  if (letters.length === FIRST_SLIP - 1) {
    const longer = [...letters, ''].map((_letter, at) => letters.toSpliced(at, 0, '.').join(''));
    return [{ regexp: { [field]: { value: `${accountKey}:(${longer.join('|')})`, flags: 'NONE' } } }];
  }
  if (letters.length < FIRST_SLIP) return [];
  return [
    {
      fuzzy: {
        [field]: {
          value: termOf(accountKey, text),
          fuzziness: letters.length < SECOND_SLIP ? 1 : slips,
          // The account must be right, letter for letter.
          prefix_length: [...accountKey].length + 1,
          transpositions: true,
        },
      },
    },
  ];
}

function anyOf(clauses: readonly Clause[]): Clause {
  const [only, ...others] = clauses;
  if (only !== undefined && others.length === 0) return only;
  return { bool: { should: clauses, minimum_should_match: 1 } };
}

function allOf(clauses: readonly Clause[]): Clause {
  const [only, ...others] = clauses;
  if (only !== undefined && others.length === 0) return only;
  return { bool: { filter: clauses } };
}
