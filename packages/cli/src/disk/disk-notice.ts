// What a start says about the disk of the data folder, in one line.

import { existsSync } from 'node:fs';
import * as path from 'node:path';
import { MiB, sizeText } from '@platform/contract/sizes';
import { type DiskSpace, diskSpace } from '@platform/core/config';
import { StartError } from '@platform/core/start';

/** The programs and the empty cluster of PostgreSQL, and the apps that come with the platform. */
const FIRST_START_BYTES = 512 * MiB;

/** @throws StartError `disk_too_small` when the embedded database could not be made there */
export function requireDisk(folder: string): void {
  const { freeBytes } = diskSpace(folder);
  if (freeBytes >= FIRST_START_BYTES || existsSync(path.join(folder, 'postgres', 'data'))) return;
  throw new StartError(
    'disk_too_small',
    `The disk of ${folder} has ${sizeText(freeBytes)} free, and the first start needs ${sizeText(FIRST_START_BYTES)}. Free some space, or set PLATFORM_DATA_DIR to a larger disk.`,
  );
}

/** `undefined` while there is space. */
export function diskNotice(folder: string): string | undefined {
  const space = diskSpace(folder);
  if (space.freeBytes >= space.reserveBytes) return undefined;
  return `${shortOfDisk(space)} Backends with a volume stay stopped and nothing can be published until there is space: \`./platform disk\` shows what takes it.`;
}

export function shortOfDisk({ freeBytes, reserveBytes, totalBytes }: DiskSpace): string {
  return `The disk is full: ${sizeText(freeBytes)} of ${sizeText(totalBytes)} are free, and ${sizeText(reserveBytes)} are kept for PostgreSQL and logs.`;
}
