// Watches the disk of this node. Volumes, packages and logs leave a reserve on it, so that a disk that fills stops the
// backends that write before it stops the database beside them.
import { statfsSync } from 'node:fs';
import { diskReserveBytes, MiB } from '@platform/contract';
import type { Log } from './clock.ts';

/** `low`: only the reserve is left. `critical`: half of it is gone as well. */
export type DiskLevel = 'room' | 'low' | 'critical';

export interface DiskSpace {
  readonly freeBytes: number;
  readonly reserveBytes: number;
}

/** @throws DiskFullError when `bytes` more would not leave the reserve */
export type RequireRoom = (bytes?: number) => void;

export interface DiskWatch {
  /** As of this moment, where `low` lasts until there is clearly more than the reserve. */
  level(): DiskLevel;
  readonly requireRoom: RequireRoom;
  /** Calls `each` often while the level is not `room`, and once when it is again. */
  watch(each: (level: DiskLevel) => void, signal: AbortSignal): void;
}

/** The message is a sentence for a person. */
export class DiskFullError extends Error {
  readonly code = 'ENOSPC';
  constructor() {
    super(DISK_FULL);
    this.name = 'DiskFullError';
  }
}

export const DISK_FULL = 'The disk of the machine is full. It starts again when the operator has made space.';

/** So much more than the reserve must be free before backends that write go on, so that they do not stop at once again. */
const CLEARLY_MORE = 128 * MiB;
/** The fastest disks take half the reserve in no less. */
const LOOK_MILLISECONDS = 200;

/** @param space by default that of the disk on which `folder` lies */
export function openDiskWatch(folder: string, log: Log, space: () => DiskSpace = () => spaceOf(folder)): DiskWatch {
  let current: DiskLevel = 'room';

  function level(): DiskLevel {
    const { freeBytes, reserveBytes } = space();
    const former = current;
    if (freeBytes < reserveBytes / 2) current = 'critical';
    else if (freeBytes < reserveBytes) current = 'low';
    else if (current !== 'room') current = freeBytes < reserveBytes + CLEARLY_MORE ? 'low' : 'room';
    if (former === 'room' && current !== 'room')
      log.error(
        { freeMiB: Math.floor(freeBytes / MiB), reserveMiB: Math.floor(reserveBytes / MiB) },
        'the disk is full up to the reserve; stopping the backends that write to it',
      );
    if (former !== 'room' && current === 'room') log.info({}, 'the disk has space again');
    return current;
  }

  return {
    level,
    requireRoom(bytes = 0) {
      const { freeBytes, reserveBytes } = space();
      if (level() !== 'room' || freeBytes - bytes < reserveBytes) throw new DiskFullError();
    },
    watch(each, signal) {
      let former: DiskLevel = 'room';
      const timer = setInterval(() => {
        const now = level();
        if (now !== 'room' || former !== 'room') each(now);
        former = now;
      }, LOOK_MILLISECONDS);
      timer.unref();
      signal.addEventListener('abort', () => clearInterval(timer));
    },
  };
}

/** For another disk than that of the data folder. @param folder on it */
export function roomIn(folder: string): RequireRoom {
  return (bytes = 0) => {
    const { freeBytes, reserveBytes } = spaceOf(folder);
    if (freeBytes - bytes < reserveBytes) throw new DiskFullError();
  };
}

function spaceOf(folder: string): DiskSpace {
  const { bavail, blocks, bsize } = statfsSync(folder);
  return { freeBytes: bavail * bsize, reserveBytes: diskReserveBytes(blocks * bsize) };
}
