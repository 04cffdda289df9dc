// Processes that do not outlive the one that started them, however it ends.
import * as fs from 'node:fs';
import * as path from 'node:path';

/**
 * A command that the kernel ends with `signal` when our process ends in whatever way.
 *
 * setpriv (util-linux) asks for it after the change of user, which would have undone it, and then
 * becomes the program. Start it from the main thread: the kernel watches the starting thread.
 */
export function dyingWithUs(signal: 'INT' | 'TERM' | 'KILL', executable: string, args: string[]): [string, string[]] {
  return setprivUsable() ? ['setpriv', ['--pdeathsig', signal, executable, ...args]] : [executable, args];
}

function setprivUsable(): boolean {
  return (process.env.PATH ?? '').split(':').some((folder) => fs.existsSync(path.join(folder, 'setpriv')));
}
