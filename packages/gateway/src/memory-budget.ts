// What all Gateways of a process may hold in memory of bodies that they have to read as a whole, and how they share it.
import { totalmem } from 'node:os';
import { openShares, type Shares } from '@platform/http';

/** The rest stays with what the process is otherwise for, and with what is on its way through sockets. */
const PART_OF_MEMORY = 1 / 4;
/** One Gateway alone gets a fifth: two of the largest bodies there are. */
const LEAST = 5 * 64 * 1024 * 1024;
/** However many are greedy: bodies of ordinary calls. */
const ALWAYS = 1024 * 1024;

/** @param bytes for all Gateways together */
export function openMemoryBudget(bytes: number): Shares {
  return openShares(bytes, ALWAYS);
}

let shared: Shares | undefined;

/** The one of this process. */
export function processMemory(): Shares {
  // Without a limit of its own it says nothing, or more than there is.
  const most = Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem());
  shared ??= openMemoryBudget(Math.max(most * PART_OF_MEMORY, LEAST));
  return shared;
}
