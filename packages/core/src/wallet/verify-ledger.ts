// Whether the ledger in the database is what was approved: every chain, every receipt, and that nothing came from nowhere.
import { createHash } from 'node:crypto';
import { receipt } from '@platform/contract';
import { sql } from 'kysely';
import { everyRow } from '../account-files.ts';
import type { CoreConfig } from '../config/config.ts';
import type { Executor } from '../database/schema.ts';
import { ChainCheck, checkPayment, checkReceipt, type HashedEntry, type Place } from './check-books.ts';
import {
  abandonedSides,
  type EntryRow,
  entriesOfSide,
  everyReceipt,
  everySide,
  type LedgerSide,
  ledgerSums,
  misplacedEntries,
  misusedReceipts,
  type ReceiptRow,
  receiptsNamed,
  unbalancedTransfers,
} from './ledger-queries.ts';
import { executedWithoutReceipt } from './proposal-queries.ts';
import type { Finding } from './rail.ts';

const PAGE = 500;

/** More than anybody reads. */
const MOST = 1_000;

/** The findings of one moment, however long it takes and whatever is paid meanwhile. */
export function verifyNow(database: Executor, config: CoreConfig): Promise<Finding[]> {
  return database
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => {
      await sql`SET LOCAL statement_timeout = 0`.execute(trx);
      const found: Finding[] = [];
      for await (const finding of verifyLedger(trx, config)) {
        found.push(finding);
        if (found.length === MOST) break;
      }
      return found;
    });
}

/** Every fault that is found; none when all of it is what was approved. */
export async function* verifyLedger(db: Executor, { origin, rpId }: CoreConfig): AsyncGenerator<Finding> {
  const place: Place = { origin, rpId };
  for await (const side of everyRow<LedgerSide>((last) => everySide(db, last?.id ?? '', PAGE)))
    yield* verifySide(db, side);
  for await (const row of everyRow<ReceiptRow>((last) => everyReceipt(db, last?.id ?? '', PAGE))) {
    if (!textHash(row.operation).equals(row.operation_hash))
      yield { of: row.id, what: 'its operation is not what its hash says' };
    if (!textHash(row.assertion).equals(row.assertion_hash))
      yield { of: row.id, what: 'its assertion is not what its hash says' };
    yield* checkReceipt(storedReceipt(row), place);
  }
  for (const { transfer, what } of await unbalancedTransfers(db)) yield { of: transfer, what };
  for (const { id } of await misplacedEntries(db))
    yield { of: id, what: 'stands on the side of another account than its receipt names' };
  for (const { id } of await abandonedSides(db)) yield { of: id, what: 'holds something and belongs to nobody' };
  for (const { id, uses } of await misusedReceipts(db)) yield { of: id, what: `stands behind ${uses} entries` };
  for (const { id } of await executedWithoutReceipt(db)) yield { of: id, what: 'was carried out and has no receipt' };
  for (const { currency, sum, negative } of await ledgerSums(db)) {
    if (sum !== '0') yield { of: currency, what: `its balances make ${sum} instead of zero` };
    if (negative > 0) yield { of: currency, what: `${negative} balances are negative` };
  }
}

async function* verifySide(db: Executor, side: LedgerSide): AsyncGenerator<Finding> {
  const { id, currency, balance, entries, head, issuer } = side;
  const state = {
    account: id,
    currency,
    balance: String(balance),
    entries: Number(entries),
    head: head.toString('hex'),
  };
  const chain = new ChainCheck(state, { isIssuer: issuer });
  for (let after = -1; ; ) {
    const rows = await entriesOfSide(db, id, after, PAGE);
    const receipts = await receiptsOfEntries(db, rows);
    for (const row of rows) {
      const entry = hashedEntryOf(row, currency);
      yield* chain.add(entry);
      if (entry.kind === 'payment') yield* checkPayment(entry, receipts.get(row.receipt_id ?? ''), true);
    }
    const last = rows.at(-1);
    if (last === undefined) break;
    after = Number(last.number);
  }
  yield* chain.end();
}

async function receiptsOfEntries(db: Executor, rows: readonly EntryRow[]) {
  const ids = rows.flatMap(({ receipt_id }) => receipt_id ?? []);
  const found = ids.length === 0 ? [] : await receiptsNamed(db, ids);
  const read = found.flatMap((row) => receipt.safeParse(storedReceipt(row)).data ?? []);
  return new Map(read.map((one) => [one.id as string, one]));
}

/** As it stands there, whatever that is. */
function storedReceipt({ id, at, operation, assertion, policies }: ReceiptRow): unknown {
  return { id, at: at.toISOString(), operation: json(operation), assertion: json(assertion), policies: json(policies) };
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function textHash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

export function hashedEntryOf(row: EntryRow, currency: string): HashedEntry {
  return {
    account: row.account_id,
    number: Number(row.number),
    id: row.id,
    transfer: row.transfer,
    kind: row.kind as HashedEntry['kind'],
    at: row.at.toISOString(),
    currency,
    amount: String(row.amount),
    balance: String(row.balance),
    counterpartyAccount: row.counterparty_id,
    counterparty: row.counterparty,
    reference: row.reference,
    appId: row.app_id,
    receiptId: row.receipt_id,
    operationHash: row.operation_hash?.toString('hex') ?? null,
    assertionHash: row.assertion_hash?.toString('hex') ?? null,
    policiesHash: row.policies_hash?.toString('hex') ?? null,
    previous: row.previous.toString('hex'),
    hash: row.hash.toString('hex'),
  };
}
