// The file in a data folder that says whose it is.
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import * as z from 'zod';
import { reasonOf, StartError, systemCode } from '../config/start-error.ts';

const marker = z.strictObject({
  /** The same as in the database. */
  platform: z.uuid(),
  /** Key of the account that the operator made the master, once it was there. */
  masterAccount: z.string().nullable(),
});
export type FolderMarker = z.output<typeof marker>;

const FILE = 'platform.json';

/** `null` in a folder without one. @throws StartError `data_folder_unusable` for one that cannot be read */
export function readMarker(folder: string): FolderMarker | null {
  const file = path.join(folder, FILE);
  try {
    return marker.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw new StartError(
      'data_folder_unusable',
      `The file ${file}, which says whose this data folder is, cannot be read: ${reasonOf(error)}. Restore it from a backup.`,
    );
  }
}

/** Whole or not at all, also when the machine loses its power. */
export function writeMarker(folder: string, value: FolderMarker): void {
  const file = path.join(folder, FILE);
  writeFileSync(`${file}.new`, `${JSON.stringify(value)}\n`, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
