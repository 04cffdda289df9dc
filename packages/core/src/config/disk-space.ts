// How much of a disk is free, and how much of it is kept for PostgreSQL and the platform itself.
import { existsSync, statfsSync } from 'node:fs';
import * as path from 'node:path';
import { diskReserveBytes } from '@platform/contract';

export interface DiskSpace {
  /** Size of the file system, in bytes. */
  readonly totalBytes: number;
  /** What users other than root may still write. */
  readonly freeBytes: number;
  /** What volumes, packages and logs leave free. */
  readonly reserveBytes: number;
}

/** @param folder need not exist yet: then the disk of the next folder above it counts */
export function diskSpace(folder: string): DiskSpace {
  let existing = folder;
  while (!existsSync(existing)) existing = path.dirname(existing);
  const { bavail, blocks, bsize } = statfsSync(existing);
  const totalBytes = blocks * bsize;
  return { totalBytes, freeBytes: bavail * bsize, reserveBytes: diskReserveBytes(totalBytes) };
}

/** Whether only the reserve is left. */
export function isDiskFull(folder: string): boolean {
  const { freeBytes, reserveBytes } = diskSpace(folder);
  return freeBytes < reserveBytes;
}
