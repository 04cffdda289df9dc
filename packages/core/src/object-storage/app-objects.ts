// The objects of an app whose data its owner has deleted.
import type { InstallationId } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { deleteObjects } from './delete-objects.ts';
import { forgetPrefix, isPrefixRemembered } from './queries.ts';

/** Never without a store: what an operator took away, the platform cannot delete. */
export async function mayHaveObjects(
  { config, database }: Pick<CoreContext, 'config' | 'database'>,
  id: InstallationId,
): Promise<boolean> {
  return config.objectStore !== null && (await isPrefixRemembered(database, id));
}

/**
 * To be called when no node runs it any more, and before one may again.
 *
 * @returns false when the time was up before all were deleted
 * @throws ObjectStoreError
 */
export async function deleteObjectsOf(
  context: Pick<CoreContext, 'config' | 'database' | 'stopping'>,
  id: InstallationId,
  milliseconds: number,
): Promise<boolean> {
  const { objectStore } = context.config;
  if (objectStore === null) return true;
  if (!(await deleteObjects(context, objectStore, id, milliseconds))) return false;
  await forgetPrefix(context.database, id);
  return true;
}
