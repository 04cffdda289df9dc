// Reads /proc to find the processes of a sandbox from outside.
import { readdirSync, readFileSync } from 'node:fs';

/** A process that cannot be confused with a later one of the same number. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startTicks: string;
}

interface Stat {
  readonly parent: number;
  readonly startTicks: string;
  readonly state: string;
  /** Processor time in ticks, with that of children that have ended and were waited for. */
  readonly ticks: number;
}

function stat(pid: number): Stat | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined; // it has ended
  }
  // The second field, the name, may hold blanks and brackets; everything after the last bracket is regular.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, parent] = fields;
  const startTicks = fields[19];
  if (state === undefined || parent === undefined || startTicks === undefined) return undefined;
  // utime, stime, cutime, cstime: proc(5), fields 14 to 17.
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { state, parent: Number(parent), startTicks, ticks };
}

export function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').split(' ').filter(Boolean).map(Number),
    );
  } catch {
    // Some kernels are built without the list of children.
    return readdirSync('/proc')
      .map(Number)
      .filter((other) => other > 0 && stat(other)?.parent === pid);
  }
}

export function identify(pid: number): ProcessIdentity | undefined {
  const found = stat(pid);
  return found === undefined || found.state === 'Z' ? undefined : { pid, startTicks: found.startTicks };
}

export function isAlive(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.startTicks === identity.startTicks;
}

/**
 * Follows a chain of only children from `pid` down: launcher, first process of the namespace, workload. Meaningful
 * only while the workload has not yet run code of its own.
 */
export function onlyChildChain(pid: number): ProcessIdentity[] {
  const chain: ProcessIdentity[] = [];
  let next: number | undefined = pid;
  while (next !== undefined) {
    const identity = identify(next);
    if (identity === undefined) break;
    chain.push(identity);
    const below: number[] = childrenOf(next);
    next = below.length === 1 ? below[0] : undefined;
  }
  return chain;
}

/** Signals a process if it is still the same one. Returns whether it was. */
export function signal(identity: ProcessIdentity, name: NodeJS.Signals): boolean {
  if (!isAlive(identity)) return false;
  try {
    process.kill(identity.pid, name);
    return true;
  } catch {
    return false; // it ended in this moment; there is no process inside of which we may not signal
  }
}

/** USER_HZ, which the kernel keeps at 100 towards programs whatever its own clock does. */
const TICKS_PER_SECOND = 100;

/**
 * Processor time and memory of a process and everything below it that still runs. Memory is what belongs to the
 * processes and cannot be read again from a file. `null` when the process is gone.
 */
export function treeUse(pid: number): { cpuMilliseconds: number; memoryBytes: number } | null {
  const open = [pid];
  let ticks = 0;
  let memoryBytes = 0;
  let found = false;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const seen = stat(next);
    if (seen === undefined) continue;
    found = true;
    ticks += seen.ticks;
    memoryBytes += ownMemory(next);
    open.push(...childrenOf(next));
  }
  return found ? { cpuMilliseconds: (ticks * 1_000) / TICKS_PER_SECOND, memoryBytes } : null;
}

function ownMemory(pid: number): number {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/status`, 'latin1');
  } catch {
    return 0; // it ended while we looked
  }
  const kilobytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0);
  return (kilobytes('RssAnon') + kilobytes('RssShmem')) * 1024;
}

/**
 * TCP ports on which something listens in the network namespace of a process, for an explanation to a person.
 * @param exceptAt An address that does not count, in the kernel's own eight digits.
 */
export function listeningPorts(pid: number, exceptAt?: string): number[] {
  const ports = new Set<number>();
  for (const table of ['tcp', 'tcp6']) {
    let text: string;
    try {
      text = readFileSync(`/proc/${pid}/net/${table}`, 'latin1');
    } catch {
      continue; // it has ended, or this kernel has no IPv6
    }
    for (const line of text.split('\n').slice(1)) {
      const [, local, , state] = line.trim().split(/\s+/);
      const [address, port] = local?.split(':') ?? [];
      if (state === '0A' && port !== undefined && address !== exceptAt) ports.add(Number.parseInt(port, 16));
    }
  }
  return [...ports].sort((a, b) => a - b);
}
