// Deletes objects that no piece names any more, however long the store is away. Two steps, so that no transaction waits for the store:
// an object that is found loose becomes doomed, and nothing can name it from then on; the store deletes what is doomed.
import { PeriodicTask } from '../../background/periodic-task.ts';
import type { CoreContext } from '../../context.ts';
import { CONTENT_PREFIX, openObjects, storeReason } from '../../object-storage/face.ts';
import { forgetDoomed, selectDoomed } from './object-queries.ts';

const PERIOD_MILLISECONDS = 600_000;
const BATCH = 200;

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
  const keys = await selectDoomed(database, BATCH);
  if (keys.length === 0) return false;
  const place = { store: config.objectStore, prefix: CONTENT_PREFIX, over: stopping };
  const { objects, close } = openObjects(context, place);
  const deleted: string[] = [];
  try {
    for (const key of keys) {
      await objects.deleteOne(`${CONTENT_PREFIX}${key}`);
      deleted.push(key);
    }
  } catch (error) {
    log.warn({ reason: storeReason(error) }, 'objects of deleted items and files wait for the store');
  } finally {
    await close();
  }
  if (deleted.length > 0) await forgetDoomed(database, deleted);
  return deleted.length === BATCH;
}
