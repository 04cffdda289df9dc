// A file with an ext4 file system in it, mounted for one workload: its size is the limit that cannot be exceeded.
// The file is only ever written by this machine's kernel. What a guest wrote to as a disk is never mounted here.

import {
  chmodSync,
  closeSync,
  existsSync,
  openSync,
  readSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { MiB } from '@platform/contract/sizes';
import { findProgram } from '../find-program.ts';
import { run } from '../run-command.ts';

export interface ImageTools {
  readonly makeFileSystem: string;
  readonly check: string;
  readonly resize: string;
  readonly mount: string;
  readonly unmount: string;
}

/** Below this there is no room for a file system with a journal. */
const SMALLEST_MIB = 8;

/** @returns why there can be no images, in a few words, when there can be none */
export function findImageTools(): ImageTools | string {
  if (process.getuid?.() !== 0) return 'only root can mount one of a limited size';
  if (!existsSync('/dev/loop-control')) return 'this machine offers no loop devices';
  const [makeFileSystem, check, resize] = [findProgram('mkfs.ext4'), findProgram('e2fsck'), findProgram('resize2fs')];
  const [mount, unmount] = [findProgram('mount'), findProgram('umount')];
  if (makeFileSystem === undefined || check === undefined || resize === undefined) return 'e2fsprogs is not installed';
  if (mount === undefined || unmount === undefined) return 'mount is not installed';
  return { makeFileSystem, check, resize, mount, unmount };
}

/** Makes the image whole or not at all. Its root belongs to `uid`. */
export async function makeImage(
  tools: ImageTools,
  image: string,
  { diskMiB, uid }: { readonly diskMiB: number; readonly uid: number },
): Promise<void> {
  const unfinished = `${image}.new`;
  rmSync(unfinished, { force: true });
  try {
    writeFileSync(unfinished, '', { mode: 0o600 });
    truncateSync(unfinished, wantedBytes(diskMiB));
    const options = `root_owner=${uid}:${uid},lazy_itable_init=1,lazy_journal_init=1`;
    await run([tools.makeFileSystem, '-q', '-F', '-m', '0', '-E', options, unfinished], { limit: 60_000 });
    renameSync(unfinished, image);
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/** Mounts the image on the folder, larger than before if the limit has grown. A smaller limit changes nothing. */
export async function mountImage(
  tools: ImageTools,
  { image, folder, diskMiB }: { readonly image: string; readonly folder: string; readonly diskMiB: number },
): Promise<void> {
  await growImage(tools, image, wantedBytes(diskMiB));
  // Nothing in it is a device or changes the user, whatever a workload or an older kernel left there.
  const options = 'loop,nosuid,nodev,noatime,errors=remount-ro';
  await run([tools.mount, '-n', '-t', 'ext4', '-o', options, image, folder]);
  chmodSync(folder, 0o700);
  const recovery = join(folder, 'lost+found');
  // Made with the file system and of no use to an app; stays when something was really found.
  if (existsSync(recovery)) removeIfEmpty(recovery);
}

/** The loop device goes with the last use of the mount. */
export async function unmountImage(tools: ImageTools, folder: string): Promise<void> {
  await run([tools.unmount, '-n', folder]);
}

function wantedBytes(diskMiB: number): number {
  return Math.max(SMALLEST_MIB, diskMiB) * MiB;
}

/** Before it is mounted: to grow a mounted one takes a right that root does not have everywhere. */
async function growImage(tools: ImageTools, image: string, wanted: number): Promise<void> {
  if (statSync(image).size < wanted) truncateSync(image, wanted);
  if (fileSystemBytes(image) >= statSync(image).size) return;
  // Brings the journal in first, as mounting would; it changes nothing that a person would have to decide.
  await run([tools.check, '-f', '-p', image], { limit: 60_000, success: [0, 1] });
  await run([tools.resize, image], { limit: 60_000 });
}

/** From the superblock (Documentation/filesystems/ext4: s_blocks_count_lo, s_log_block_size). */
function fileSystemBytes(image: string): number {
  const superblock = Buffer.alloc(64);
  const file = openSync(image, 'r');
  try {
    readSync(file, superblock, 0, superblock.length, 1_024);
  } finally {
    closeSync(file);
  }
  return superblock.readUInt32LE(4) * 1_024 * 2 ** superblock.readUInt32LE(24);
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // something was found
  }
}
