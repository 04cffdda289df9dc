// Which request targets the platform accepts at all: one rule for core, Gateway and node listener, so that no two
// parts read the same path differently. Dependency-free and pure, because it stands before every other check.

export type RequestTarget =
  | {
      readonly ok: true;
      /** Everything before the first `?`, still percent-encoded exactly as sent. */
      readonly path: string;
      /** The first `?` and everything after it, or an empty string; `path + query` is the target as sent. */
      readonly query: string;
    }
  | { readonly ok: false };

const REFUSED: RequestTarget = { ok: false };

/** Nothing to decode and no segment that begins with a dot: the form of nearly every request. */
const PLAIN_PATH = /^(?:\/[A-Za-z0-9_~!$&'()*+,;=:@-][A-Za-z0-9_~!$&'()*+,;=:@.-]*)+\/?$/;

/** Printable ASCII without the backslash and the fragment mark. */
const PATH_BYTES = /^\/[!-"$-[\]-~]*$/;
const QUERY_BYTES = /^[!-~]*$/;

const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Checks the target of a request line in origin form (RFC 9112 section 3.2.1; contract 1, "Hygiene").
 *
 * Refused: anything that does not start with `/`; bytes outside printable ASCII; a backslash or `#` in the path;
 * broken percent-encoding or encoding of invalid UTF-8; encoded slash, backslash, NUL and control bytes; `.` and `..`
 * segments, plain or encoded. Decoding happens once: `%252e` is the three characters `%2e`. The query passes verbatim.
 */
export function checkRequestTarget(rawTarget: string): RequestTarget {
  const mark = rawTarget.indexOf('?');
  const path = mark === -1 ? rawTarget : rawTarget.slice(0, mark);
  const query = mark === -1 ? '' : rawTarget.slice(mark);
  if (query !== '' && !QUERY_BYTES.test(query)) return REFUSED;
  if (PLAIN_PATH.test(path)) return { ok: true, path, query };
  const segments = decodeSegments(path);
  if (segments === null || segments.some(isDotSegment)) return REFUSED;
  return { ok: true, path, query };
}

/**
 * Whether a server that strips parameters of segments, a second query or blanks behind them could read a dot segment in a
 * path that {@link checkRequestTarget} accepts, and so another path than the one that was decided about.
 */
export function hidesDotSegment(path: string): boolean {
  return path.split('/').some((segment) => /^(?:\.|%2e){1,2}(?:;|%3b|%3f|%23|%20|\+|$)/i.test(segment));
}

/**
 * Turns a raw path into the decoded segments of a file below a static root, or `null` where nothing may be served.
 *
 * Plain `.` and `..` segments are resolved as long as they stay below the root; encoded ones, names that start with a
 * dot (except `.well-known` at the root), empty segments and everything that {@link checkRequestTarget} refuses give
 * `null`. No segment holds a separator, so joining them below the root cannot leave it. A trailing slash is dropped;
 * `/` gives an empty list.
 *
 * @param rawPath path as sent, without query
 */
export function normaliseStaticPath(rawPath: string): string[] | null {
  const decoded = decodeSegments(rawPath);
  if (decoded === null) return null;
  if (decoded.at(-1) === '') decoded.pop();
  const raw = rawPath.split('/').slice(1);
  const resolved: string[] = [];
  for (const [index, segment] of decoded.entries()) {
    if (segment === '') return null;
    if (isDotSegment(segment)) {
      if (raw[index] !== segment) return null;
      if (segment === '..' && resolved.pop() === undefined) return null;
      continue;
    }
    if (segment.startsWith('.') && !(segment === '.well-known' && resolved.length === 0)) return null;
    resolved.push(segment);
  }
  return resolved;
}

function isDotSegment(segment: string): boolean {
  return segment === '.' || segment === '..';
}

/** The segments after the leading slash, each decoded once; `null` when any byte of the path is refused. */
function decodeSegments(path: string): string[] | null {
  if (!PATH_BYTES.test(path)) return null;
  const segments: string[] = [];
  for (const raw of path.slice(1).split('/')) {
    const segment = raw.includes('%') ? decodeSegment(raw) : raw;
    if (segment === null) return null;
    segments.push(segment);
  }
  return segments;
}

function decodeSegment(raw: string): string | null {
  const bytes: number[] = [];
  for (let index = 0; index < raw.length; index += 1) {
    if (raw[index] !== '%') {
      bytes.push(raw.charCodeAt(index));
      continue;
    }
    const digits = raw.slice(index + 1, index + 3);
    if (!/^[0-9A-Fa-f]{2}$/.test(digits)) return null;
    const byte = Number.parseInt(digits, 16);
    if (byte < 0x20 || byte === 0x7f || byte === 0x2f || byte === 0x5c) return null;
    bytes.push(byte);
    index += 2;
  }
  try {
    return STRICT_UTF8.decode(Uint8Array.from(bytes));
  } catch {
    // The decoder's only way to report invalid UTF-8.
    return null;
  }
}
