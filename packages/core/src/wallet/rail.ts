// How money moves: the wallet decides whether, a rail does it. The built-in one is the operator's credits (credits-rail.ts).
import type { ReceiptId } from '@platform/contract';
import type { Executor } from '../database/schema.ts';
import type { Currency } from './money.ts';

export interface Payment {
  readonly payerKey: string;
  readonly payeeKey: string;
  /** Addresses. */
  readonly from: string;
  readonly to: string;
  readonly value: bigint;
  readonly reference: string | null;
  readonly appId: string;
}

/** What was approved, and by what. */
export interface Approval {
  readonly receiptId: ReceiptId;
  readonly at: Date;
  readonly operationHash: Buffer;
  readonly assertionHash: Buffer;
  readonly policiesHash: Buffer;
}

/** Why a payment cannot be made. */
export type Shortage = 'insufficient-funds' | 'recipient-full';

/** Something of the books that is not as it must be. */
export interface Finding {
  /** What it is about: an entry, a receipt, or a side of the ledger. */
  readonly of: string;
  readonly what: string;
}

/** @typeParam Reserved what it keeps between reserving and executing */
export interface Rail<Reserved = unknown> {
  readonly currency: Currency;
  /** Minor units. */
  balance(db: Executor, accountKey: string): Promise<bigint>;
  /** Holds the money in this transaction, so that no other payment takes it. */
  reserve(trx: Executor, payment: Payment): Promise<Reserved | Shortage>;
  /** Makes the payment. Its receipt is stored already, in the same transaction. */
  execute(trx: Executor, reserved: Reserved, approval: Approval): Promise<void>;
  /** Frees what was reserved and not executed; the transaction is being rolled back. */
  reverse(reserved: Reserved): Promise<void>;
  /** Whether the books are what was approved. */
  verify(db: Executor): AsyncIterable<Finding>;
}

export function isShortage(outcome: unknown): outcome is Shortage {
  return outcome === 'insufficient-funds' || outcome === 'recipient-full';
}

/** The rail of a currency. */
export class Rails {
  readonly #rails: readonly Rail[];

  /** @param rails the first one is what accounts use by default */
  constructor(rails: readonly [Rail, ...Rail[]]) {
    this.#rails = rails;
  }

  all(): readonly Rail[] {
    return this.#rails;
  }

  of(currency: string): Rail | undefined {
    return this.#rails.find((rail) => rail.currency.code === currency);
  }
}
