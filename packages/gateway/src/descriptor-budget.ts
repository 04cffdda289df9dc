// What all Gateways of a process may hold together of its file descriptors, and how they share it: a workload that opens
// whatever it can takes nothing away from the others, nor from the Runtime around them.
import { readFileSync } from 'node:fs';
import { openShares } from '@platform/http';

export interface DescriptorBudget {
  /** The claim of one Gateway, which holds nothing yet. */
  open(): DescriptorShare;
}

/** Connections of one Gateway, and requests under way, which have a connection of their own to the other side. */
export interface DescriptorShare {
  begin(): void;
  end(): void;
  /** Whether it holds more than is its share now, what began last included. */
  isOver(): boolean;
}

/** The other half stays with what holds the process together: sandboxes, logs, core, the way in. */
const PART_OF_PROCESS = 1 / 2;
/** However many are greedy: a connection or two and the requests on them. */
const ALWAYS = 4;

export function openDescriptorBudget(processLimit: number): DescriptorBudget {
  const total = Math.floor(processLimit * PART_OF_PROCESS);
  const shares = openShares(total, ALWAYS);
  return {
    open() {
      const { add, remove, isOver } = shares.open();
      return { begin: () => add(1), end: () => remove(1), isOver };
    },
  };
}

/** Where the limit cannot be read: what most systems give at least. */
const COMMON_LIMIT = 1_024;

/** Descriptors that this process may have open. Node has raised the soft limit to the hard one at its start. */
export function ownDescriptorLimit(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined || soft === 'unlimited' ? COMMON_LIMIT : Number(soft);
  } catch {
    return COMMON_LIMIT;
  }
}

let shared: DescriptorBudget | undefined;

/** The one of this process. */
export function processDescriptors(): DescriptorBudget {
  shared ??= openDescriptorBudget(ownDescriptorLimit());
  return shared;
}
