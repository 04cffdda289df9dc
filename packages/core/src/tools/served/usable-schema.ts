// Which JSON Schemas of apps the hub checks values against: those whose check needs nothing from elsewhere and ends.
import { limits } from '@platform/contract';
import safeRegex from 'safe-regex2';

const DEPTH = 32;
const NODES = 4_096;
/** Of one schema; their check is no cheaper than theirs together. */
const PATTERNS = 64;
const LONGEST_PATTERN = 512;
/** Members that hold names of the app's own, and no keywords. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
/** Members that hold values and no schemas. */
const VALUES = new Set(['const', 'enum', 'default', 'examples', 'required', 'dependentRequired']);
const REFERENCES = new Set(['$ref', '$dynamicRef', '$recursiveRef']);

/**
 * Whether it is of JSON Schema 2020-12, refers to nothing but itself, and has no pattern that backtracks without bound. One that is
 * usable may still take long for some values: checking has a time limit of its own (check-values.ts).
 */
export function isUsableSchema(schema: object): boolean {
  if (Buffer.byteLength(JSON.stringify(schema)) > limits.toolSchema.value) return false;
  const { $schema } = schema as { readonly $schema?: unknown };
  if ($schema !== undefined && $schema !== 'https://json-schema.org/draft/2020-12/schema') return false;
  let nodes = 0;
  let patterns = 0;

  function isUsable(value: unknown, depth: number): boolean {
    nodes += 1;
    if (nodes > NODES || depth > DEPTH) return false;
    if (Array.isArray(value)) return value.every((one) => isUsable(one, depth + 1));
    if (typeof value !== 'object' || value === null) return true;
    return Object.entries(value).every(([keyword, member]) => {
      if (VALUES.has(keyword)) return true;
      if (REFERENCES.has(keyword)) return typeof member === 'string' && member.startsWith('#');
      // Another base would make the references in it lead elsewhere.
      if (keyword === '$id' || keyword === '$vocabulary') return false;
      if (keyword === 'pattern') return isPattern(member);
      if (!NAMED.has(keyword)) return isUsable(member, depth + 1);
      if (typeof member !== 'object' || member === null) return false;
      if (keyword === 'patternProperties' && !Object.keys(member).every(isPattern)) return false;
      return Object.values(member).every((one) => isUsable(one, depth + 1));
    });
  }

  function isPattern(pattern: unknown): boolean {
    patterns += 1;
    if (typeof pattern !== 'string' || pattern.length > LONGEST_PATTERN || patterns > PATTERNS) return false;
    try {
      return safeRegex(new RegExp(pattern, 'u'));
    } catch {
      return false; // which is no pattern
    }
  }

  return isUsable(schema, 0);
}

const HEADER = 'x-mcp-header';

/**
 * The schema without what makes clients repeat arguments in headers. The hub reads them in the body alone, as whoever stands before it
 * may; towards the backend they are sent as it asks.
 */
export function withoutHeaders<Schema extends object>(schema: Schema): Schema {
  return JSON.stringify(schema).includes(`"${HEADER}"`) ? (strip(schema) as Schema) : schema;

  function strip(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(strip);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).flatMap(([keyword, member]) => {
        if (keyword === HEADER) return [];
        if (VALUES.has(keyword)) return [[keyword, member]];
        return [[keyword, NAMED.has(keyword) ? stripNamed(member) : strip(member)]];
      }),
    );
  }

  function stripNamed(members: unknown): unknown {
    if (typeof members !== 'object' || members === null) return members;
    return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, strip(member)]));
  }
}
