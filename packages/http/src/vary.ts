// `Vary` of several hops (RFC 9110 section 12.5.5): a list of the request's fields that decide about an answer. A cache needs
// all of them, so none replaces another's.
import type { OutgoingHttpHeader } from 'node:http';
import { trimField } from './trim-field.ts';

/** The names of both lists, each once, `former` first. */
export function mergeVary(former: OutgoingHttpHeader | undefined, more: OutgoingHttpHeader | undefined): string {
  if (former === undefined && typeof more === 'string') return more;
  const names = new Map<string, string>();
  for (const part of [former ?? [], more ?? []].flat().join(',').split(',')) {
    const name = trimField(part);
    if (name !== '' && !names.has(name.toLowerCase())) names.set(name.toLowerCase(), name);
  }
  return [...names.values()].join(', ');
}
