// Opens the data folder: makes it, proves that it can be written, and takes the one lock that
// keeps a second instance out. Two servers on one folder would destroy each other's state.

import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { userInfo } from 'node:os';
import * as path from 'node:path';
import { dropBallast } from './ballast.ts';
import { closeFolder, keepToOwner } from './close-folder.ts';
import { reasonOf, StartError, systemCode } from './start-error.ts';

/** A data folder that this process alone holds. */
export interface DataFolder {
  /** Absolute, links resolved. */
  readonly path: string;
  /** Gives the lock back. Calling it again does nothing. */
  close(): void;
}

const lockFile = 'instance.lock';

/**
 * Makes `folder` if it is missing, checks that it can be written, and locks it for this process.
 *
 * Everything in it is for its owner only, also what an earlier version left open. As root other users may pass
 * through (0711), because PostgreSQL and workloads run as users of their own below it; close-folder.ts names all that
 * is open to them. From then on this process makes files for its own user only.
 *
 * The lock is `flock(2)` on `instance.lock`: the kernel drops it when the process ends in
 * whatever way, so it is never stale, and it holds across users, containers and namespaces.
 *
 * @throws {StartError} `data_folder_unusable` when it cannot be made or written,
 *   `data_folder_in_use` when another process holds it, `flock_missing` without util-linux.
 */
export function openDataFolder(folder: string): DataFolder {
  const wanted = path.resolve(folder);
  keepToOwner();
  try {
    makeFolder(wanted);
    const real = fs.realpathSync(wanted);
    proveWritable(real);
    const locked = lock(real);
    try {
      closeFolder(real);
    } catch (error) {
      locked.close();
      throw error;
    }
    return locked;
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError('data_folder_unusable', unusable(wanted, error), { cause: error });
  }
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function makeFolder(folder: string): void {
  const missing: string[] = [];
  let existing = folder;
  while (!fs.existsSync(existing)) {
    missing.unshift(existing);
    existing = path.dirname(existing);
  }
  for (const part of missing) {
    fs.mkdirSync(part);
    // chmod, because under a umask of 077 the server's user could not traverse the folder.
    fs.chmodSync(part, isRoot() ? (part === folder ? 0o711 : 0o755) : 0o700);
  }
  const stat = fs.statSync(folder);
  if (!stat.isDirectory()) throw Object.assign(new Error('not a folder'), { code: 'ENOTDIR' });
  if (isRoot() && (stat.mode & 0o011) !== 0o011) fs.chmodSync(folder, (stat.mode & 0o7777) | 0o011);
}

/** On a disk without a byte left the ballast makes room for what a start writes. */
function proveWritable(folder: string): void {
  try {
    writeProbe(folder);
  } catch (error) {
    if (systemCode(error) !== 'ENOSPC' || !dropBallast(folder)) throw error;
    writeProbe(folder);
  }
}

function writeProbe(folder: string): void {
  const probe = path.join(folder, `.write-check-${randomBytes(6).toString('hex')}`);
  try {
    fs.writeFileSync(probe, 'x', { flag: 'wx', mode: 0o600 });
  } finally {
    fs.rmSync(probe, { force: true });
  }
}

function lock(folder: string): DataFolder {
  const file = path.join(folder, lockFile);
  const descriptor = fs.openSync(file, fs.constants.O_RDWR | fs.constants.O_CREAT, 0o600);
  try {
    // Node has no flock. The lock belongs to the open file description, which the child shares
    // with us, so it stays ours after the child has ended; our other children never inherit it.
    const flock = spawnSync('flock', ['-x', '-n', '3'], { stdio: ['ignore', 'ignore', 'pipe', descriptor] });
    if (flock.error !== undefined) {
      throw new StartError(
        'flock_missing',
        `The program flock could not be run (${reasonOf(flock.error)}), and it guards the data folder. Install the package util-linux.`,
      );
    }
    if (flock.status === 1 && flock.stderr.length === 0) throw inUse(folder, file);
    if (flock.status !== 0) {
      throw new StartError(
        'data_folder_unusable',
        `The data folder ${folder} cannot be locked: ${flock.stderr.toString().trim() || 'flock was interrupted'}. Choose a folder on a local disk with PLATFORM_DATA_DIR.`,
      );
    }
    fs.ftruncateSync(descriptor);
    fs.writeSync(descriptor, `${process.pid}\n`, 0);
  } catch (error) {
    fs.closeSync(descriptor);
    throw error;
  }
  let open = true;
  return {
    path: folder,
    close() {
      if (!open) return;
      open = false;
      // The file stays: removing it would let two processes lock two files of one name.
      fs.ftruncateSync(descriptor);
      fs.closeSync(descriptor);
    },
  };
}

function inUse(folder: string, file: string): StartError {
  const pid = Number(fs.readFileSync(file, 'utf8').trim());
  const who = Number.isInteger(pid) && pid > 0 && fs.existsSync(`/proc/${pid}`) ? ` (process ${pid})` : '';
  return new StartError(
    'data_folder_in_use',
    `Another instance${who} already uses the data folder ${folder}. Stop it first, or choose another folder with PLATFORM_DATA_DIR.`,
  );
}

function unusable(folder: string, error: unknown): string {
  const code = systemCode(error);
  const verb = fs.existsSync(folder) ? 'used' : 'made';
  const cure =
    code === 'EACCES' || code === 'EPERM'
      ? `Choose another folder with PLATFORM_DATA_DIR, or give this one to the user ${userName()}.`
      : code === 'ENOSPC' || code === 'EDQUOT'
        ? 'Free some space, or choose another folder with PLATFORM_DATA_DIR.'
        : 'Choose another folder with PLATFORM_DATA_DIR.';
  return `The data folder ${folder} cannot be ${verb}: ${reasonOf(error)}. ${cure}`;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A user id without a name, as containers often have.
    return String(process.getuid?.());
  }
}
