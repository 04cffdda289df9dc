// The SQL of public keys that approvals were signed with.
import { type Selectable, sql } from 'kysely';
import type { DatabaseSchema, Executor } from '../database/schema.ts';

export type KeyRow = Selectable<DatabaseSchema['wallet_keys']>;

/** Keeps the key of a first approval. @returns whether it is the key that all approvals with this passkey have */
export async function keepKey(trx: Executor, row: KeyRow): Promise<boolean> {
  await trx
    .insertInto('wallet_keys')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const { public_key: kept } = await trx
    .selectFrom('wallet_keys')
    .select('public_key')
    .where('signer', '=', row.signer)
    .where('credential_id', '=', row.credential_id)
    .executeTakeFirstOrThrow();
  return kept.equals(row.public_key);
}

/** Of these signers. */
export function keysOf(db: Executor, signers: readonly string[]): Promise<KeyRow[]> {
  return db
    .selectFrom('wallet_keys')
    .selectAll()
    .where('signer', 'in', [...signers])
    .orderBy('signer')
    .orderBy('first_used_at')
    .orderBy('credential_id')
    .execute();
}

/** After this one, by signer and passkey. */
export async function everyKey(db: Executor, after: KeyRow | undefined, limit: number): Promise<KeyRow[]> {
  const { rows } = await sql<KeyRow>`
    SELECT * FROM wallet_keys
     WHERE (signer, credential_id) > (${after?.signer ?? ''}, ${after?.credential_id ?? ''})
     ORDER BY signer, credential_id LIMIT ${limit}`.execute(db);
  return rows;
}
