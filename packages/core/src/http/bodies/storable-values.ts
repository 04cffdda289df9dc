// Refuses NUL and lone surrogates anywhere in a request, before a schema or SQL sees them: PostgreSQL stores neither in
// text or jsonb, so each would cause an internal error far from its origin.
import { isStorable, refuse } from '@platform/contract';

/**
 * @param value what JSON.parse or a query parser made
 * @param where `body`, `path` or `query`, for the refusal
 * @throws RefusalError `invalid_request`
 */
export function refuseUnstorable(value: unknown, where: string): void {
  if (!isStorableValue(value))
    throw refuse('invalid_request', `The ${where} holds NUL (U+0000) or half of a surrogate pair.`);
}

/**
 * The same for JSON: text that was strict UTF-8 holds such a character only as an escape, so most bodies are not
 * walked.
 *
 * @param text what `value` was parsed from
 */
export function refuseUnstorableJson(text: string, value: unknown): void {
  if (/\\u(?:0000|d[89a-f])/i.test(text)) refuseUnstorable(value, 'body');
}

/** Member names count too. The value is at most `limits.jsonDepth` deep. */
function isStorableValue(value: unknown): boolean {
  if (typeof value === 'string') return isStorable(value);
  if (Array.isArray(value)) return value.every(isStorableValue);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, member]) => isStorable(name) && isStorableValue(member));
}
