// Whether the ledger in the database is what was approved: every chain, every receipt, and that nothing came from nowhere.
import { sql } from 'kysely';
import { everyRow } from '../account-files.ts';
import type { CoreConfig } from '../config/config.ts';
import type { Executor } from '../database/schema.ts';
import { ChainCheck, checkPayment, type HashedEntry } from './check-books.ts';
import {
  abandonedSides,
  type EntryRow,
  entriesOfSide,
  everySide,
  type LedgerSide,
  ledgerSums,
  misplacedEntries,
  misusedReceipts,
  receiptsNamed,
  unbalancedTransfers,
} from './ledger-queries.ts';
import { executedWithoutReceipt } from './proposal-queries.ts';
import type { Finding } from './rail.ts';
import { readReceipts, verifyKeys, verifyReceipts } from './verify-receipts.ts';

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
export async function* verifyLedger(db: Executor, config: CoreConfig): AsyncGenerator<Finding> {
  for await (const side of everyRow<LedgerSide>((last) => everySide(db, last?.id ?? '', PAGE)))
    yield* verifySide(db, side);
  yield* verifyKeys(db);
  yield* verifyReceipts(db, config);
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
  return readReceipts(ids.length === 0 ? [] : await receiptsNamed(db, ids));
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
