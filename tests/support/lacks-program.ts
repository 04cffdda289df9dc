// Why a test is skipped that needs a program of Debian's.
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** `false` where the program is installed. */
export function lacksProgram(program: string): string | false {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/sbin'];
  return folders.some((folder) => existsSync(join(folder, program))) ? false : `needs Debian’s ${program}`;
}
