// The SQL of what becomes of the collections of a deleted account.
import { sql } from 'kysely';
import type { ProvenTime } from '../../clock/clock-guard.ts';
import type { Executor } from '../../database/schema.ts';

export async function selectSpaceOf(db: Executor, accountKey: string): Promise<string | undefined> {
  const row = await db.selectFrom('content_spaces').select('id').where('owner_key', '=', accountKey).executeTakeFirst();
  return row?.id;
}

/** What the account is called. */
export async function selectName(db: Executor, accountKey: string): Promise<string> {
  const { name } = await db
    .selectFrom('account_states')
    .select('name')
    .where('key', '=', accountKey)
    .executeTakeFirstOrThrow();
  return name;
}

/** With everything in it. */
export async function deleteSpace(trx: Executor, id: string): Promise<void> {
  await trx.deleteFrom('content_spaces').where('id', '=', id).execute();
}

/** From now on it is nobody's, and can only be read. */
export async function endSpace(trx: Executor, id: string, endsAt: Date): Promise<void> {
  await trx.updateTable('content_spaces').set({ owner_key: null, ends_at: endsAt }).where('id', '=', id).execute();
}

/** @returns how many spaces were deleted */
export async function deleteEnded(
  trx: Executor,
  { proven, atMost }: { readonly proven: ProvenTime; readonly atMost: number },
): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM content_spaces
     WHERE id IN (SELECT id FROM content_spaces WHERE ends_at <= ${proven} ORDER BY ends_at LIMIT ${atMost}
                  FOR UPDATE SKIP LOCKED)`.execute(trx);
  return Number(numAffectedRows ?? 0n);
}
