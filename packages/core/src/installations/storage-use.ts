// How much of its storage an account uses: nodes say it of volumes, the store says it of objects. Each is asked for a short
// time, and what it does not say is unknown.
import { RefusalError, type StorageUse } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { selectContentBytes, selectUploadedBytes } from '../disk/face.ts';
import { measureObjects } from '../object-storage/face.ts';
import { type StoredRow, selectStored } from './data-queries.ts';

/** Asked at the same time for one answer. */
const AT_ONCE = 4;
/** The largest come first; of further ones nothing is said. */
const MOST_ASKED = 100;

export async function readStorageUse(context: CoreContext, accountKey: string): Promise<StorageUse> {
  const rows = await selectStored(context.database, { accountKey, limit: MOST_ASKED });
  const volumes: StorageUse['volumes'] = [];
  const objects: StorageUse['objects'] = [];
  const waiting = rows[Symbol.iterator]();
  const ask = async () => {
    for (const row of waiting) {
      const { appId, name } = row;
      if (row.hasVolume) volumes.push({ appId, name, bytes: await volumeUse(context, row) });
      if (!row.mayHaveObjects) continue;
      const use = await measureObjects(context, row.id);
      objects.push({ appId, name, bytes: use?.bytes ?? null, more: use?.more ?? false });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, ask));
  const byApp = (one: { readonly appId: string }, other: { readonly appId: string }) =>
    one.appId < other.appId ? -1 : 1;
  const [packageBytes, contentBytes] = await Promise.all([
    selectUploadedBytes(context.database, accountKey),
    selectContentBytes(context.database, accountKey),
  ]);
  return { volumes: volumes.sort(byApp), objects: objects.sort(byApp), packageBytes, contentBytes };
}

async function volumeUse(context: CoreContext, { id, limitBytes }: StoredRow): Promise<number | null> {
  try {
    const bytes = await context.nodes.volumeUse(id);
    // Where nothing holds a volume to its size it may be larger, but a node is believed no more than that.
    return bytes === null || bytes > 64 * Math.max(1, limitBytes) ? null : bytes;
  } catch (error) {
    if (error instanceof RefusalError) return null;
    throw error;
  }
}
