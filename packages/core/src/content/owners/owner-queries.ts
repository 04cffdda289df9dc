// The SQL of what becomes of the collections of a deleted account.
import type { CollectionId } from '@platform/contract';
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

/** A space whose account is gone, and of which nobody said when it ends; held until the transaction ends. */
export async function selectOrphan(trx: Executor): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM content_spaces WHERE owner_key IS NULL AND ends_at IS NULL ORDER BY id LIMIT 1
    FOR UPDATE SKIP LOCKED`.execute(trx);
  return rows[0]?.id;
}

export async function selectAllOfSpace(db: Executor, spaceId: string): Promise<CollectionId[]> {
  const rows = await db.selectFrom('content_collections').select('id').where('space_id', '=', spaceId).execute();
  return rows.map(({ id }) => id);
}

/** Collections with members other than their owner, and all within them. */
export async function selectSharedOfSpace(db: Executor, spaceId: string): Promise<CollectionId[]> {
  const { rows } = await sql<{ id: CollectionId }>`
    WITH RECURSIVE shared (id) AS (
      SELECT c.id FROM content_collections c
       WHERE c.space_id = ${spaceId}
         AND EXISTS (SELECT FROM content_members m WHERE m.collection_id = c.id AND m.role <> 'owner')
      UNION
      SELECT c.id FROM shared JOIN content_collections c ON c.parent_id = shared.id)
    SELECT id FROM shared`.execute(db);
  return rows.map(({ id }) => id);
}

/** Those of these that lie in a collection which is not among them lie in none from now on. */
export async function takeOut(trx: Executor, ids: readonly CollectionId[]): Promise<void> {
  await sql`
    UPDATE content_collections SET parent_id = NULL
     WHERE id = ANY (${[...ids]}) AND parent_id <> ALL (${[...ids]})`.execute(trx);
}

/** What stayed for those who read it, or is still arriving: of a deleted account nothing is kept for that. */
export async function deleteFormerOfSpace(trx: Executor, spaceId: string): Promise<void> {
  await trx
    .deleteFrom('content_bodies')
    .where('space_id', '=', spaceId)
    .where((body) => body.or([body('former', '=', true), body('used', '=', false)]))
    .execute();
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
