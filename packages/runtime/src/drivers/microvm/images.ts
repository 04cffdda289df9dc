// Read-only images that machines boot from: the base with Node, one for each package, and the initramfs. Each is made
// once, named after a hash of its inputs, and readable by the users that machines run as. Several platforms and nodes
// may share the folder: file locks show which are in use.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import type { RequireRoom } from '../../disk-watch.ts';
import { lockFile, standsAt } from '../../file-lock.ts';
import { LaunchError } from '../driver.ts';

const run = promisify(execFile);

export interface Images {
  /**
   * The image of a folder, made at the first question.
   * @param requireRoom throws when the disk has no room for so many bytes more; by default it always has
   * @throws LaunchError when it cannot be made, and what `requireRoom` throws
   */
  ofFolder(folder: string, requireRoom?: RequireRoom): Promise<string>;
  /** Removes the images of other folders, as far as they were asked for here. A running machine keeps its own open. */
  keepFolders(folders: ReadonlySet<string>): void;
  /**
   * The image named `name-<hash of identity>`, made of what `fill` puts into its folder. It is not removed before
   * `close`, or the end of this process.
   */
  built(name: string, identity: string, fill: (folder: string) => Promise<void>): Promise<string>;
  /** A file that is no image of a folder, kept by the same rule. */
  file(name: string, identity: string, content: () => Promise<Buffer>): Promise<string>;
  /**
   * Removes images of former versions: those that have the name of a current image, differ from it and are not
   * locked.
   */
  removeFormer(): Promise<void>;
  close(): void;
}

/** Packages whose images are kept; of more the longest unused go, unless a machine has them open. */
const KEPT = 64;
/** Begins the names of folders in which something is being made. */
const MAKING = 'making-';
/** A process that removes an image locks it for a moment. */
const LOCK_SECONDS = 10;

/** Puts what it makes at a path. */
type Make = (made: string) => Promise<void>;

/** @param directory Made if missing. */
export async function openImages(directory: string, makeErofs: string): Promise<Images> {
  mkdirSync(directory, { recursive: true, mode: 0o711 });
  chmodSync(directory, 0o711);
  const underWay = new Map<string, Promise<string>>();
  /** Open files, whose locks say that they are in use. */
  const held = new Map<string, number>();
  /** Images of folders by the folder; of what an earlier process asked for the longest unused go in time. */
  const ofFolders = new Map<string, string>();
  for (const name of readdirSync(directory)) if (name.startsWith(MAKING)) await removeUnused(join(directory, name));

  /** Two starts of one package make its image once. */
  function once(file: string, settle: () => Promise<void>): Promise<string> {
    const existing = underWay.get(file);
    if (existing !== undefined) return existing;
    const work = settle()
      .then(() => file)
      .finally(() => underWay.delete(file));
    underWay.set(file, work);
    return work;
  }

  async function hold(file: string, make: Make): Promise<void> {
    while (!held.has(file)) {
      const descriptor = (await openLocked(file)) ?? (await publish(directory, file, make));
      if (descriptor !== undefined) held.set(file, descriptor);
    }
  }

  const pack = async (image: string, folder: string) => {
    await run(makeErofs, ['--quiet', '--all-root', '-T0', '-x-1', image, folder], { env: { PATH: '/usr/bin:/bin' } });
  };

  return {
    async ofFolder(folder, requireRoom) {
      const file = join(directory, `app-${hash(describeTree(folder))}`);
      await once(file, async () => {
        if (isTouched(file)) return;
        requireRoom?.(bytesOf(folder));
        const descriptor = await publish(directory, file, (made) => pack(made, folder));
        // Its lock is not needed: what is used goes last.
        if (descriptor !== undefined) closeSync(descriptor);
      });
      ofFolders.set(folder, file);
      forgetUnused(directory);
      return file;
    },
    keepFolders(folders) {
      const kept = new Set([...ofFolders].flatMap(([folder, file]) => (folders.has(folder) ? [file] : [])));
      for (const [folder, file] of ofFolders) {
        if (folders.has(folder)) continue;
        ofFolders.delete(folder);
        if (!kept.has(file)) rmSync(file, { force: true });
      }
    },
    built(name, identity, fill) {
      const file = join(directory, `${name}-${hash(identity)}`);
      const make = async (made: string) => {
        const tree = `${made}-tree`;
        mkdirSync(tree);
        await fill(tree);
        readableByGuests(tree);
        await pack(made, tree);
      };
      return once(file, () => hold(file, make));
    },
    file(name, identity, content) {
      const file = join(directory, `${name}-${hash(identity)}`);
      return once(file, () => hold(file, async (made) => writeFileSync(made, await content())));
    },
    async removeFormer() {
      const names = new Set([...held.keys()].map(nameOf));
      const files = readdirSync(directory).map((name) => join(directory, name));
      for (const file of files) if (names.has(nameOf(file)) && !held.has(file)) await removeUnused(file);
    },
    close() {
      for (const descriptor of held.values()) closeSync(descriptor);
      held.clear();
    },
  };
}

/** Users of a guest get what its root gets but writing, whatever the umask was when the folder was filled. */
function readableByGuests(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const place = join(entry.parentPath, entry.name);
    const own = statSync(place).mode & 0o700;
    chmodSync(place, own | ((own & 0o500) >> 3) | ((own & 0o500) >> 6));
  }
  chmodSync(folder, 0o755);
}

/** What says that a file of the system is still the same, without reading a hundred megabytes at each start. */
export function describeFile(path: string): string {
  const { size, mtimeMs, ino } = statSync(path);
  return `${path} ${size} ${mtimeMs} ${ino}`;
}

/** Names and contents of a package: it was verified when it came, so it is small enough to be read whole. */
function describeTree(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return entry.isFile() ? `${path} ${statSync(path).mode} ${hash(readFileSync(path))}` : path;
    })
    .sort()
    .join('\n')
    .replaceAll(folder, '');
}

function bytesOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

/** A folder to make something in, which others leave alone until it is closed or this process has ended. */
async function openWorkshop(directory: string): Promise<{ readonly folder: string; close(): void }> {
  for (;;) {
    const folder = mkdtempSync(join(directory, MAKING));
    const descriptor = openIfThere(folder);
    // Between creation and lock another process may have removed it as that of a dead process.
    if (descriptor !== undefined && (await lockFile(descriptor, 'exclusive')) && standsAt(descriptor, folder)) {
      return {
        folder,
        close() {
          rmSync(folder, { recursive: true, force: true });
          closeSync(descriptor);
        },
      };
    }
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/**
 * Makes a file and gives it its name, never in place of another of that name, which others may have open and count on.
 * @returns it, open and locked before anybody else could see it; undefined when another was there first
 * @throws LaunchError when it cannot be made
 */
async function publish(directory: string, file: string, make: Make): Promise<number | undefined> {
  const workshop = await openWorkshop(directory);
  try {
    const made = join(workshop.folder, 'image');
    await make(made);
    chmodSync(made, 0o644);
    const descriptor = openSync(made, 'r');
    await lockFile(descriptor, 'shared');
    if (isLinked(made, file)) return descriptor;
    closeSync(descriptor);
    return undefined;
  } catch (error) {
    throw new LaunchError('The image of the app could not be created on this machine.', String(error));
  } finally {
    workshop.close();
  }
}

/** False when the name is taken. */
function isLinked(made: string, file: string): boolean {
  try {
    linkSync(made, file);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/** Undefined when it was removed before it could be locked. */
async function openLocked(file: string): Promise<number | undefined> {
  const descriptor = openIfThere(file);
  if (descriptor === undefined) return undefined;
  if ((await lockFile(descriptor, 'shared', { waitSeconds: LOCK_SECONDS })) && standsAt(descriptor, file))
    return descriptor;
  closeSync(descriptor);
  return undefined;
}

/** Removes an image that no machine boots from; running machines keep theirs, which is mounted. */
async function removeUnused(path: string): Promise<void> {
  const descriptor = openIfThere(path);
  if (descriptor === undefined) return;
  try {
    if ((await lockFile(descriptor, 'exclusive')) && standsAt(descriptor, path))
      rmSync(path, { recursive: true, force: true });
  } finally {
    closeSync(descriptor);
  }
}

function openIfThere(path: string): number | undefined {
  return unlessGone(() => openSync(path, 'r'));
}

/** Says that it is used, if it is there. */
function isTouched(file: string): boolean {
  const now = new Date();
  return unlessGone(() => utimesSync(file, now, now) ?? true) === true;
}

function unlessGone<Value>(action: () => Value): Value | undefined {
  try {
    return action();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** Without the hash. */
function nameOf(file: string): string {
  return basename(file).replace(/-[0-9a-f]+$/, '');
}

function forgetUnused(directory: string): void {
  const apps = readdirSync(directory)
    .filter((name) => name.startsWith('app-'))
    .map((name) => join(directory, name))
    // Another platform may have removed it by now.
    .map((path) => ({ path, used: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((one, other) => other.used - one.used);
  // A running machine holds its image open; the name alone goes.
  for (const { path } of apps.slice(KEPT)) rmSync(path, { force: true });
}

function hash(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 32);
}
