// Creates the cluster once: its password and data files. A crash at any moment leaves nothing incomplete under the
// final name.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { text } from 'node:stream/consumers';
import { StartError } from '../../config/start-error.ts';
import { type Binaries, syncPath } from './binaries.ts';
import { dyingWithUs } from './dying-with-us.ts';
import { endAbruptly } from './leftovers.ts';
import { asUser, giveTo, type ServerUser } from './server-user.ts';

/** The superuser and the database that a new cluster has. */
export const databaseName = 'platform';

/** Where the parts of the embedded PostgreSQL lie, all below `<data folder>/postgres`. */
export interface ClusterPaths {
  readonly folder: string;
  readonly data: string;
  readonly password: string;
  readonly log: string;
}

/** The layout below `folder`. */
export function clusterPaths(folder: string): ClusterPaths {
  return {
    folder,
    data: path.join(folder, 'data'),
    password: path.join(folder, 'password'),
    log: path.join(folder, 'postgres.log'),
  };
}

export interface ClusterOptions {
  readonly paths: ClusterPaths;
  readonly binaries: Binaries;
  readonly user: ServerUser | undefined;
  /** False skips waiting for the disk; only for data that may be lost, as in tests. */
  readonly durable: boolean;
  readonly random: (bytes: number) => Buffer;
}

/**
 * Makes the cluster unless there is one, and returns the superuser's password.
 *
 * @throws {StartError} `postgres_failed` with PostgreSQL's own words, `postgres_version` when the
 *   data was written by another major version.
 */
export async function ensureCluster(options: ClusterOptions): Promise<string> {
  const { paths } = options;
  await removeHalfMade(paths);
  const exists = fs.existsSync(paths.data);
  if (exists) requireSameMajor(options);
  const kept = readPassword(paths);
  const password = kept ?? options.random(24).toString('base64url');
  if (exists && kept === undefined) await resetPassword(options, password);
  // Before the data, so that there is never a cluster whose password is lost.
  if (kept === undefined) writePassword(paths, password);
  if (!exists) await create(options, password);
  return password;
}

async function removeHalfMade(paths: ClusterPaths): Promise<void> {
  for (const name of fs.readdirSync(paths.folder)) {
    if (!name.startsWith('.data-')) continue;
    const half = path.join(paths.folder, name);
    // initdb has died with its platform, but not the server that it had started to fill the folder.
    await endAbruptly(half);
    fs.rmSync(half, { recursive: true, force: true, maxRetries: 5 });
  }
}

function requireSameMajor({ paths, binaries }: ClusterOptions): void {
  const made = fs.readFileSync(path.join(paths.data, 'PG_VERSION'), 'utf8').trim();
  if (made === binaries.major) return;
  throw new StartError(
    'postgres_version',
    `The data in ${paths.data} was written by PostgreSQL ${made}, and this version brings PostgreSQL ${binaries.major}. Go back to the version that wrote it, or move the data with pg_upgrade.`,
  );
}

function readPassword(paths: ClusterPaths): string | undefined {
  if (!fs.existsSync(paths.password)) return undefined;
  const password = fs.readFileSync(paths.password, 'utf8').trim();
  return password === '' ? undefined : password;
}

function writePassword(paths: ClusterPaths, password: string): void {
  const half = `${paths.password}.new`;
  fs.rmSync(half, { force: true });
  fs.writeFileSync(half, `${password}\n`, { mode: 0o600, flag: 'wx', flush: true });
  fs.renameSync(half, paths.password);
  syncPath(paths.folder);
}

async function create(options: ClusterOptions, password: string): Promise<void> {
  const { paths, user, durable } = options;
  requirePlainPath(options.binaries.folder);
  requirePlainPath(paths.folder);
  const half = path.join(paths.folder, `.data-${randomBytes(6).toString('hex')}`);
  fs.mkdirSync(half, { mode: 0o700 });
  // initdb wants to read the password from a file; it lies beside the data, not in it.
  const handed = `${half}.password`;
  fs.writeFileSync(handed, password, { mode: 0o600, flag: 'wx' });
  giveTo(half, user);
  giveTo(handed, user);
  await run(options, 'initdb', [
    `--pgdata=${half}`,
    `--username=${databaseName}`,
    `--pwfile=${handed}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // Sorting and letter case that no library of the host can change from under the indexes.
    '--no-locale',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--data-checksums',
    '--set=dynamic_shared_memory_type=mmap',
    '--no-instructions',
    ...(durable ? [] : ['--no-sync']),
  ]);
  fs.rmSync(handed);
  await runSingle(options, half, `CREATE DATABASE ${databaseName}`);
  fs.renameSync(half, paths.data);
  syncPath(paths.folder);
}

/** initdb starts the server through a shell, with both paths in double quotes. */
function requirePlainPath(folder: string): void {
  if (!/["$`\\\n\r]/.test(folder)) return;
  throw new StartError(
    'folder_name_unusable',
    `PostgreSQL cannot work in ${JSON.stringify(folder)}: the path must have no quotation mark, dollar sign, backquote or backslash. Choose another folder with PLATFORM_DATA_DIR, or move the checkout.`,
  );
}

async function resetPassword(options: ClusterOptions, password: string): Promise<void> {
  // Base64url needs no quoting.
  await runSingle(options, options.paths.data, `ALTER ROLE ${databaseName} PASSWORD '${password}'`);
}

/** One statement in PostgreSQL's single-user mode, which asks for no password and opens no socket. */
async function runSingle(options: ClusterOptions, data: string, statement: string): Promise<void> {
  const values = ['io_method=sync', 'log_min_messages=error', 'exit_on_error=on'];
  const settings = values.flatMap((value) => ['-c', value]);
  const durability = options.durable ? [] : ['-F'];
  await run(options, 'postgres', ['--single', ...settings, ...durability, '-D', data, 'postgres'], statement);
}

async function run(options: ClusterOptions, program: string, args: string[], input = ''): Promise<void> {
  const { binaries, paths, user } = options;
  const executable = path.join(binaries.folder, 'bin', program);
  const inFolder = { cwd: paths.folder, env: { LC_ALL: 'C', PATH: process.env.PATH } };
  const child =
    user?.name === null
      ? spawn(...withName({ ...user, name: OWN_NAME }, [executable, ...args]), inFolder)
      : spawn(...dyingWithUs('KILL', executable, args), { ...inFolder, ...asUser(user) });
  child.stdin.on('error', () => {
    // It ended before reading; its exit code and words below say why.
  });
  child.stdin.end(`${input}\n`);
  const [[code], said] = await Promise.all([once(child, 'close'), text(child.stderr), text(child.stdout)]);
  if (code === 0) return;
  const cure = user?.name === null ? ` If it is about the user, make one: useradd --system ${OWN_NAME}` : '';
  throw new StartError('postgres_failed', `PostgreSQL's ${program} failed: ${lastLines(said)}${cure}`);
}

const OWN_NAME = 'platform-postgres';

/**
 * A command for a user that the machine has no name for, which initdb and the single-user mode ask for: in mounts of its
 * own, where the user database names it. The server itself does without.
 */
function withName({ name, uid, gid }: ServerUser, command: readonly string[]): [string, string[]] {
  const entry = `${name}:x:${uid}:${gid}::/nonexistent:/usr/sbin/nologin`;
  const script = `umask 022
    passwd=$(mktemp) && { cat /etc/passwd; echo '${entry}'; } > "$passwd" && chmod 644 "$passwd" &&
    mount --bind "$passwd" /etc/passwd && rm -f "$passwd" &&
    exec setpriv --reuid ${uid} --regid ${gid} --clear-groups --pdeathsig KILL -- "$@"`;
  return ['unshare', ['--mount', '--propagation', 'private', 'sh', '-c', script, 'sh', ...command]];
}

/** The last few lines of what a program said, on one line. */
export function lastLines(said: string): string {
  return said.trim().split('\n').slice(-4).join(' / ') || 'it said nothing';
}
