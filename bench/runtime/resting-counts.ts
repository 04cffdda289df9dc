// Processes of a tree, and sockets of its first process, at rest: what a sleeping installation must not cost.
import { readdirSync, readlinkSync } from 'node:fs';
import { processTree } from '../platform/process-memory.ts';

export interface Counts {
  readonly processes: number;
  /** Listening ones and connections, of every kind. */
  readonly sockets: number;
}

/**
 * Seconds without a lower reading: longer than a node's question for its assignments waits (25 s) and a pool then keeps
 * the connection (10 s), each with its process of the database, and than that waits between two cleanings (60 s).
 */
const AT_REST = 75;
const LONGEST = 400;

/**
 * The least that was ever there at one moment. The platform asks itself small things all the time, so that a connection
 * more or less is open at any single reading; what is added for good raises the least.
 */
export async function restingCounts(pid: number): Promise<Counts> {
  let least = counts(pid);
  let since = 0;
  for (let seconds = 0; since < AT_REST; seconds += 1) {
    if (seconds === LONGEST) throw new Error('The processes and sockets of the platform do not come to rest.');
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const now = counts(pid);
    const lower = now.processes < least.processes || now.sockets < least.sockets;
    least = {
      processes: Math.min(least.processes, now.processes),
      sockets: Math.min(least.sockets, now.sockets),
    };
    since = lower ? 0 : since + 1;
  }
  return least;
}

function counts(pid: number): Counts {
  const descriptors = readdirSync(`/proc/${pid}/fd`).map((descriptor) => linkOf(`/proc/${pid}/fd/${descriptor}`));
  return {
    processes: processTree(pid).length,
    sockets: descriptors.filter((link) => link.startsWith('socket:')).length,
  };
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ''; // closed while we looked
  }
}
