// Where below a slot's prefix a request goes, and with which query. The path has been accepted by the strict server: no
// encoded separators, controls or dot segments (contract 1).

/** The slot that a path names, and what comes below it. */
export function slotOf(path: string, prefix: string): { readonly slot: string; readonly below: string } {
  const rest = path.slice(prefix.length);
  const end = rest.indexOf('/');
  return end < 0 ? { slot: rest, below: '' } : { slot: rest.slice(0, end), below: rest.slice(end + 1) };
}

/** Exactly one `/` between the prefix and what comes below it; nothing below it is the prefix itself. */
export function joinPath(pathPrefix: string, below: string): string {
  const rest = below.replace(/^\/+/, '');
  return rest === '' ? pathPrefix : `${pathPrefix.replace(/\/+$/, '')}/${rest}`;
}

/**
 * Whether a query has the parameter that the secret is to be in, as any server may read it: in all encodings and cases,
 * as an element of an array, between `&` or `;`. Broken encodings count, as servers read them differently.
 */
export function namesParameter(query: string, name: string): boolean {
  return query
    .slice(1)
    .split(/[&;]/)
    .some((pair) => {
      const given = decoded(pair.split('=', 1)[0] ?? '');
      return given === null || plain(given) === plain(name);
    });
}

/** The query with the secret as its last parameter. */
export function withParameter(query: string, name: string, value: string): string {
  const separator = query === '' ? '?' : query === '?' ? '' : '&';
  return `${query}${separator}${name}=${encodeURIComponent(value)}`;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

/** PHP reads `a.b`, `a b` and `a_b` as one name, and `a[x]` as an element of `a`; others ignore case. */
function plain(name: string): string {
  return (name.trim().split('[', 1)[0] ?? '').replace(/[.\s]/g, '_').toLowerCase();
}
