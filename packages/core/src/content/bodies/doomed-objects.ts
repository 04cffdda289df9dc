// Deletes objects that no piece names any more, however long the store is away. Two steps, so that no transaction waits for the store:
// an object that is found loose becomes doomed, and nothing can name it from then on; the store deletes what is doomed.
import { sql } from 'kysely';
import { PeriodicTask } from '../../background/periodic-task.ts';
import type { ProvenTime } from '../../clock/clock-guard.ts';
import type { CoreContext } from '../../context.ts';
import type { Executor } from '../../database/schema.ts';
import { CONTENT_PREFIX, openObjects, storeReason } from '../../object-storage/face.ts';

const PERIOD_MILLISECONDS = 600_000;
const BATCH = 200;

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

export function deletingDoomedObjects(context: CoreContext): PeriodicTask {
  const piece = () => deleteDoomed(context);
  return new PeriodicTask(context, { name: 'content objects', everyMilliseconds: PERIOD_MILLISECONDS, piece });
}

/** @returns whether there may be more */
export async function deleteDoomed(
  context: Pick<CoreContext, 'config' | 'database' | 'log' | 'stopping'>,
): Promise<boolean> {
  const { config, database, log, stopping } = context;
  // Without a store they wait for the day on which the operator configures it again.
  if (config.objectStore === null) return false;
  const rows = await database.selectFrom('content_doomed_objects').select('key').orderBy('key').limit(BATCH).execute();
  if (rows.length === 0) return false;
  const place = { store: config.objectStore, prefix: CONTENT_PREFIX, over: stopping };
  const { objects, close } = openObjects(context, place);
  const deleted: string[] = [];
  try {
    for (const { key } of rows) {
      await objects.deleteOne(`${CONTENT_PREFIX}${key}`);
      deleted.push(key);
    }
  } catch (error) {
    log.warn({ reason: storeReason(error) }, 'objects of deleted items and files wait for the store');
  } finally {
    await close();
  }
  if (deleted.length > 0) await database.deleteFrom('content_doomed_objects').where('key', 'in', deleted).execute();
  return deleted.length === BATCH;
}
