// Resident memory and processor time of a process and everything it started; shared pages are counted once (Pss of
// smaps_rollup).
import { readdirSync, readFileSync } from 'node:fs';

function parentOf(pid: string): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? null;
  } catch {
    // It ended while we looked.
    return null;
  }
}

/** `pid` and all its descendants, as far as they still live. */
export function processTree(pid: number): number[] {
  const children = new Map<string, string[]>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const parent = parentOf(entry);
    if (parent !== null) children.set(parent, [...(children.get(parent) ?? []), entry]);
  }
  const found: number[] = [];
  const open = [String(pid)];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    found.push(Number(next));
    open.push(...(children.get(next) ?? []));
  }
  return found;
}

function residentBytes(pid: number): number {
  try {
    const kilobytes = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1];
    return Number(kilobytes ?? 0) * 1024;
  } catch {
    return 0;
  }
}

export function residentOfTree(pid: number): number {
  return processTree(pid).reduce((sum, one) => sum + residentBytes(one), 0);
}

const TICKS_PER_SECOND = 100;

/** Processor time so far of `pid` and its descendants, those that have ended and were waited for included. */
export function processorSecondsOfTree(pid: number): number {
  const ticks = processTree(pid).reduce((sum, one) => {
    try {
      const stat = readFileSync(`/proc/${one}/stat`, 'utf8');
      // utime, stime, cutime, cstime: proc(5), fields 14 to 17.
      const fields = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .slice(11, 15);
      return fields.reduce((total, field) => total + Number(field), sum);
    } catch {
      return sum;
    }
  }, 0);
  return ticks / TICKS_PER_SECOND;
}

/** The figure once it has stopped moving: five readings in a row, one second apart, within 1 %. */
export async function settledResident(pid: number): Promise<number> {
  const recent: number[] = [];
  for (let reading = 0; reading < 60; reading += 1) {
    recent.push(residentOfTree(pid));
    const last = recent.slice(-5);
    if (last.length === 5 && Math.max(...last) - Math.min(...last) < Math.max(...last) / 100) return last[4] ?? 0;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
  throw new Error('The memory of the platform does not settle.');
}
