// What a schema has against a value, as words that follow the name of the member: `is missing`, `must be a string`.
import type * as z from 'zod';

const KINDS: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  null: 'null',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'a string',
};

const UNITS: Readonly<Record<string, string>> = { array: 'item', string: 'character' };

/** For the option `error` of `safeParse`; messages that a schema brings itself go first. */
export function schemaWords(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined && (issue.code === 'invalid_type' || issue.code === 'invalid_value'))
    return 'is missing';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${KINDS[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`;
    case 'unrecognized_keys':
      return `has the unknown member ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}`;
    case 'too_small':
      return bound('at least', issue.minimum, issue.origin);
    case 'too_big':
      return bound('at most', issue.maximum, issue.origin);
    case 'invalid_format':
      return 'has the wrong format';
    default:
      return undefined;
  }
}

function bound(which: string, limit: number | bigint, origin: string): string {
  const unit = UNITS[origin];
  return unit === undefined
    ? `must be ${which} ${limit}`
    : `must have ${which} ${limit} ${unit}${limit === 1 ? '' : 's'}`;
}
