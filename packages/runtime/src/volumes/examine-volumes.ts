// Looks at the file systems of volumes, for the operator, and changes nothing: images that nobody uses are checked, folders are
// walked through.
import { execFile } from 'node:child_process';
import { constants, existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { open, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { plainLine } from '@platform/contract';
import { errorCode } from '../error-code.ts';
import { findProgram, systemPath } from '../find-program.ts';
import { mountsBelow } from './mounts.ts';

export interface VolumeState {
  readonly installationId: string;
  readonly kind: 'image' | 'folder';
  /** `unchecked`: it cannot be checked now, for the reason that `found` gives. */
  readonly state: 'whole' | 'in use' | 'unchecked' | 'damaged' | 'missing';
  readonly found?: string;
}

const CHECK_MILLISECONDS = 30 * 60_000;
/** Of its words: the first complaint is told. */
const MOST_WORDS = 64 * 1024;
/** What e2fsck ends with when a file system has errors. */
const ERRORS_LEFT = 4;

/**
 * @param path the folder of the volumes
 * @param knownFolder says which ones were made there
 */
export async function* examineVolumes(path: string, knownFolder = `${path}.known`): AsyncGenerator<VolumeState> {
  const known = existsSync(knownFolder) ? readdirSync(knownFolder).filter((name) => !name.startsWith('.')) : [];
  const directory = existsSync(path) ? realpathSync(path) : path;
  const names = existsSync(path) ? readdirSync(directory) : [];
  const users = new ImageUsers(directory);
  const ids = new Set([...known, ...names.map((name) => name.replace(/\..*$/, ''))]);
  ids.delete('');
  for (const installationId of [...ids].sort()) {
    const images = names.filter((name) => name.startsWith(`${installationId}.`) && !name.endsWith('.new'));
    const isImage =
      images.length > 0 || (known.includes(installationId) && isKnownImage(join(knownFolder, installationId)));
    if (!isImage) {
      const folder = names.includes(installationId) ? await folderState(join(directory, installationId)) : MISSING;
      yield { installationId, kind: 'folder', ...folder };
    } else if (images.length === 0) yield { installationId, kind: 'image', ...MISSING };
    for (const image of images)
      yield { installationId, kind: 'image', ...(await imageState(users, join(directory, image), installationId)) };
  }
}

type State = Pick<VolumeState, 'state' | 'found'>;

const MISSING: State = { state: 'missing' };

/** As known-volumes.ts writes it. */
function isKnownImage(file: string): boolean {
  return readFileSync(file, 'utf8') !== 'folder';
}

/** Who uses images: the kernel, for a mount, or a process, such as that of a virtual machine. */
class ImageUsers {
  readonly #mounts;
  readonly #loops: ReadonlySet<string>;
  #opened: ReadonlySet<string> | undefined;

  constructor(directory: string) {
    this.#mounts = mountsBelow(directory);
    this.#loops = new Set(loopFiles());
  }

  /** Whether the kernel has set the file system of this mount read-only, `null` when nothing is mounted there. */
  isReadOnly(folder: string): boolean | null {
    return this.#mounts.find((mount) => mount.folder === folder)?.isReadOnly ?? null;
  }

  has(image: string): boolean {
    if (this.#loops.has(image)) return true;
    this.#opened ??= openedFiles();
    return this.#opened.has(fileId(image));
  }
}

/** Files behind loop devices, also where they are mounted in another namespace. */
function loopFiles(): string[] {
  if (!existsSync('/sys/block')) return [];
  return readdirSync('/sys/block')
    .map((device) => `/sys/block/${device}/loop/backing_file`)
    .flatMap((file) => (existsSync(file) ? [readOr(file, '').trim()] : []));
}

function readOr(file: string, otherwise: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return otherwise;
  }
}

/** Of all processes that this user may look into. */
function openedFiles(): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      for (const descriptor of readdirSync(`/proc/${pid}/fd`)) ids.add(fileId(`/proc/${pid}/fd/${descriptor}`));
    } catch {
      // It ended, or belongs to somebody else.
    }
  }
  return ids;
}

function fileId(file: string): string {
  const { dev, ino } = statSync(file);
  return `${dev}:${ino}`;
}

async function imageState(users: ImageUsers, image: string, installationId: string): Promise<State> {
  const folder = join(image, '..', installationId);
  const isReadOnly = users.isReadOnly(folder);
  if (isReadOnly === true)
    return { state: 'damaged', found: 'the kernel found an error in it and lets nothing be written any more' };
  try {
    if (isReadOnly !== null || users.has(image)) return { state: 'in use' };
    const superblock = await readSuperblock(image);
    if (superblock === null) return { state: 'damaged', found: 'it holds no ext4 file system' };
    if (superblock.hasJournal)
      return { state: 'unchecked', found: 'it was not unmounted; its next start brings it in order' };
    const state = await checked(image);
    // It may have been mounted meanwhile.
    const isUsedNow = state.state === 'damaged' && new ImageUsers(join(image, '..')).has(image);
    return isUsedNow ? { state: 'in use' } : state;
  } catch (error) {
    return { state: 'damaged', found: `it cannot be read (${errorCode(error)})` };
  }
}

/** The journal holds what was not written yet (Documentation/filesystems/ext4: s_magic, INCOMPAT_RECOVER). */
async function readSuperblock(image: string): Promise<{ readonly hasJournal: boolean } | null> {
  const file = await open(image, 'r');
  try {
    const superblock = Buffer.alloc(128);
    await file.read(superblock, 0, superblock.length, 1_024);
    if (superblock.readUInt16LE(56) !== 0xef53) return null;
    return { hasJournal: (superblock.readUInt32LE(96) & 4) !== 0 };
  } finally {
    await file.close();
  }
}

async function checked(image: string): Promise<State> {
  const program = findProgram('e2fsck');
  if (program === undefined) return { state: 'unchecked', found: 'e2fsprogs is not installed' };
  const { code, output } = await check(program, image);
  if (code === 0) return { state: 'whole' };
  if (code === null) return { state: 'unchecked', found: 'the check took too long' };
  return { state: 'damaged', found: firstComplaint(output) };
}

/**
 * Read-only. As the owner of the image, since a guest may have written what is in it: an error of the program would be that
 * user's.
 */
function check(program: string, image: string): Promise<{ readonly code: number | null; readonly output: string }> {
  const { uid, gid } = statSync(image);
  const owner = process.getuid?.() === 0 && uid !== 0 ? { uid, gid } : {};
  const env = { PATH: systemPath, LC_ALL: 'C' };
  const options = { env, timeout: CHECK_MILLISECONDS, maxBuffer: MOST_WORDS, ...owner };
  return new Promise((resolve) => {
    const child = execFile(program, ['-n', '-f', image], options, (error, stdout, stderr) => {
      // It found so much that its words were cut off.
      const code = error?.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER' ? ERRORS_LEFT : child.exitCode;
      resolve({ code, output: `${stdout}\n${stderr}` });
    });
  });
}

/** The label of the file system and names in it are the guest's words. */
function firstComplaint(output: string): string {
  const lines = output.split('\n').map((line) => plainLine(line));
  const told = lines.find((line) => line !== '' && !/^(?:Pass \d|e2fsck |\/)/.test(line));
  return (told ?? 'e2fsck finds errors in it').slice(0, 160);
}

/** Files that the app itself has closed to others, or put deeper than paths reach, say nothing about the disk. */
const NO_FAULT = new Set(['EACCES', 'EPERM', 'ENOENT', 'ELOOP', 'ENXIO', 'ENAMETOOLONG']);

async function folderState(root: string): Promise<State> {
  const folders = [root];
  try {
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      // One by one: there may be more than a call takes arguments.
      for (const next of (await readFolder(folder).catch(ignoreClosed)) ?? []) folders.push(next);
    }
  } catch (error) {
    return { state: 'damaged', found: `a file or folder in it cannot be read (${errorCode(error)})` };
  }
  return { state: 'whole' };
}

/** Reads the beginning of each file in it. @returns the folders in it */
async function readFolder(folder: string): Promise<string[]> {
  const folders: string[] = [];
  for await (const entry of await opendir(folder)) {
    const place = join(folder, entry.name);
    if (entry.isDirectory()) folders.push(place);
    else if (entry.isFile()) await readStart(place);
  }
  return folders;
}

async function readStart(file: string): Promise<void> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(ignoreClosed);
  try {
    await handle?.read(Buffer.alloc(1), 0, 1, 0);
  } finally {
    await handle?.close();
  }
}

function ignoreClosed(error: unknown): null {
  if (NO_FAULT.has(errorCode(error))) return null;
  throw error;
}
