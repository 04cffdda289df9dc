// What a volume holds, as the frames of contract's volume-stream.ts. Reads what an app made, so nothing in it is followed:
// every folder is opened below the one before, and only what the open descriptor is says what is read.
import { type BigIntStats, constants, type Dirent } from 'node:fs';
import { type FileHandle, lstat, open, opendir, readlink } from 'node:fs/promises';
import { sizeText } from '@platform/contract/sizes';
import {
  entryFrame,
  LEAST_PIECE_BYTES,
  MOST_DEPTH,
  MOST_PATH,
  nameOfBytes,
  pieceHead,
  zerosFrame,
} from '@platform/contract/volume-stream';
import { errorCode } from '../error-code.ts';

/** Read at once; a part of it that is all zeros is not sent. */
const READ_BYTES = 256 * 1024;
const ZEROS = Buffer.alloc(READ_BYTES);
/** Names of the same file that are remembered: what has more is left out. */
const MOST_NAMED_TWICE = 10_000;
/** That a file may be larger than what it takes on the disk: its zeros would be read and written for nothing. */
const MOST_EMPTY_BYTES = 4 * 1024 ** 3;
/** The app itself closed it, or it went. */
const CLOSED = new Set(['EACCES', 'EPERM', 'ENOENT', 'ELOOP', 'ENXIO', 'ENOTDIR']);

/** @param folder the folder of a volume, which no workload uses meanwhile */
export async function* folderFrames(folder: string): AsyncGenerator<Buffer> {
  const root = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    const { dev } = await root.stat({ bigint: true });
    yield* new Walk(dev).folder(root, '', 0);
  } finally {
    await root.close();
  }
  yield entryFrame({ type: 'end' });
}

/** An image that only a virtual machine may open: the file itself. */
export async function* imageFrames(image: string, name: string): AsyncGenerator<Buffer> {
  const file = await open(image, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    yield* fileFrames(file, name, await file.stat({ bigint: true }));
  } finally {
    await file.close();
  }
  yield entryFrame({ type: 'end' });
}

class Walk {
  readonly #device: bigint;
  /** By inode, of files that have several names. */
  readonly #named = new Map<bigint, string>();

  constructor(device: bigint) {
    this.#device = device;
  }

  async *folder(handle: FileHandle, path: string, depth: number): AsyncGenerator<Buffer> {
    const place = Buffer.from(`/proc/self/fd/${handle.fd}/`);
    // Names as bytes: an app may give its files any.
    const entries = await opendir(place, { encoding: 'buffer' as BufferEncoding });
    for await (const { name } of entries as AsyncIterable<Dirent<string | Buffer>>) {
      if (!Buffer.isBuffer(name)) throw new Error('a name was not read as bytes');
      const below = path === '' ? nameOfBytes(name) : `${path}/${nameOfBytes(name)}`;
      const at = Buffer.concat([place, name]);
      if (below.length > MOST_PATH || depth + 1 > MOST_DEPTH)
        yield leftOut(below, 'it is too deep, or its path is too long');
      else yield* this.#entry(at, below, depth);
    }
  }

  async *#entry(at: Buffer, path: string, depth: number): AsyncGenerator<Buffer> {
    let handle: FileHandle | undefined;
    try {
      const found = await lstat(at, { bigint: true });
      if (found.isSymbolicLink()) {
        yield linkFrame(path, await readlink(at, { encoding: 'buffer' }));
        return;
      }
      if (!found.isDirectory() && !found.isFile()) {
        yield leftOut(path, 'it is a device, a pipe or a socket');
        return;
      }
      const kind = found.isDirectory() ? constants.O_DIRECTORY : 0;
      handle = await open(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | kind);
    } catch (error) {
      if (!CLOSED.has(errorCode(error))) throw error;
      yield leftOut(path, `it cannot be opened (${errorCode(error)})`);
      return;
    }
    try {
      const stats = await handle.stat({ bigint: true });
      if (stats.dev !== this.#device) yield leftOut(path, 'it is on another file system');
      else if (stats.isDirectory()) {
        yield entryFrame({ type: 'folder', path, modified: Number(stats.mtimeMs) });
        yield* this.folder(handle, path, depth + 1);
      } else if (stats.isFile()) yield* this.#file(handle, path, stats);
      else yield leftOut(path, 'it is a device, a pipe or a socket');
    } finally {
      await handle.close();
    }
  }

  async *#file(handle: FileHandle, path: string, stats: BigIntStats): AsyncGenerator<Buffer> {
    if (stats.nlink > 1n) {
      const of = this.#named.get(stats.ino);
      if (of !== undefined) {
        yield entryFrame({ type: 'name', path, of });
        return;
      }
      if (this.#named.size >= MOST_NAMED_TWICE) {
        yield leftOut(path, 'too many files have several names');
        return;
      }
      this.#named.set(stats.ino, path);
    }
    if (stats.size - stats.blocks * 512n > MOST_EMPTY_BYTES) {
      this.#named.delete(stats.ino);
      yield leftOut(
        path,
        `it is ${sizeText(Number(stats.size))} long, of which it has ${sizeText(Number(stats.blocks * 512n))}`,
      );
    } else yield* fileFrames(handle, path, stats);
  }
}

function leftOut(path: string, why: string): Buffer {
  return entryFrame({ type: 'left out', path: path.slice(0, 4 * MOST_PATH), why });
}

function linkFrame(path: string, target: Buffer): Buffer {
  const text = target.toString('utf8');
  return Buffer.from(text).equals(target) && text.length <= MOST_PATH
    ? entryFrame({ type: 'link', path, target: text })
    : leftOut(path, 'what this link names is no text');
}

/** @throws Error when the file became shorter meanwhile */
async function* fileFrames(handle: FileHandle, path: string, stats: BigIntStats): AsyncGenerator<Buffer> {
  const bytes = Number(stats.size);
  const executable = (stats.mode & 0o111n) !== 0n;
  yield entryFrame({ type: 'file', path, bytes, executable, modified: Number(stats.mtimeMs) });
  for (let left = bytes; left > 0; ) {
    // One of its own for each piece: it may still be on its way when the next one is read.
    const piece = Buffer.allocUnsafe(Math.min(left, READ_BYTES));
    const length = await readFull(handle, piece, bytes - left);
    if (length < piece.length) throw new Error('a file of a volume became shorter while it was read');
    left -= length;
    if (length >= LEAST_PIECE_BYTES && piece.equals(ZEROS.subarray(0, length))) yield zerosFrame(length);
    else {
      yield pieceHead(length);
      yield piece;
    }
  }
}

async function readFull(handle: FileHandle, into: Buffer, from: number): Promise<number> {
  let length = 0;
  while (length < into.length) {
    const { bytesRead } = await handle.read(into, length, into.length - length, from + length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return length;
}
