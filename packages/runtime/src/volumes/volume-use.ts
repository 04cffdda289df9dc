// How much of its size a volume holds.
import { open, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../run-command.ts';
import { mountsBelow } from './mounts.ts';

/** A folder with so many files that counting them takes longer is not counted. */
const LONGEST_WALK = 5_000;
/** What was counted file by file is said again for so long. */
const KEPT_MILLISECONDS = 60_000;
/** Installations whose folders are remembered. */
const MOST_KEPT = 1_000;

const SUPERBLOCK_AT = 1_024;

export interface VolumeUse {
  /** Bytes; `null` where it cannot be told. */
  of(volume: { readonly folder: string; readonly images: readonly string[] }): Promise<number | null>;
}

/** @param directory the folder of the volumes */
export function createVolumeUse(directory: string, now: () => number = () => performance.now()): VolumeUse {
  const counted = new Map<string, { readonly bytes: number | null; readonly at: number }>();

  async function countFolder(folder: string): Promise<number | null> {
    const known = counted.get(folder);
    if (known !== undefined && now() - known.at < KEPT_MILLISECONDS) return known.bytes;
    // Of what it may not read it says so, and adds up the rest.
    const output = await run(['du', '-s', '-k', '-x', '--', folder], { limit: LONGEST_WALK, success: [0, 1] }).catch(
      () => '',
    );
    const kibibytes = Number.parseInt(output, 10);
    const bytes = Number.isNaN(kibibytes) ? null : kibibytes * 1_024;
    counted.delete(folder);
    counted.set(folder, { bytes, at: now() });
    if (counted.size > MOST_KEPT) counted.delete(counted.keys().next().value ?? folder);
    return bytes;
  }

  return {
    async of({ folder, images }) {
      if (images.length === 0) return countFolder(folder);
      if (mountsBelow(directory).some((mounted) => mounted.folder === folder)) {
        const { blocks, bfree, bsize } = await statfs(folder);
        return (blocks - bfree) * bsize;
      }
      const each = await Promise.all(images.map((image) => heldBy(join(directory, image))));
      return each.reduce<number | null>((sum, one) => (sum === null || one === null ? null : sum + one), 0);
    },
  };
}

/**
 * From the superblock (Documentation/filesystems/ext4: s_blocks_count_lo, s_free_blocks_count_lo, s_log_block_size,
 * s_overhead_clusters). A guest may have written it: never more than the file is large.
 */
async function heldBy(image: string): Promise<number | null> {
  const file = await open(image, 'r');
  try {
    const superblock = Buffer.alloc(1_024);
    await file.read(superblock, 0, superblock.length, SUPERBLOCK_AT);
    if (superblock.readUInt16LE(56) !== 0xef53) return null;
    const blocks = superblock.readUInt32LE(4) - superblock.readUInt32LE(12) - superblock.readUInt32LE(584);
    const { size } = await file.stat();
    return Math.min(Math.max(0, blocks * 1_024 * 2 ** Math.min(6, superblock.readUInt32LE(24))), size);
  } finally {
    await file.close();
  }
}
