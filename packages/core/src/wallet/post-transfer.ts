// Moves money from one side of the ledger to another: two entries, each with the hash of the one before on its side.
import { walletEntryId } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { newId } from '../credentials/ids.ts';
import type { Executor } from '../database/schema.ts';
import { type ChainedEntry, chainStart, entryHash } from './chain.ts';
import { appendEntry, findIssuer, findSide, type LedgerSide, openSide } from './ledger-queries.ts';
import type { Currency } from './money.ts';
import type { Approval } from './rail.ts';

type Ids = Pick<CoreContext, 'clock' | 'random'>;

/** What a side may hold. */
export const MOST_HELD = 999_999_999_999_999n;

export interface Transfer {
  readonly kind: ChainedEntry['kind'];
  readonly at: Date;
  readonly value: bigint;
  readonly from: TransferEnd;
  readonly to: TransferEnd;
  readonly reference: string | null;
  readonly approval: Approval | null;
}

interface TransferEnd {
  /** As it was locked in this transaction. */
  readonly side: LedgerSide;
  /** What this side is called on the other; `null` for the operator. */
  readonly address: string | null;
  readonly appId?: string;
}

/** @returns the side of an account, opened if need be */
export async function sideOf(
  ids: Ids,
  trx: Executor,
  accountKey: string,
  { code, decimals }: Currency,
): Promise<LedgerSide> {
  const found = await findSide(trx, accountKey, code);
  if (found !== undefined) return found;
  const id = newId('wac', ids);
  const side = { id, account_key: accountKey, currency: code, decimals, issuer: false, head: chainStart(id, code) };
  await openSide(trx, side);
  const opened = await findSide(trx, accountKey, code);
  if (opened === undefined) throw new Error('a side of the ledger could not be opened');
  return opened;
}

/** @returns the operator's side, opened if need be */
export async function issuerOf(ids: Ids, trx: Executor, { code, decimals }: Currency): Promise<LedgerSide> {
  const found = await findIssuer(trx, code);
  if (found !== undefined) return found;
  const id = newId('wac', ids);
  await openSide(trx, { id, account_key: null, currency: code, decimals, issuer: true, head: chainStart(id, code) });
  const opened = await findIssuer(trx, code);
  if (opened === undefined) throw new Error('the side of the operator could not be opened');
  return opened;
}

/** Both sides are locked, and what leaves is there. */
export async function postTransfer(ids: Ids, trx: Executor, transfer: Transfer): Promise<void> {
  const { from, to, value } = transfer;
  const name = newId('wtx', ids);
  await post(ids, trx, transfer, { own: from, other: to, amount: -value, name });
  await post(ids, trx, transfer, { own: to, other: from, amount: value, name });
}

async function post(
  ids: Ids,
  trx: Executor,
  { kind, at, reference, approval }: Transfer,
  { own, other, amount, name }: { own: TransferEnd; other: TransferEnd; amount: bigint; name: string },
): Promise<void> {
  const { side, appId = null } = own;
  const balance = BigInt(side.balance) + amount;
  const policiesHash = amount < 0n ? (approval?.policiesHash ?? null) : null;
  const entry: ChainedEntry = {
    account: side.id,
    number: Number(side.entries) + 1,
    id: newId('wen', ids),
    transfer: name,
    kind,
    at: at.toISOString(),
    currency: side.currency,
    amount: String(amount),
    balance: String(balance),
    counterpartyAccount: other.side.id,
    counterparty: other.address,
    reference,
    appId,
    receiptId: approval?.receiptId ?? null,
    operationHash: approval?.operationHash.toString('hex') ?? null,
    assertionHash: approval?.assertionHash.toString('hex') ?? null,
    policiesHash: policiesHash?.toString('hex') ?? null,
    previous: side.head.toString('hex'),
  };
  await appendEntry(
    trx,
    {
      account_id: entry.account,
      number: entry.number,
      id: walletEntryId.parse(entry.id),
      transfer: name,
      kind,
      at,
      amount: entry.amount,
      balance: entry.balance,
      counterparty_id: entry.counterpartyAccount,
      counterparty: entry.counterparty,
      reference,
      app_id: appId,
      receipt_id: approval?.receiptId ?? null,
      operation_hash: approval?.operationHash ?? null,
      assertion_hash: approval?.assertionHash ?? null,
      policies_hash: policiesHash,
      previous: side.head,
      hash: entryHash(entry),
    },
    side,
  );
}
