// Merkle trees of recipients (RFC 9162, section 2.1) over the sorted SHA-256 hashes of account ids.
import { createHash } from 'node:crypto';

const NODE = Buffer.from([1]);
const LEAF = Buffer.from([0]);

/** The entry of an account in trees of recipients. */
export function recipientEntry(accountKey: string): Buffer {
  return createHash('sha256').update(accountKey).digest();
}

/** Sorted, each once. */
export function treeEntries(accountKeys: Iterable<string>): Buffer[] {
  const entries = [...new Set(accountKeys)].map(recipientEntry);
  return entries.sort(Buffer.compare);
}

function leafHash(entry: Buffer): Buffer {
  return createHash('sha256').update(LEAF).update(entry).digest();
}

function nodeHash(left: Buffer, right: Buffer): Buffer {
  return createHash('sha256').update(NODE).update(left).update(right).digest();
}

/** The largest power of two below `size`, which is at least 2. */
function split(size: number): number {
  return 2 ** (Math.ceil(Math.log2(size)) - 1);
}

/** `MTH`, section 2.1.1. */
export function treeRoot(entries: readonly Buffer[]): Buffer {
  const [first] = entries;
  if (first === undefined) return createHash('sha256').digest();
  if (entries.length === 1) return leafHash(first);
  const at = split(entries.length);
  return nodeHash(treeRoot(entries.slice(0, at)), treeRoot(entries.slice(at)));
}

/** `PATH`, section 2.1.3.1: from the leaf to the root. */
export function inclusionProof(entries: readonly Buffer[], index: number): Buffer[] {
  if (entries.length <= 1) return [];
  const at = split(entries.length);
  const [left, right] = [entries.slice(0, at), entries.slice(at)];
  return index < at
    ? [...inclusionProof(left, index), treeRoot(right)]
    : [...inclusionProof(right, index - at), treeRoot(left)];
}

export interface Inclusion {
  readonly entry: Buffer;
  readonly index: number;
  readonly size: number;
  readonly proof: readonly Buffer[];
}

/** Section 2.1.3.2. */
export function isIncluded({ entry, index, size, proof }: Inclusion, root: Buffer): boolean {
  if (!Number.isSafeInteger(index) || index < 0 || index >= size) return false;
  let [at, last] = [index, size - 1];
  let hash = leafHash(entry);
  for (const sibling of proof) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      hash = nodeHash(sibling, hash);
      while (at % 2 === 0 && at !== 0) {
        at = Math.floor(at / 2);
        last = Math.floor(last / 2);
      }
    } else hash = nodeHash(hash, sibling);
    at = Math.floor(at / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 && hash.equals(root);
}
