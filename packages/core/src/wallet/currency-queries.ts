// The SQL of what the currencies of the ledger are.
import { sql } from 'kysely';
import type { Executor } from '../database/schema.ts';

/** @returns the decimals that amounts of the currency have; `undefined` before there can be any */
export async function decimalsOf(db: Executor, code: string): Promise<number | undefined> {
  const row = await db.selectFrom('wallet_currencies').select('decimals').where('code', '=', code).executeTakeFirst();
  return row?.decimals;
}

/** For a currency of which there is no amount anywhere. */
export async function keepDecimals(db: Executor, code: string, decimals: number): Promise<void> {
  await db
    .insertInto('wallet_currencies')
    .values({ code, decimals })
    .onConflict((conflict) => conflict.column('code').doUpdateSet({ decimals }))
    .execute();
}

/** Whether amounts of the currency stand anywhere: in the ledger, in policies, or in what apps proposed. */
export async function hasAmounts(db: Executor, code: string): Promise<boolean> {
  const { rows } = await sql<{ has: boolean }>`
    SELECT EXISTS (SELECT FROM wallet_accounts WHERE currency = ${code} AND entries > 0)
        OR EXISTS (SELECT FROM wallet_policies WHERE currency = ${code})
        OR EXISTS (SELECT FROM wallet_proposals
                    WHERE coalesce(operation::json -> 'amount' ->> 'currency', operation::json -> 'limits' ->> 'currency') = ${code}) AS has`.execute(
    db,
  );
  return rows[0]?.has === true;
}
