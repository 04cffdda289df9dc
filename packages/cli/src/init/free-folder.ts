// Where a new project may go.
import { readdir } from 'node:fs/promises';
import { reasonOf, StartError, systemCode } from '@platform/core/start';

/** @throws StartError unless the folder is empty or not there */
export async function requireFree(folder: string): Promise<void> {
  const entries = await readdir(folder).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return [];
    if (systemCode(error) === 'ENOTDIR') throw new StartError('not_a_folder', `${folder} is not a folder.`);
    throw new StartError('folder_unreadable', `${folder} cannot be read: ${reasonOf(error)}.`);
  });
  if (entries.length > 0)
    throw new StartError('folder_not_empty', `${folder} is not empty. Name a new folder, or an empty one.`);
}
