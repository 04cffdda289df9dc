// The SQL of limits on what apps propose to pay.
import type { PolicyId, ReceiptId } from '@platform/contract';
import { type Insertable, type Selectable, sql } from 'kysely';
import type { DatabaseSchema, Executor } from '../database/schema.ts';

export type PolicyRow = Selectable<DatabaseSchema['wallet_policies']>;

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
export function selectPolicies(
  db: Executor,
  accountKey: string,
  { before, limit }: { readonly before: string | null; readonly limit: number },
): Promise<PolicyRow[]> {
  return db
    .selectFrom('wallet_policies')
    .selectAll()
    .where('account_key', '=', accountKey)
    .$if(before !== null, (query) => query.where('id', '<', before as PolicyId))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** Those that name one of these apps; `null`: that name any. Oldest first. */
export async function policiesNaming(
  db: Executor,
  accountKey: string,
  appIds: readonly string[] | null,
): Promise<PolicyRow[]> {
  const all = await db
    .selectFrom('wallet_policies')
    .selectAll()
    .where('account_key', '=', accountKey)
    .orderBy('id')
    .execute();
  return all.filter(
    ({ app_ids: named }) => appIds === null || named === null || named.some((id) => appIds.includes(id)),
  );
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
