// Requests that say another method than their request line: frameworks obey them, and only the method of the request line
// was decided about.

const FIELDS = new Set(['x-http-method', 'x-http-method-override', 'x-method-override']);
const PARAMETERS = new Set(['_method', ...FIELDS]);

/** @param name in lower case */
export function isMethodField(name: string): boolean {
  return FIELDS.has(name);
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
