// The SQL of what apps propose to the wallet. Every change of state is guarded in its WHERE.
import type { ReceiptId, WalletProposalId, WalletProposalState } from '@platform/contract';
import { type Selectable, type SqlBool, sql } from 'kysely';
import type { ProvenTime } from '../clock/clock-guard.ts';
import type { DatabaseSchema, Executor } from '../database/schema.ts';

export type ProposalRow = Selectable<DatabaseSchema['wallet_proposals']>;

/** Until the transaction ends, nobody else adds proposals of this installation. */
export async function lockProposalsOf(trx: Executor, installationId: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${installationId}, 4277))`.execute(trx);
}

export function findByIdempotencyKey(
  db: Executor,
  installationId: string,
  key: string,
): Promise<ProposalRow | undefined> {
  return db
    .selectFrom('wallet_proposals')
    .selectAll()
    .where('installation_id', '=', installationId)
    .where('idempotency_key', '=', key)
    .executeTakeFirst();
}

export async function countPending(db: Executor, installationId: string, now: Date): Promise<number> {
  const { count } = await db
    .selectFrom('wallet_proposals')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .where('installation_id', '=', installationId)
    .where('state', '=', 'pending')
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow();
  return Number(count);
}

export async function insertProposal(db: Executor, row: ProposalRow): Promise<void> {
  await db.insertInto('wallet_proposals').values(row).execute();
}

/** Whose proposals a reader sees: the person all of the account, an app its own. */
export type Reader = { readonly accountKey: string } | { readonly installationId: string };

const isOf = (reader: Reader) =>
  'accountKey' in reader
    ? sql<SqlBool>`account_key = ${reader.accountKey}`
    : sql<SqlBool>`installation_id = ${reader.installationId}`;

export function findProposal(db: Executor, reader: Reader, id: string): Promise<ProposalRow | undefined> {
  return db
    .selectFrom('wallet_proposals')
    .selectAll()
    .where('id', '=', id as WalletProposalId)
    .where(isOf(reader))
    .executeTakeFirst();
}

const isIn = (state: WalletProposalState | undefined, now: Date) => {
  if (state === undefined) return sql<SqlBool>`true`;
  if (state === 'expired') return sql<SqlBool>`state = 'pending' AND expires_at <= ${now}`;
  if (state === 'pending') return sql<SqlBool>`state = 'pending' AND expires_at > ${now}`;
  return sql<SqlBool>`state = ${state}`;
};

/** Newest first, before this one. */
export function selectProposals(
  db: Executor,
  accountKey: string,
  page: {
    readonly state: WalletProposalState | undefined;
    readonly before: string | null;
    readonly limit: number;
    readonly now: Date;
  },
): Promise<ProposalRow[]> {
  return db
    .selectFrom('wallet_proposals')
    .selectAll()
    .where('account_key', '=', accountKey)
    .where(isIn(page.state, page.now))
    .$if(page.before !== null, (query) => query.where('id', '<', page.before as WalletProposalId))
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute();
}

/** @returns the proposal, held until the transaction ends; `undefined` unless it is pending */
export function lockPending(
  trx: Executor,
  { id, accountKey, now }: { readonly id: string; readonly accountKey: string; readonly now: Date },
): Promise<ProposalRow | undefined> {
  return trx
    .selectFrom('wallet_proposals')
    .selectAll()
    .where('id', '=', id as WalletProposalId)
    .where('account_key', '=', accountKey)
    .where('state', '=', 'pending')
    .where('expires_at', '>', now)
    .forUpdate()
    .executeTakeFirst();
}

/** @returns whether it was pending until then */
export async function settleProposal(
  db: Executor,
  { id, accountKey, now }: { readonly id: string; readonly accountKey: string; readonly now: Date },
  outcome:
    | { readonly state: 'declined' | 'failed' }
    | { readonly state: 'executed'; readonly receiptId: ReceiptId; readonly at: Date },
): Promise<boolean> {
  const settled = await db
    .updateTable('wallet_proposals')
    .set({
      state: outcome.state,
      ...(outcome.state === 'executed' ? { receipt_id: outcome.receiptId, receipt_at: outcome.at } : {}),
    })
    .where('id', '=', id as WalletProposalId)
    .where('account_key', '=', accountKey)
    .where('state', '=', 'pending')
    .where('expires_at', '>', now)
    .returning('id')
    .executeTakeFirst();
  return settled !== undefined;
}

/** Of an app that was removed. @returns the account that had some */
export async function declineOf(db: Executor, installationId: string): Promise<string | undefined> {
  const declined = await db
    .updateTable('wallet_proposals')
    .set({ state: 'declined' })
    .where('installation_id', '=', installationId)
    .where('state', '=', 'pending')
    .returning('account_key')
    .execute();
  return declined[0]?.account_key;
}

/** @returns how many */
export async function deleteOldProposals(db: Executor, until: ProvenTime, atMost: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    DELETE FROM wallet_proposals
     WHERE id IN (SELECT id FROM wallet_proposals WHERE expires_at <= ${until} ORDER BY expires_at LIMIT ${atMost})`.execute(
    db,
  );
  return Number(numAffectedRows);
}

/** Proposals that were carried out, and of which the receipt is gone. */
export async function executedWithoutReceipt(db: Executor): Promise<{ readonly id: string }[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT p.id FROM wallet_proposals p LEFT JOIN wallet_receipts r ON r.id = p.receipt_id
     WHERE p.state = 'executed' AND (r.id IS NULL OR r.operation_hash <> p.operation_hash)
     ORDER BY p.id LIMIT 1000`.execute(db);
  return rows;
}
