// Conditional and partial requests for one representation (RFC 9110, sections 13 and 14): entity tags, single ranges.

export interface ByteRange {
  readonly start: number;
  /** Inclusive. */
  readonly end: number;
}

/** Whether `If-None-Match` names this entity tag, by weak comparison (section 13.1.2). */
export function noneMatchHits(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  const tags: readonly string[] = header.match(/"[^"]*"/g) ?? [];
  return tags.includes(etag);
}

/**
 * The part that a `Range` asks for (section 14.2). `whole` for no range and for everything that a server may ignore:
 * other units, several ranges, bad syntax, an `If-Range` that is not this very entity tag.
 */
export function rangeOf(
  headers: { readonly range?: string | undefined; readonly 'if-range'?: string | string[] | undefined },
  representation: { readonly etag: string; readonly size: number },
): ByteRange | 'whole' | 'unsatisfiable' {
  const { range, 'if-range': condition } = headers;
  const match = /^bytes=(\d*)-(\d*)$/i.exec(range ?? '');
  if (match === null || (condition !== undefined && condition !== representation.etag)) return 'whole';
  const [, first = '', last = ''] = match;
  const { size } = representation;
  if (first === '') {
    if (last === '') return 'whole';
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && Number(last) < start) return 'whole';
  return start >= size ? 'unsatisfiable' : { start, end };
}
