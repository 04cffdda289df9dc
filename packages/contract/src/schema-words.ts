// What a schema has against a value, as words that follow the name of the member: `is missing`, `must be a string`.
// No text of zod's own reaches anybody (schema-coverage.test.ts).
import * as z from 'zod';
import { alternatives, didYouMean } from './near-names.ts';

const KINDS: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  nan: 'a number',
  null: 'null',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'a string',
};

const FORMATS: Readonly<Record<string, string>> = {
  date: 'must be a date such as 2026-01-31',
  datetime: 'must be a time in UTC such as 2026-01-31T12:00:00.000Z',
  url: 'must be a URL such as https://example.com/',
  uuid: 'must be a UUID',
};

const UNITS: Readonly<Record<string, string>> = { array: 'item', string: 'character' };

/** Of the unknown members of one object. */
const MOST_NAMED = 5;
const LONGEST_NAME = 64;

/** For every schema of this process, by the line at the end; messages that a schema brings itself go first. */
export function schemaWords(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined && issue.code !== 'unrecognized_keys' && issue.code !== 'custom') return 'is missing';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${KINDS[isWhole(issue.inst) ? 'int' : issue.expected] ?? 'of another type'}`;
    case 'invalid_value':
      return oneOf(issue.values);
    case 'unrecognized_keys':
      return unknownMembers(issue.keys, issue.inst);
    case 'too_small':
      return issue.minimum === 1 && issue.origin in UNITS
        ? 'must not be empty'
        : bound('at least', issue.minimum, issue);
    case 'too_big':
      return bound('at most', issue.maximum, issue);
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_format':
      return FORMATS[issue.format] ?? 'has the wrong format';
    case 'invalid_union':
      return Array.isArray(issue.options) ? oneOf(issue.options) : unionWords(issue.errors);
    case 'invalid_key':
      return `cannot have this name: it ${issue.issues[0]?.message ?? 'has the wrong format'}`;
    case 'invalid_element':
      return `has an item that ${issue.issues[0]?.message ?? 'has the wrong format'}`;
    default:
      return 'is not valid';
  }
}

function isWhole(schema: z.core.$ZodRawIssue['inst']): boolean {
  return (schema?._zod.def as { readonly format?: string } | undefined)?.format === 'safeint';
}

function oneOf(values: readonly unknown[]): string {
  return `must be ${alternatives(values.map((value) => JSON.stringify(value)))}`;
}

interface Limit {
  readonly origin: string;
  readonly exact?: boolean | undefined;
  readonly inclusive?: boolean | undefined;
}

function bound(which: 'at least' | 'at most', limit: number | bigint, { origin, exact, inclusive }: Limit): string {
  const unit = UNITS[origin];
  if (unit !== undefined) {
    const number = exact === true ? 'exactly' : which;
    return `must have ${number} ${limit.toLocaleString('en')} ${unit}${limit === 1 ? '' : 's'}`;
  }
  if (inclusive === false) return `must be ${which === 'at least' ? 'more' : 'less'} than ${limit}`;
  return `must be ${which} ${limit.toLocaleString('en')}`;
}

function unknownMembers(keys: readonly string[], schema: z.core.$ZodRawIssue['inst']): string {
  const shape: unknown = (schema?._zod.def as { readonly shape?: unknown } | undefined)?.shape;
  const known = typeof shape === 'object' && shape !== null ? Object.keys(shape) : [];
  const named = keys.slice(0, MOST_NAMED).map((key) => {
    const free = known.filter((name) => !keys.includes(name));
    return `${JSON.stringify(key.slice(0, LONGEST_NAME))}${didYouMean(key, free)}`;
  });
  const rest = keys.length - named.length;
  const more = rest === 0 ? '' : ` and ${rest} more`;
  return `has the unknown member${keys.length === 1 ? '' : 's'} ${named.join(', ')}${more}`;
}

/** What the alternative has to say that the value comes closest to: the one with the fewest faults. */
function unionWords(errors: readonly (readonly z.core.$ZodIssue[])[]): string {
  const own = errors.map(([issue]) => (issue?.path.length === 0 ? issue.message : undefined));
  const wanted = own.map((words) => words?.match(/^must be (.*)$/s)?.[1]);
  if (wanted.every((words) => words !== undefined)) return `must be ${alternatives([...new Set(wanted)])}`;
  const [nearest] = errors.toSorted((one, other) => one.length - other.length).flatMap((issues) => issues.slice(0, 1));
  if (nearest === undefined) return 'is not valid';
  if (nearest.path.length === 0) return nearest.message;
  return `is not valid: ${nearest.path.map(String).join('.')} ${nearest.message}`;
}

z.config({ customError: schemaWords });
