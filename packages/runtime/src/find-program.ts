// Where the programs of this machine are that the Runtime uses.
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

const SYSTEM_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];

/** The only search path given to other programs. */
export const systemPath = SYSTEM_FOLDERS.join(':');

/** Only root's own folders are searched: a program from elsewhere would run with the Runtime's rights. */
export function findProgram(name: string): string | undefined {
  return ['/usr/local/bin', '/usr/local/sbin', ...SYSTEM_FOLDERS].map((folder) => join(folder, name)).find(isProgram);
}

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
