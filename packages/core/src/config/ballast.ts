// A file that only takes space. On a disk that other programs filled to the last byte it is given up, so that PostgreSQL
// starts and the operator can sign in and make space; it is made again when there is.

import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { MiB } from '@platform/contract/sizes';
import { systemCode } from './start-error.ts';

const BALLAST_BYTES = 64 * MiB;
/** PostgreSQL needs a segment of its log to start, of 16 MiB, and some files. */
const START_BYTES = 32 * MiB;

function ballastFile(dataFolder: string): string {
  return path.join(dataFolder, 'ballast');
}

/** Gives the ballast up when the disk is too full for a start. @returns whether it did */
export function dropBallast(dataFolder: string): boolean {
  if (hasRoomToStart(dataFolder) || !fs.existsSync(ballastFile(dataFolder))) return false;
  fs.rmSync(ballastFile(dataFolder));
  return true;
}

/**
 * Whether users other than root can write what a start needs. Without, also after the ballast was given up, root has filled what
 * the file system reserves for it.
 */
export function hasRoomToStart(dataFolder: string): boolean {
  const { bavail, bsize } = fs.statfsSync(dataFolder);
  return bavail * bsize >= START_BYTES;
}

/**
 * Makes the ballast unless it is there.
 *
 * @param freeBytes what is free beyond the reserve: it is made of nothing else
 * @throws Error of the system when it cannot be made
 */
export function keepBallast(dataFolder: string, freeBytes: number): void {
  const file = ballastFile(dataFolder);
  const { blocks = 0 } = fs.statSync(file, { throwIfNoEntry: false }) ?? {};
  // A copy of the folder may hold a file of that size that takes no space.
  if (blocks * 512 >= BALLAST_BYTES || freeBytes < BALLAST_BYTES) return;
  const unfinished = `${file}.new`;
  try {
    fs.rmSync(unfinished, { force: true });
    const { status } = spawnSync('fallocate', ['-l', String(BALLAST_BYTES), unfinished], { stdio: 'ignore' });
    if (status !== 0) writeOut(unfinished);
    fs.chmodSync(unfinished, 0o600);
    fs.renameSync(unfinished, file);
  } catch (error) {
    fs.rmSync(unfinished, { force: true });
    if (systemCode(error) !== 'ENOSPC') throw error;
  }
}

/** Where space cannot be allocated by itself. Random, because some file systems compress. */
function writeOut(file: string): void {
  const piece = randomBytes(MiB);
  const descriptor = fs.openSync(file, 'w', 0o600);
  try {
    for (let written = 0; written < BALLAST_BYTES; written += piece.length) fs.writeSync(descriptor, piece);
  } finally {
    fs.closeSync(descriptor);
  }
}
