// What names the arguments of a call in the record and in proposals, without holding them (contract 4g).
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';

/** SHA-256 of the RFC 8785 form of `{ "arguments", "tool" }`. @param tool by its full name */
export function argumentsHash(tool: string, given: object): Buffer {
  const text = canonicalize({ arguments: given, tool });
  if (text === undefined) throw new Error('arguments are JSON');
  return createHash('sha256').update(text).digest();
}
