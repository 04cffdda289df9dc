// What becomes of files when an app is removed, or its data deleted.
import type { InstallationId } from '@platform/contract';
import type { Executor } from '../../database/schema.ts';
import { OVERHEAD } from '../bodies/bodies.ts';
import { deleteBodies } from '../bodies/body-queries.ts';
import { lockSpace } from '../collections/queries.ts';
import { deleteTransfersTo, selectInstalledApp } from './access-queries.ts';
import { selectBodiesOfApp, selectSpaceOfApp } from './file-queries.ts';

/** Its private files are data of the app, as its volume is. It is removed, so that it adds none meanwhile. */
export async function endFilesOfApp(trx: Executor, id: InstallationId): Promise<void> {
  // Another app that it opened one to may be writing it.
  const spaceId = await selectSpaceOfApp(trx, id);
  if (spaceId === undefined || !(await lockSpace(trx, spaceId))) return;
  await deleteBodies(trx, await selectBodiesOfApp(trx, id), OVERHEAD);
}

/** Installed again, it has nothing that it was handed before. */
export async function endTransfersTo(trx: Executor, id: InstallationId): Promise<void> {
  const app = await selectInstalledApp(trx, id);
  if (app !== undefined) await deleteTransfersTo(trx, app);
}
