// Whether a data folder and a database are those of one platform, for the operator who looks.
import type { Executor } from '../database/schema.ts';
import { readMarker } from './folder-marker.ts';
import { selectIdentity } from './identity-queries.ts';

/**
 * True for a folder that says nothing: the next start writes it there.
 *
 * @throws StartError `data_folder_unusable` where it cannot be read
 */
export async function isSamePlatform(db: Executor, folder: string): Promise<boolean> {
  const marker = readMarker(folder);
  return marker === null || marker.platform === (await selectIdentity(db));
}
