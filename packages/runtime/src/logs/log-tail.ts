// Follows the log of one installation at the pace of its reader. Notifications only wake it; lines are read from the
// disk, so a slow reader costs no memory and is sent how many lines it missed.

import { open } from 'node:fs/promises';
import type { NodeLogPiece } from '@platform/contract';
import { errorCode } from '../error-code.ts';
import { pause } from '../pause.ts';
import { parseLines, type StoredLine } from './stored-lines.ts';

export interface TailedFile {
  readonly path: string;
  /** Changes before the file is replaced by a shorter one. */
  generation(): number;
  /** Resolves when there may be more, or when `signal` is aborted; misses nothing since the call. */
  changed(signal: AbortSignal): Promise<void>;
}

/** Bytes read at a time; many times the longest line. */
const CHUNK = 256 * 1024;
/** Between two looks at a log that grows all the time: a flood arrives in few pieces. */
const GATHER_MILLISECONDS = 100;

/**
 * Gives the lines after number `position`, oldest first, in pieces, for as long as the reader takes them and `signal`
 * is not aborted. Ends early only with an error of the disk.
 */
export async function* tail(
  file: TailedFile,
  position: number,
  signal: AbortSignal,
): AsyncGenerator<NodeLogPiece, void, undefined> {
  let last = position;
  let place: Place = { inode: 0, generation: -1, offset: 0 };
  while (!signal.aborted) {
    const change = file.changed(signal);
    let more = true;
    while (more && !signal.aborted) {
      const read = await readOn(file, place);
      place = read.place;
      more = read.more;
      const lines = parseLines(read.text).filter((line) => line.n > last);
      const first = lines.at(0);
      if (first === undefined) continue;
      const missed = last === 0 ? 0 : first.n - last - 1;
      last = lines.at(-1)?.n ?? last;
      yield { items: lines.map(entryOf), last, missed };
    }
    await change;
    await pause(GATHER_MILLISECONDS, signal);
  }
}

export function entryOf({ at, stream, line }: StoredLine): NodeLogPiece['items'][number] {
  return { at, stream, line };
}

interface Place {
  readonly inode: number;
  readonly generation: number;
  readonly offset: number;
}

/** The whole lines from a place on; from the beginning when the file is another one by now. */
async function readOn(file: TailedFile, known: Place): Promise<{ text: string; place: Place; more: boolean }> {
  const generation = file.generation();
  const handle = await open(file.path, 'r').catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (handle === undefined) return { text: '', place: { inode: 0, generation, offset: 0 }, more: false };
  try {
    const { ino: inode, size } = await handle.stat();
    const same = known.inode === inode && known.generation === generation && known.offset <= size;
    const offset = same ? known.offset : 0;
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(CHUNK), 0, CHUNK, offset);
    // What follows the last line break is still being written, or was cut by a crash and will be written anew.
    const end = buffer.subarray(0, bytesRead).lastIndexOf(0x0a) + 1;
    const place = { inode, generation, offset: offset + end };
    return { text: buffer.toString('utf8', 0, end), place, more: end > 0 && place.offset < size };
  } finally {
    await handle.close();
  }
}
