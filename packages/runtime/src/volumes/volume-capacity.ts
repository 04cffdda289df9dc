// How much the volumes of a node may take together: what is free on its disk and what they hold, less the reserve.
import { mkdirSync, statfsSync } from 'node:fs';
import { diskReserveBytes, MiB } from '@platform/contract';
import type { Log } from '../clock.ts';
import { errorCode } from '../error-code.ts';
import { run } from '../run-command.ts';

/** Volumes that are folders are walked through; one that takes longer counts as empty, which promises too little. */
const LONGEST_WALK = 10_000;

/** MiB, 0 when the disk is full already. */
export async function volumeCapacityMiB(directory: string, log: Log): Promise<number> {
  mkdirSync(directory, { recursive: true });
  const held = await heldBytes(directory).catch((error: unknown) => {
    log.warn({ code: errorCode(error) }, 'the size of the volumes could not be measured');
    return 0;
  });
  const { bavail, blocks, bsize } = statfsSync(directory);
  return Math.max(0, Math.floor((bavail * bsize + held - diskReserveBytes(blocks * bsize)) / MiB));
}

/** Mounted volumes are other file systems and left out: their images count. */
async function heldBytes(directory: string): Promise<number> {
  // It says what it may not read, and adds up the rest.
  const output = await run(['du', '-s', '-k', '-x', directory], { limit: LONGEST_WALK, success: [0, 1] });
  return Number.parseInt(output, 10) * 1024;
}
