// Counts the image of a backend towards the account that installed it, before its node unpacks it.
import { type InstallationId, refuse } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { requireAccountDisk } from './account-disk.ts';
import { selectPlacedImage, writeImage } from './queries.ts';

/**
 * @throws RefusalError `not_found` for an installation that is not placed on this node or has no image, `disk_quota` when
 *   its account may not take so much
 */
export async function claimImage(
  { database, config }: Pick<CoreContext, 'database' | 'config'>,
  {
    nodeId,
    installationId,
    bytes,
  }: { readonly nodeId: string; readonly installationId: InstallationId; readonly bytes: number },
): Promise<void> {
  await database.transaction().execute(async (trx) => {
    const placed = await selectPlacedImage(trx, { installationId, nodeId });
    if (placed === undefined) throw refuse('not_found');
    if (placed.bytes === bytes) return;
    const { accountKey, name } = placed;
    await requireAccountDisk(
      trx,
      { config },
      { accountKey, bytes: bytes - placed.bytes, what: `The image of ${name}` },
    );
    await writeImage(trx, { installationId, bytes });
  });
}
