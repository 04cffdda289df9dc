// Processes of a tree, and sockets of its first process: what a sleeping installation must not cost.
import { readdirSync, readlinkSync } from 'node:fs';
import { processTree } from '../platform/process-memory.ts';

export interface Counts {
  readonly processes: number;
  /** Listening ones and connections, of every kind. */
  readonly sockets: number;
}

/** Readings in a row that must agree: pools close idle connections after ten seconds, and processes with them. */
const AGREEING = 12;
const MOST_READINGS = 90;

/** The counts once they have stopped moving. */
export async function settledCounts(pid: number): Promise<Counts> {
  let last = counts(pid);
  let same = 0;
  for (let reading = 0; reading < MOST_READINGS && same < AGREEING; reading += 1) {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const now = counts(pid);
    same = now.processes === last.processes && now.sockets === last.sockets ? same + 1 : 0;
    last = now;
  }
  if (same < AGREEING) throw new Error('The processes and sockets of the platform do not settle.');
  return last;
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
