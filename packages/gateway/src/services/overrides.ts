// Requests that say another method than their request line: frameworks obey them, and only the method of the request line
// was decided about. Fields that say another place never travel (readRequestHead).
import { isClaim, plainName } from '@platform/http';

const FIELDS = new Set(['x-http-method', 'x-http-method-override', 'x-method-override']);
const PARAMETERS = new Set(['_method', ...FIELDS]);

export function isMethodField(name: string): boolean {
  return FIELDS.has(plainName(name));
}

/**
 * What travels to a backend of what its caller sent: nothing that says another method, or who the caller is.
 *
 * @param fields name, value, name, value …
 */
export function fieldsOfCaller(fields: readonly string[]): string[] {
  const kept: string[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const name = fields[index] ?? '';
    if (!isClaim(name) && !isMethodField(name)) kept.push(name, fields[index + 1] ?? '');
  }
  return kept;
}

/** @param query as sent, with its `?` */
export function queryNamesMethod(query: string): boolean {
  return query
    .slice(1)
    .split(/[&;]/)
    .some((pair) =>
      PARAMETERS.has(
        decoded(pair.split('=', 1)[0] ?? '')
          .trim()
          .toLowerCase(),
      ),
    );
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name.replaceAll('+', ' '));
  } catch {
    return name;
  }
}
