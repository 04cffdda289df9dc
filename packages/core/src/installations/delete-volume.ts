// Deleting the volume that a removed app left. The node refuses while it knows the app as installed, so of a deletion
// and a new installation at the same time the app keeps what it wrote.
import { refuse } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { deletePorts } from '../placement/face.ts';
import { forgetVolume, selectVolume } from './queries.ts';

/**
 * @throws RefusalError `not_found` without such a volume, `volume_in_use` while the app is installed, and what
 *   {@link Nodes} throws when the machine on which it lies is not there
 */
export async function deleteVolume(context: CoreContext, accountKey: string, appId: string): Promise<void> {
  const { database } = context;
  const volume = await selectVolume(database, accountKey, appId);
  if (volume === undefined) throw refuse('not_found', 'This app has no volume.');
  if (volume.installed) throw refuse('volume_in_use');
  await context.nodes.deleteVolume(volume.id);
  // Installed again meanwhile, it has new ones.
  if (await forgetVolume(database, volume.id)) await deletePorts(database, volume.id);
}
