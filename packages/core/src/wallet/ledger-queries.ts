// The SQL of the ledger.
import type { ReceiptId } from '@platform/contract';
import { type Insertable, type Selectable, sql } from 'kysely';
import type { DatabaseSchema, Executor } from '../database/schema.ts';

export type LedgerSide = Selectable<DatabaseSchema['wallet_accounts']>;
export type EntryRow = Selectable<DatabaseSchema['wallet_entries']>;
export type ReceiptRow = Selectable<DatabaseSchema['wallet_receipts']>;

/** Opens the side unless it is there. */
export async function openSide(
  db: Executor,
  side: Pick<LedgerSide, 'id' | 'account_key' | 'currency' | 'decimals' | 'issuer' | 'head'>,
): Promise<void> {
  await db
    .insertInto('wallet_accounts')
    .values({ ...side, balance: 0, entries: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export function findSide(db: Executor, accountKey: string, currency: string): Promise<LedgerSide | undefined> {
  return db
    .selectFrom('wallet_accounts')
    .selectAll()
    .where('account_key', '=', accountKey)
    .where('currency', '=', currency)
    .executeTakeFirst();
}

export function findIssuer(db: Executor, currency: string): Promise<LedgerSide | undefined> {
  return db
    .selectFrom('wallet_accounts')
    .selectAll()
    .where('issuer', '=', true)
    .where('currency', '=', currency)
    .executeTakeFirst();
}

/** By currency. */
export function sidesOf(db: Executor, accountKey: string): Promise<LedgerSide[]> {
  return db
    .selectFrom('wallet_accounts')
    .selectAll()
    .where('account_key', '=', accountKey)
    .orderBy('currency')
    .execute();
}

/** Held until the transaction ends, always in the same order. */
export function lockSides(trx: Executor, ids: readonly string[]): Promise<LedgerSide[]> {
  return trx
    .selectFrom('wallet_accounts')
    .selectAll()
    .where('id', 'in', [...ids])
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
}

/** @param side as it was locked */
export async function appendEntry(
  trx: Executor,
  entry: Insertable<DatabaseSchema['wallet_entries']>,
  side: LedgerSide,
): Promise<void> {
  await trx.insertInto('wallet_entries').values(entry).execute();
  await trx
    .updateTable('wallet_accounts')
    .set({ balance: entry.balance, entries: entry.number, head: entry.hash })
    .where('id', '=', side.id)
    .where('head', '=', side.head)
    .execute();
}

/** Newest first. @param search in counterparty and reference */
export async function selectEntries(
  db: Executor,
  accountKey: string,
  {
    before,
    limit,
    search,
  }: {
    readonly before: { at: string; number: string; id: string } | null;
    readonly limit: number;
    readonly search: string | null;
  },
): Promise<(EntryRow & { readonly currency: string })[]> {
  const { rows } = await sql<EntryRow & { readonly currency: string }>`
    SELECT e.*, a.currency
      FROM wallet_accounts a JOIN wallet_entries e ON e.account_id = a.id
     WHERE a.account_key = ${accountKey}
       AND (${before?.at ?? null}::timestamptz IS NULL OR (e.at, e.number, e.id)
            < (${before?.at ?? null}::timestamptz, ${before?.number ?? null}::bigint, ${before?.id ?? null}))
       AND (${search}::text IS NULL
            OR position(lower(${search}) in lower(coalesce(e.counterparty, ''))) > 0
            OR position(lower(${search}) in lower(coalesce(e.reference, ''))) > 0)
     ORDER BY e.at DESC, e.number DESC, e.id DESC LIMIT ${limit}`.execute(db);
  return rows;
}

/** In the order of the chain, after this number. */
export function entriesOfSide(db: Executor, id: string, after: number, limit: number): Promise<EntryRow[]> {
  return db
    .selectFrom('wallet_entries')
    .selectAll()
    .where('account_id', '=', id)
    .where('number', '>', String(after))
    .orderBy('number')
    .limit(limit)
    .execute();
}

/** After this one, by id. */
export function everySide(db: Executor, after: string, limit: number): Promise<LedgerSide[]> {
  return db.selectFrom('wallet_accounts').selectAll().where('id', '>', after).orderBy('id').limit(limit).execute();
}

export async function insertReceipt(db: Executor, row: ReceiptRow): Promise<void> {
  await db.insertInto('wallet_receipts').values(row).execute();
}

/** Of who approved it or was paid. */
export function findReceipt(db: Executor, accountKey: string, id: ReceiptId): Promise<ReceiptRow | undefined> {
  return db
    .selectFrom('wallet_receipts')
    .selectAll()
    .where('id', '=', id)
    .where((is) => is.or([is('account_key', '=', accountKey), is('payee_key', '=', accountKey)]))
    .executeTakeFirst();
}

/** Of who approved or was paid, after this one. */
export function receiptsOf(db: Executor, accountKey: string, after: string, limit: number): Promise<ReceiptRow[]> {
  return db
    .selectFrom('wallet_receipts')
    .selectAll()
    .where('id', '>', after as ReceiptId)
    .where((is) => is.or([is('account_key', '=', accountKey), is('payee_key', '=', accountKey)]))
    .orderBy('id')
    .limit(limit)
    .execute();
}

export function receiptsNamed(db: Executor, ids: readonly ReceiptId[]): Promise<ReceiptRow[]> {
  return db
    .selectFrom('wallet_receipts')
    .selectAll()
    .where('id', 'in', [...ids])
    .execute();
}

/** After this one, by id. */
export function everyReceipt(db: Executor, after: string, limit: number): Promise<ReceiptRow[]> {
  return db
    .selectFrom('wallet_receipts')
    .selectAll()
    .where('id', '>', after as ReceiptId)
    .orderBy('id')
    .limit(limit)
    .execute();
}

export interface UnbalancedTransfer {
  readonly transfer: string;
  readonly what: string;
}

/** Movements whose two entries do not belong together. */
export async function unbalancedTransfers(db: Executor): Promise<UnbalancedTransfer[]> {
  const { rows } = await sql<UnbalancedTransfer>`
    SELECT transfer,
           CASE WHEN count(*) <> 2 THEN 'has ' || count(*) || ' entries instead of two'
                WHEN sum(amount) <> 0 THEN 'its two sides differ by ' || sum(amount)
                ELSE 'its two sides tell of different things' END AS what
      FROM wallet_entries e
     GROUP BY transfer
    HAVING count(*) <> 2 OR sum(amount) <> 0 OR count(DISTINCT at) <> 1 OR count(DISTINCT kind) <> 1
        OR count(DISTINCT coalesce(receipt_id, '')) <> 1
        OR min(account_id) <> min(counterparty_id) OR max(account_id) <> max(counterparty_id)
     ORDER BY transfer LIMIT 1000`.execute(db);
  return rows;
}

/** Entries of payments on the side of another account than the receipt names, as far as the accounts are still there. */
export async function misplacedEntries(db: Executor): Promise<{ readonly id: string }[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT e.id FROM wallet_entries e
      JOIN wallet_accounts a ON a.id = e.account_id
      JOIN wallet_receipts r ON r.id = e.receipt_id
     WHERE a.account_key IS DISTINCT FROM CASE WHEN e.amount < 0 THEN r.account_key ELSE r.payee_key END
     ORDER BY e.id LIMIT 1000`.execute(db);
  return rows;
}

/** Sides that hold something for nobody. */
export async function abandonedSides(db: Executor): Promise<{ readonly id: string }[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM wallet_accounts WHERE account_key IS NULL AND NOT issuer AND balance <> 0
     ORDER BY id LIMIT 1000`.execute(db);
  return rows;
}

/** How often each receipt of a payment stands in the ledger, where that is not once on each side. */
export async function misusedReceipts(db: Executor): Promise<{ readonly id: string; readonly uses: number }[]> {
  const { rows } = await sql<{ id: string; uses: number }>`
    SELECT r.id, count(e.id)::integer AS uses
      FROM wallet_receipts r LEFT JOIN wallet_entries e ON e.receipt_id = r.id
     GROUP BY r.id
    HAVING count(e.id) <> CASE WHEN r.operation LIKE '%"type":"platform.wallet.payment.v1"%' THEN 2 ELSE 0 END
     ORDER BY r.id LIMIT 1000`.execute(db);
  return rows;
}

/** By currency, of all sides. */
export async function ledgerSums(
  db: Executor,
): Promise<{ readonly currency: string; readonly sum: string; readonly negative: number }[]> {
  const { rows } = await sql<{ currency: string; sum: string; negative: number }>`
    SELECT currency, sum(balance)::text AS sum, (count(*) FILTER (WHERE balance < 0 AND NOT issuer))::integer AS negative
      FROM wallet_accounts GROUP BY currency ORDER BY currency`.execute(db);
  return rows;
}
