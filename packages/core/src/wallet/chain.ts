// What the hash of an entry of the ledger covers, and where a chain begins.
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';

/** An entry as it is hashed, exported and verified. Hashes are lower-case hex. */
export interface ChainedEntry {
  /** The side of the ledger that it is on. */
  readonly account: string;
  /** From 1, without gaps. */
  readonly number: number;
  readonly id: string;
  readonly transfer: string;
  readonly kind: 'payment' | 'credit' | 'return';
  readonly at: string;
  readonly currency: string;
  /** Minor units; negative for what left the side. */
  readonly amount: string;
  readonly balance: string;
  readonly counterpartyAccount: string;
  readonly counterparty: string | null;
  readonly reference: string | null;
  readonly appId: string | null;
  readonly receiptId: string | null;
  readonly operationHash: string | null;
  readonly assertionHash: string | null;
  /** On the side of who paid. */
  readonly policiesHash: string | null;
  readonly previous: string;
}

/** SHA-256 of the RFC 8785 form. */
export function canonicalHash(value: object): Buffer {
  return createHash('sha256').update(canonicalText(value)).digest();
}

export function canonicalText(value: object): string {
  const text = canonicalize(value);
  if (text === undefined) throw new Error('what is hashed is JSON');
  return text;
}

export function entryHash(entry: ChainedEntry): Buffer {
  return canonicalHash(entry);
}

/** What the first entry of a side follows. */
export function chainStart(account: string, currency: string): Buffer {
  return canonicalHash({ type: 'platform.wallet.ledger.v1', account, currency });
}
