// The user that runs the embedded PostgreSQL. PostgreSQL refuses to run as root, so a platform started by root runs it as
// a user that runs nothing else: a program under a user's id can read its files, end its processes and wait for its password.
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { StartError, systemCode } from '../../config/start-error.ts';

/** The user that PostgreSQL's processes run as, when that is not the user we are. */
export interface ServerUser {
  /** `null` for an id of our choice, where no user could be created. */
  readonly name: string | null;
  readonly uid: number;
  readonly gid: number;
}

/** What choosing a user reads and does, so that tests can stand in for machines. */
export interface UserMachine {
  /** The text of the user database. */
  readonly passwd: () => string;
  /** Tries to create a system user; a failure shows in `passwd`. */
  readonly create: (name: string) => void;
  /** The user ids of all processes. */
  readonly running: () => ReadonlySet<number>;
}

const OWN_USER = 'platform-postgres';
const NOBODY_UID = 65_534;
/**
 * Ids that no distribution gives to users and systemd to nobody, below 65,536 so that they exist in containers too, and
 * outside of what workloads get (runtime/src/identities.ts).
 */
const PRIVATE_UIDS = { first: 61_000, last: 61_099 } as const;

/**
 * The user for a cluster whose data is (or will be) at `data`; `undefined` means ourselves.
 *
 * A cluster that an ordinary user made is run as that user when root starts it, so that both may start it; no workload
 * gets that id (runtime/src/identities.ts). One that an earlier version made as `nobody` gets our own user: see
 * {@link takeOver}.
 *
 * @throws {StartError} `no_postgres_user` when every id that could be its own is in use
 */
export function chooseServerUser(data: string, machine: UserMachine = thisMachine): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = fs.statSync(data, { throwIfNoEntry: false });
  const users = readUsers(machine.passwd());
  if (owner !== undefined && owner.uid !== 0 && !isNobody(owner.uid, users)) {
    const known = users.find(({ uid }) => uid === owner.uid);
    return known ?? { name: null, uid: owner.uid, gid: owner.gid };
  }
  const existing = ownUser(users);
  if (existing !== undefined) return existing;
  machine.create(OWN_USER);
  return ownUser(readUsers(machine.passwd())) ?? privateUser(users, machine.running());
}

/** Whether whatever runs as this id is none of one service: other services and sandboxes use `nobody`. */
export function isNobody(uid: number, users: readonly ServerUser[] = readUsers(thisMachine.passwd())): boolean {
  return uid === NOBODY_UID || users.some((user) => user.name === 'nobody' && user.uid === uid);
}

function ownUser(users: readonly ServerUser[]): ServerUser | undefined {
  return users.find(({ name }) => name === OWN_USER);
}

function privateUser(users: readonly ServerUser[], running: ReadonlySet<number>): ServerUser {
  for (let uid = PRIVATE_UIDS.first; uid <= PRIVATE_UIDS.last; uid += 1)
    if (!running.has(uid) && !users.some((user) => user.uid === uid)) return { name: null, uid, gid: uid };
  throw new StartError(
    'no_postgres_user',
    `PostgreSQL must not run as root, and no user could be made for it. Make one: useradd --system ${OWN_USER}`,
  );
}

function readUsers(passwd: string): ServerUser[] {
  return passwd
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
    .filter((user) => user.name !== '' && user.uid > 0 && Number.isInteger(user.gid));
}

const thisMachine: UserMachine = {
  passwd: () => fs.readFileSync('/etc/passwd', 'utf8'),
  create(name) {
    const nowhere = ['--no-create-home', '--home-dir', '/nonexistent', '--shell', '/usr/sbin/nologin'];
    // Without useradd, or where /etc cannot be written, an id without a name is used.
    spawnSync('useradd', ['--system', '--user-group', ...nowhere, name], { stdio: 'ignore' });
  },
  running() {
    const owners = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return new Set(owners.map((name) => fs.statSync(`/proc/${name}`, { throwIfNoEntry: false })?.uid ?? 0));
  },
};

/**
 * Gives the files of a cluster to `user`, those that its former owner has; no link is followed, and the folder itself
 * comes last, so that a start that was ended meanwhile is repeated. No server may run on it.
 *
 * @throws {StartError} `postgres_failed`
 */
export function takeOver(folder: string, user: ServerUser): void {
  const stat = fs.statSync(folder, { throwIfNoEntry: false });
  if (stat === undefined || stat.uid === user.uid) return;
  const place = fs.realpathSync(folder);
  const options = ['--recursive', '--no-dereference', '-P', `--from=${stat.uid}`];
  const chown = spawnSync('chown', [...options, '--', `${user.uid}:${user.gid}`, place], { encoding: 'utf8' });
  if (chown.status === 0) return;
  const why = chown.error?.message ?? chown.stderr.trim();
  throw new StartError('postgres_failed', `The files in ${place} could not be given to ${nameOf(user)}: ${why}`);
}

/** For people. */
export function nameOf({ name, uid }: ServerUser): string {
  return name ?? String(uid);
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
    `PostgreSQL must not run as root, so it runs as the user ${nameOf(user)}, which cannot enter ${closed}. Choose a data folder elsewhere with PLATFORM_DATA_DIR, or allow it: chmod o+x '${closed}'`,
  );
}

function enterable(folder: string, user: ServerUser): boolean {
  const stat = fs.statSync(folder);
  const bit = stat.uid === user.uid ? 0o100 : stat.gid === user.gid ? 0o010 : 0o001;
  if ((stat.mode & bit) !== 0) return true;
  // The mode alone does not know about access control lists: let that user try.
  return spawnSync('test', ['-x', folder], { uid: user.uid, gid: user.gid, stdio: 'ignore' }).status === 0;
}

/** Spawn options that make a child run as `user`, without any further group. */
export function asUser(user: ServerUser | undefined): { uid?: number; gid?: number } {
  return user === undefined ? {} : { uid: user.uid, gid: user.gid };
}

/** The capability with which a process writes into what a file system reserves for root; its number in Linux. */
const SYS_RESOURCE = 24n;

/**
 * A command that runs as `user` and may write into what the file system reserves for root: ext4 keeps 5 % of a disk back, and a
 * program of root's that filled the disk leaves others nothing, however much is deleted until that much is free again.
 *
 * @returns `null` where this process may not do that itself, as in most containers
 */
export function usingReserve({ uid, gid }: ServerUser, [program, args]: [string, string[]]): [string, string[]] | null {
  if (!mayUseReserve() || program !== 'setpriv') return null;
  const kept = ['--inh-caps', '+sys_resource', '--ambient-caps', '+sys_resource'];
  return [program, ['--reuid', String(uid), '--regid', String(gid), '--clear-groups', ...kept, ...args]];
}

function mayUseReserve(): boolean {
  const capabilities = /^CapBnd:\s*([0-9a-f]+)$/m.exec(fs.readFileSync('/proc/self/status', 'utf8'))?.[1];
  return ((BigInt(`0x${capabilities ?? '0'}`) >> SYS_RESOURCE) & 1n) === 1n;
}

/** Changes the owner of a path to `user`. @throws {StartError} `no_postgres_user` */
export function giveTo(file: string, user: ServerUser | undefined): void {
  if (user !== undefined) changeOwner(file, user.uid, user.gid);
}

/**
 * Changes the owner of a path.
 *
 * @throws {StartError} `no_postgres_user` for a root without other users, as in a user namespace with a single id
 */
export function changeOwner(file: string, uid: number, gid: number): void {
  try {
    fs.lchownSync(file, uid, gid);
  } catch (error) {
    const code = systemCode(error);
    if (code !== 'EINVAL' && code !== 'EPERM') throw error;
    throw new StartError(
      'no_postgres_user',
      `PostgreSQL must not run as root, and this root may not give files to another user (${code}). Run the platform as an ordinary user, or give the container user ids besides that of root.`,
    );
  }
}

/** Makes `folder` (and missing parents) if needed, then sets its mode exactly, whatever the umask. */
export function ensureFolder(folder: string, mode: number, user?: ServerUser): void {
  fs.mkdirSync(folder, { recursive: true });
  fs.chmodSync(folder, mode);
  giveTo(folder, user);
}
