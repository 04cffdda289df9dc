// How much work the check of a value against a schema is at most. Most tools have schemas of which that is plain.

/** Keywords that compare a value with one thing, or hold no rule. */
const SINGLE = new Set([
  ...['$schema', 'title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minLength', 'maxLength'],
  ...['minItems', 'maxItems', 'minProperties', 'maxProperties'],
]);

/**
 * Steps for each part of a value: none of it is looked at by more than the whole schema, once.
 *
 * @returns `null` for a schema with a keyword that may look at a part more often: a pattern, a format, a reference, a choice
 */
export function weightOf(schema: unknown): number | null {
  if (typeof schema === 'boolean') return 1;
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return null;
  let weight = 1;
  for (const [keyword, member] of Object.entries(schema)) {
    const own = SINGLE.has(keyword) ? 1 : weightOfKeyword(keyword, member);
    if (own === null) return null;
    weight += own;
  }
  return weight;
}

function weightOfKeyword(keyword: string, member: unknown): number | null {
  switch (keyword) {
    case 'type':
      return Array.isArray(member) ? member.length : 1;
    case 'required':
      return Array.isArray(member) ? member.length : null;
    case 'const':
      return JSON.stringify(member)?.length ?? null;
    case 'enum':
      return JSON.stringify(member).length;
    case 'items':
    case 'additionalProperties':
      return weightOf(member);
    case 'properties': {
      if (typeof member !== 'object' || member === null || Array.isArray(member)) return null;
      const weights = Object.values(member).map(weightOf);
      return weights.reduce<number | null>((sum, one) => (sum === null || one === null ? null : sum + one), 0);
    }
    default:
      return null;
  }
}
