// The SQL of limits on what apps propose to pay. Trees of recipients stay in the database but for the one that is proven.
import type { PolicyId, ReceiptId } from '@platform/contract';
import { type Insertable, type Selectable, sql } from 'kysely';
import type { DatabaseSchema, Executor } from '../database/schema.ts';

export type PolicyRow = Omit<Selectable<DatabaseSchema['wallet_policies']>, 'leaves'> & {
  readonly recipients: number;
};

const WITHOUT_TREE =
  sql.raw(`id, account_key, name, currency, per_payment, per_day, per_month, root, app_ids, expires_at,
  created_at, cardinality(leaves) AS recipients`);

export async function insertPolicy(db: Executor, row: Insertable<DatabaseSchema['wallet_policies']>): Promise<void> {
  await db.insertInto('wallet_policies').values(row).execute();
}

export async function countPolicies(db: Executor, accountKey: string): Promise<number> {
  const { count } = await db
    .selectFrom('wallet_policies')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .where('account_key', '=', accountKey)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Newest first, before this one. */
export async function selectPolicies(
  db: Executor,
  accountKey: string,
  { before, limit }: { readonly before: string | null; readonly limit: number },
): Promise<PolicyRow[]> {
  const { rows } = await sql<PolicyRow>`
    SELECT ${WITHOUT_TREE} FROM wallet_policies
     WHERE account_key = ${accountKey} AND (${before}::text IS NULL OR id < ${before})
     ORDER BY id DESC LIMIT ${limit}`.execute(db);
  return rows;
}

/** Those that name one of these apps; `null`: that name any. Oldest first. */
export async function policiesNaming(
  db: Executor,
  accountKey: string,
  appIds: readonly string[] | null,
): Promise<PolicyRow[]> {
  const { rows } = await sql<PolicyRow>`
    SELECT ${WITHOUT_TREE} FROM wallet_policies
     WHERE account_key = ${accountKey}
       AND (${appIds}::text[] IS NULL OR app_ids IS NULL OR app_ids && ${appIds}::text[])
     ORDER BY id`.execute(db);
  return rows;
}

/** A policy that admits a payment but for its sums, and where the recipient is in its tree. */
export type AdmittingRow = Pick<PolicyRow, 'name' | 'per_day' | 'per_month' | 'root' | 'recipients'> & {
  readonly id: PolicyId;
  readonly index: number;
};

/** Oldest first. A tree is looked into only where everything else admits the payment. */
export async function policiesAdmitting(
  db: Executor,
  accountKey: string,
  payment: {
    readonly appId: string;
    readonly currency: string;
    readonly value: bigint;
    readonly entry: Buffer;
    readonly now: Date;
  },
): Promise<AdmittingRow[]> {
  const { appId, currency, value, entry, now } = payment;
  const { rows } = await sql<AdmittingRow>`
    WITH possible AS MATERIALIZED (
      SELECT id FROM wallet_policies
       WHERE account_key = ${accountKey} AND (app_ids IS NULL OR ${appId} = ANY (app_ids))
         AND currency = ${currency} AND per_payment >= ${String(value)}::bigint
         AND (expires_at IS NULL OR expires_at > ${now}))
    SELECT id, name, per_day, per_month, root, cardinality(leaves) AS recipients, place - 1 AS index
      FROM possible JOIN wallet_policies USING (id), array_position(leaves, ${entry}) AS place
     WHERE place IS NOT NULL ORDER BY id`.execute(db);
  return rows;
}

/** Whether any names the app, over or not. */
export async function isLimited(db: Executor, accountKey: string, appId: string): Promise<boolean> {
  const { rows } = await sql`
    SELECT FROM wallet_policies
     WHERE account_key = ${accountKey} AND (app_ids IS NULL OR ${appId} = ANY (app_ids)) LIMIT 1`.execute(db);
  return rows.length > 0;
}

/** The entries of its tree, sorted. */
export async function leavesOf(db: Executor, id: PolicyId): Promise<Buffer[]> {
  const { leaves } = await db
    .selectFrom('wallet_policies')
    .select('leaves')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return leaves;
}

/** What a policy admitted since then. A time that the clock has not reached counts too. */
export async function sumOfUses(
  db: Executor,
  id: PolicyId,
  { day, month }: { readonly day: Date; readonly month: Date },
): Promise<{ readonly ofDay: bigint; readonly ofMonth: bigint }> {
  const { rows } = await sql<{ day: string; month: string }>`
    SELECT coalesce(sum(amount) FILTER (WHERE at > ${day}), 0)::text AS day, coalesce(sum(amount), 0)::text AS month
      FROM wallet_policy_uses WHERE policy_id = ${id} AND at > ${month}`.execute(db);
  return { ofDay: BigInt(rows[0]?.day ?? 0), ofMonth: BigInt(rows[0]?.month ?? 0) };
}

export async function insertUses(
  db: Executor,
  uses: readonly { policy_id: PolicyId; receipt_id: ReceiptId; at: Date; amount: string }[],
): Promise<void> {
  if (uses.length > 0)
    await db
      .insertInto('wallet_policy_uses')
      .values([...uses])
      .execute();
}

/** @returns whether it was there */
export async function deletePolicy(db: Executor, accountKey: string, id: PolicyId): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('wallet_policies')
    .where('account_key', '=', accountKey)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
