// Whether a data folder is what was left there, before anything is made in it.
import { existsSync } from 'node:fs';
import * as path from 'node:path';
import { StartError } from '../config/start-error.ts';
import { readMarker } from './folder-marker.ts';
import { folderList, rememberedPlatform } from './mounted-folders.ts';

export interface FolderCheck {
  /** The database lies in the folder. */
  readonly embedded: boolean;
  /** The operator says that this is a first start, whatever is left there. */
  readonly isNew: boolean;
  /** Default: that of this user. */
  readonly list?: string;
}

/** What only a platform that had started leaves in its folder. A start that failed has made the keys of the machine already. */
const TRACES = ['master.key', 'packages', 'volumes', 'volumes.known', 'runtime'];

/**
 * @param folder absolute, links resolved
 * @throws StartError `database_missing` where the embedded database is gone and the rest is there; `data_folder_missing` for an
 *   empty folder that had a platform in it, as one is whose disk is not mounted
 */
export function requireFolder(folder: string, { embedded, isNew, list = folderList() }: FolderCheck): void {
  if (isNew || existsSync(path.join(folder, 'postgres', 'data'))) return;
  const marker = readMarker(folder);
  const hasTraces = TRACES.some((name) => existsSync(path.join(folder, name)));
  if (embedded && (marker !== null || hasTraces))
    throw new StartError(
      'database_missing',
      `The data folder ${folder} is that of a platform, and its database, ${path.join(folder, 'postgres')}, is missing. Restore it from a backup, or set PLATFORM_DATABASE_URL if it is elsewhere. For a new platform, choose an empty folder with PLATFORM_DATA_DIR, or use what is left here: ./platform start --new`,
    );
  if (marker === null && !hasTraces && rememberedPlatform(list, folder) !== null)
    throw new StartError(
      'data_folder_missing',
      `The data folder ${folder} is empty, and a platform had its data there. Mount its disk, and start again. If there is to be a new platform, start it with: ./platform start --new`,
    );
}
