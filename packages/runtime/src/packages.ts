// Workloads of packages on this node: fetched by content hash, checked, and unpacked once for all installations that
// use them.
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { chmod, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { limits } from '@platform/contract';
import { extract, type Header } from 'tar-stream';
import type { RequireRoom } from './disk-watch.ts';
import { errorCode } from './error-code.ts';
import { modes } from './modes.ts';

export interface PackageStore {
  /**
   * The package's `workload/` folder, fetched first when it is not here yet. Concurrent calls share one download.
   * @throws PackageError when the content does not match its hash or is not a safe archive.
   */
  workloadFolder(hash: string): Promise<string>;
  /** Where that folder is once it is here. */
  placeOf(hash: string): string;
  /** Removes what no installation refers to any more. Whatever is not in `hashes` is gone for its users at once. */
  keepOnly(hashes: ReadonlySet<string>): Promise<void>;
}

/** The package cannot be used. The message is one sentence for a person. */
export class PackageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PackageError';
  }
}

const HASH = /^[0-9a-f]{64}$/;
/** What is not there yet, and what is not there any more: a start clears both away. */
const UNFINISHED = '.new-';
const REMOVED = '.old-';
const WORKLOAD = 'workload';
const ELF_MAGIC = Buffer.from('\x7fELF', 'latin1');
/** May be over at the next attempt; whatever else unpacking fails with is in the package, and stays. */
const FAULTS_OF_THE_MACHINE: ReadonlySet<string> = new Set([
  ...['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'ENOMEM', 'EMFILE', 'ENFILE', 'EACCES', 'EPERM', 'EAGAIN'],
]);

/**
 * @param folder Made if missing; enterable but not listable for others, so that sandbox users reach what they are
 *   given.
 * @param download The blob of a package, as core stores it.
 * @param requireRoom throws when the disk has no room for so many bytes more; by default it always has
 */
export function openPackageStore(
  folder: string,
  download: (hash: string) => Promise<Readable>,
  requireRoom: RequireRoom = () => undefined,
): PackageStore {
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, modes.passage);
  for (const name of readdirSync(folder)) {
    if (name.startsWith(UNFINISHED) || name.startsWith(REMOVED))
      rmSync(join(folder, name), { recursive: true, force: true });
  }
  const underWay = new Map<string, Promise<void>>();
  return {
    async workloadFolder(hash) {
      if (!HASH.test(hash)) throw new PackageError('The package has no valid content hash.');
      const place = join(folder, hash);
      if (!existsSync(place)) {
        const work =
          underWay.get(hash) ?? install({ folder, hash, download, requireRoom }).finally(() => underWay.delete(hash));
        underWay.set(hash, work);
        await work;
      }
      return join(place, WORKLOAD);
    },
    placeOf: (hash) => join(folder, hash, WORKLOAD),
    async keepOnly(hashes) {
      const removed = readdirSync(folder).flatMap((name) => {
        if (!HASH.test(name) || hashes.has(name)) return [];
        // In one step, so that no kill leaves half a package under its name.
        const place = join(folder, `${REMOVED}${randomBytes(8).toString('hex')}`);
        renameSync(join(folder, name), place);
        return [place];
      });
      for (const place of removed) await rm(place, { recursive: true, force: true });
    },
  };
}

interface Wanted {
  readonly folder: string;
  readonly hash: string;
  readonly download: (hash: string) => Promise<Readable>;
  readonly requireRoom: RequireRoom;
}

async function install({ folder, hash, download, requireRoom }: Wanted): Promise<void> {
  requireRoom();
  const work = join(folder, `${UNFINISHED}${randomBytes(8).toString('hex')}`);
  await mkdir(work, { mode: 0o700 });
  try {
    const blob = join(work, 'blob');
    await fetchBlob(await download(hash), { hash, target: blob, requireRoom });
    const content = join(work, 'content');
    await mkdir(content);
    await makeFolders(content, join(content, WORKLOAD));
    await unpackWorkload(blob, content, requireRoom);
    await chmod(content, modes.given);
    await flush(content);
    await rename(content, join(folder, hash));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Nothing is unpacked before the whole blob is here and its hash is right. */
async function fetchBlob(
  body: Readable,
  { hash, target, requireRoom }: Pick<Wanted, 'hash' | 'requireRoom'> & { readonly target: string },
): Promise<void> {
  const digest = createHash('sha256');
  let bytes = 0;
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      digest.update(chunk);
      if (bytes > limits.packagePacked.value) return done(new PackageError('The package is larger than allowed.'));
      try {
        requireRoom(chunk.length);
      } catch (error) {
        return done(error instanceof Error ? error : new Error(String(error)));
      }
      done(null, chunk);
    },
  });
  await pipeline(body, meter, createWriteStream(target, { mode: 0o600 }));
  if (digest.digest('hex') !== hash) throw new PackageError('The package does not match its content hash.');
}

/** Writes the entries below `workload/` and refuses the archive as a whole for anything but plain files and folders. */
async function unpackWorkload(blob: string, target: string, requireRoom: RequireRoom): Promise<void> {
  const archive = extract();
  // A failure ends the loop below as well.
  pipeline(createReadStream(blob), createGunzip(), archive).catch(() => undefined);
  let entries = 0;
  let bytes = 0;
  const written = new Set<string>();
  try {
    for await (const entry of archive) {
      const { header } = entry;
      const path = plainPath(header);
      // The packed folder itself, which `tar .` names, is none of the files and folders in it.
      if (path !== '.') entries += 1;
      bytes += header.size ?? 0;
      if (entries > limits.packageEntries.value) throw new PackageError('The package contains too many files.');
      if (bytes > limits.packageUnpacked.value) throw new PackageError('The package is too large when unpacked.');
      if (path === undefined) throw new PackageError('The package contains an unsafe path.');
      if (header.type !== 'file' && header.type !== 'directory' && header.type !== 'contiguous-file') {
        throw new PackageError('The package contains a link or device.');
      }
      if (path !== WORKLOAD && !path.startsWith(`${WORKLOAD}/`)) {
        entry.resume();
        continue;
      }
      const place = join(target, path);
      if (header.type === 'directory') {
        await makeFolders(target, place);
        entry.resume();
        continue;
      }
      requireRoom(header.size ?? 0);
      if (written.has(path)) throw new PackageError('The package contains a file twice.');
      written.add(path);
      await makeFolders(target, dirname(place));
      await pipeline(entry, createWriteStream(place, { flags: 'wx', mode: modes.givenFile }));
      const runs = ((header.mode ?? 0) & 0o100) !== 0 || (await isExecutableFormat(place));
      await chmod(place, runs ? modes.given : modes.givenFile);
    }
  } catch (error) {
    if (error instanceof PackageError || FAULTS_OF_THE_MACHINE.has(errorCode(error))) throw error;
    throw new PackageError('The package is not a readable archive.');
  }
}

/** Programs can be run whatever mode the archive gives them: that of `platform publish` is the same for all files. */
async function isExecutableFormat(file: string): Promise<boolean> {
  const handle = await open(file);
  try {
    const head = Buffer.alloc(ELF_MAGIC.length);
    await handle.read(head, 0, head.length, 0);
    return head.equals(ELF_MAGIC);
  } finally {
    await handle.close();
  }
}

/** The path without a leading `./`, or undefined when it could lead anywhere else than below the target. */
function plainPath(header: Header): string | undefined {
  const path = header.name.replace(/^(\.\/)+/, '').replace(/\/+$/, '');
  if (path === '' || path === '.') return header.type === 'directory' ? '.' : undefined;
  if (Buffer.byteLength(path) > limits.packagePathLength.value || /[\\\p{Cc}]/u.test(path)) return undefined;
  const segments = path.split('/');
  return segments.every((segment) => segment !== '' && segment !== '.' && segment !== '..') ? path : undefined;
}

async function makeFolders(base: string, folder: string): Promise<void> {
  if (folder === base || existsSync(folder)) return;
  await makeFolders(base, dirname(folder));
  await mkdir(folder);
  await chmod(folder, modes.given);
}

/** Brings the files to disk before the rename makes them count, so that a power cut leaves no half package. */
async function flush(folder: string): Promise<void> {
  const child = spawn('sync', ['-f', folder], { stdio: 'ignore' });
  try {
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`a package was not brought to disk: sync ended with ${code}`);
  } catch (error) {
    // A machine without that program flushes by itself, only later.
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}
