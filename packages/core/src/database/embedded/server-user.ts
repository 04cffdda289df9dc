// The user that runs the embedded PostgreSQL: it refuses to run as root, so a platform started by root runs it as
// another user, which must be able to reach its files.

import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { StartError } from '../../config/start-error.ts';

/** The user that PostgreSQL's processes run as, when that is not the user we are. */
export interface ServerUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** A dedicated user, if the operator created one, keeps the data apart from other services that run as `nobody`. */
const preferred = ['platform-postgres', 'nobody'];

/**
 * The user for a cluster whose data is (or will be) at `data`; `undefined` means ourselves.
 *
 * A cluster that an ordinary user made is run as that user when root starts it, because
 * PostgreSQL insists on owning its files.
 */
export function chooseServerUser(data: string): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = readUsers();
  const owner = fs.statSync(data, { throwIfNoEntry: false });
  if (owner !== undefined && owner.uid !== 0) {
    const known = users.find((user) => user.uid === owner.uid);
    return known ?? { name: String(owner.uid), uid: owner.uid, gid: owner.gid };
  }
  for (const name of preferred) {
    const user = users.find((candidate) => candidate.name === name);
    if (user !== undefined) return user;
  }
  throw new StartError(
    'no_postgres_user',
    'PostgreSQL must not run as root, and this machine has neither the user platform-postgres nor nobody. Make one: useradd --system platform-postgres',
  );
}

function readUsers(): ServerUser[] {
  return fs
    .readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
    .filter((user) => user.name !== '' && user.uid > 0 && Number.isInteger(user.gid));
}

/**
 * Checks that `user` may pass through every folder down to `folder`.
 *
 * @throws {StartError} `folder_not_enterable`, naming the first closed folder and what to do.
 */
export function requireEnterable(folder: string, user: ServerUser): void {
  const steps = folder.split(path.sep).map((_, index, parts) => parts.slice(0, index + 1).join(path.sep) || path.sep);
  const closed = steps.find((step) => !enterable(step, user));
  if (closed === undefined) return;
  throw new StartError(
    'folder_not_enterable',
    `PostgreSQL must not run as root, so it runs as the user ${user.name}, which cannot enter ${closed}. Choose a data folder elsewhere with PLATFORM_DATA_DIR, or allow it: chmod o+x '${closed}'`,
  );
}

function enterable(folder: string, user: ServerUser): boolean {
  const stat = fs.statSync(folder);
  const bit = stat.uid === user.uid ? 0o100 : stat.gid === user.gid ? 0o010 : 0o001;
  if ((stat.mode & bit) !== 0) return true;
  // The mode alone does not know about access control lists: let that user try.
  return spawnSync('test', ['-x', folder], { uid: user.uid, gid: user.gid, stdio: 'ignore' }).status === 0;
}

/** Spawn options that make a child run as `user`. */
export function asUser(user: ServerUser | undefined): { uid?: number; gid?: number } {
  return user === undefined ? {} : { uid: user.uid, gid: user.gid };
}

/** Changes the owner of a path to `user`. */
export function giveTo(file: string, user: ServerUser | undefined): void {
  if (user !== undefined) fs.chownSync(file, user.uid, user.gid);
}

/** Makes `folder` (and missing parents) if needed, then sets its mode exactly, whatever the umask. */
export function ensureFolder(folder: string, mode: number, user?: ServerUser): void {
  fs.mkdirSync(folder, { recursive: true });
  fs.chmodSync(folder, mode);
  giveTo(folder, user);
}
