// All SQL of the objects in which pieces of bodies lie.
import { sql } from 'kysely';
import type { ProvenTime } from '../../clock/clock-guard.ts';
import type { Executor } from '../../database/schema.ts';

/** @param options `proven` until which they were made: what was made later may still be on its way to the store. @returns how many */
export async function doomLoose(
  trx: Executor,
  { proven, atMost }: { readonly proven: ProvenTime; readonly atMost: number },
): Promise<number> {
  const { rows } = await sql<{ key: string }>`
    SELECT key FROM content_objects WHERE loose AND created_at <= ${proven} ORDER BY created_at LIMIT ${atMost}
    FOR UPDATE SKIP LOCKED`.execute(trx);
  const keys = rows.map(({ key }) => key);
  if (keys.length === 0) return 0;
  // In a statement of its own: what a copy named before the rows were locked is seen.
  await sql`
    WITH named AS (
      UPDATE content_objects o SET loose = false
       WHERE key = ANY (${keys}) AND EXISTS (SELECT FROM content_pieces p WHERE p.object_key = o.key)),
    gone AS (
      DELETE FROM content_objects o
       WHERE key = ANY (${keys}) AND NOT EXISTS (SELECT FROM content_pieces p WHERE p.object_key = o.key)
      RETURNING key)
    INSERT INTO content_doomed_objects SELECT key FROM gone`.execute(trx);
  return keys.length;
}

/** What nothing names any more. @returns keys */
export async function selectDoomed(db: Executor, atMost: number): Promise<string[]> {
  const rows = await db.selectFrom('content_doomed_objects').select('key').orderBy('key').limit(atMost).execute();
  return rows.map(({ key }) => key);
}

/** Once the store has deleted them. */
export async function forgetDoomed(db: Executor, keys: readonly string[]): Promise<void> {
  await db
    .deleteFrom('content_doomed_objects')
    .where('key', 'in', [...keys])
    .execute();
}
