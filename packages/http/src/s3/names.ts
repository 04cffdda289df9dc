// Names of objects as requests and answers of S3 spell them.

/** The store answered with a name that is not below the prefix that was asked for. */
export class UnconfinedError extends Error {
  override readonly name = 'UnconfinedError';
}

/** Also where a store that keeps objects as files takes a backslash for a slash, or blanks around a name for none. */
export function hasDotSegment(name: string): boolean {
  return name.split(/[/\\]/).some((segment) => /^\s*\.{1,2}\s*$/.test(segment));
}

/**
 * Percent-encoding as signatures of S3 want it: everything but unreserved characters (RFC 3986, section 2.3), and
 * slashes where they divide.
 */
export function encodeKey(key: string): string {
  return key.split('/').map(encodeStrictly).join('/');
}

/** Percent-encodes all but the unreserved characters of RFC 3986, as Signature Version 4 demands. */
export function encodeStrictly(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** A name in a listing with `encoding-type=url`. @throws UnconfinedError for one that cannot be read */
export function decodeListed(name: string): string {
  try {
    return decodeURIComponent(name.replaceAll('+', ' '));
  } catch {
    throw new UnconfinedError('a name that cannot be read');
  }
}
