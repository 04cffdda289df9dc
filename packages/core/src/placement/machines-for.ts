// What the machines have that take backends, without saying which machines these are. Some may be kept for other apps, which is
// known only when an app is placed: what is said here to be impossible is impossible for every app.
import type { Offers } from '@platform/contract';
import type { Executor } from '../database/schema.ts';
import { type CapacityRow, selectCapacities } from './placement-queries.ts';

type Machine = Offers['machines'][number];

/** Kinds of machines that are told apart; the largest come first. */
const MOST_KINDS = 50;

/** @returns also whether there is any machine for backends at all */
export async function machinesFor(db: Executor): Promise<{ readonly open: Machine[]; readonly any: boolean }> {
  const rows = await selectCapacities(db);
  const open = rows.filter((row) => row.open).map(machineOf);
  const kinds = new Map(open.map((machine) => [JSON.stringify(machine), machine]));
  return { open: [...kinds.values()].slice(0, MOST_KINDS), any: rows.length > 0 };
}

function machineOf({ runtimes, processor, memory, cpus, disk, gives }: CapacityRow): Machine {
  return { runtimes, processor, memoryMiB: memory, cpus, diskMiB: disk, gives };
}
