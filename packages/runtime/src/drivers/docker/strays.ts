// Kills processes of a cell that the engine has lost. An engine that is killed during a start considers the container
// never started when it is back, and removes it without stopping its processes, which still use the volume.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const LOOK_AGAIN_MS = 20;
const LIMIT_MS = 5_000;
/** `platform-docker/<owner>/cells/<cell>`: what names a cell wherever its files are mounted from. */
const NAMING_PARTS = 4;

export interface StrayOptions {
  /** Milliseconds between SIGTERM and SIGKILL. Default: none, and no SIGTERM. */
  readonly grace?: number;
}

/**
 * Kills every process that has a file of the cell's folder mounted, which is every process in the cell, and resolves
 * when none is left. Needs root, and sees the processes of its own machine only.
 * @throws Error when one does not end within 5 s
 */
export async function endStrays(folder: string, { grace = 0 }: StrayOptions = {}): Promise<void> {
  const began = performance.now();
  let signalled = grace <= 0;
  for (;;) {
    const found = processesWithMount(folder);
    if (found.length === 0) return;
    const waited = performance.now() - began;
    if (waited > grace + LIMIT_MS) throw new Error(`Processes ${found.join(', ')} of a container do not end.`);
    if (waited >= grace) for (const pid of found) kill(pid, 'SIGKILL');
    else if (!signalled) for (const pid of found.filter(isFirstOfItsContainer)) kill(pid, 'SIGTERM');
    signalled = true;
    await delay(LOOK_AGAIN_MS);
  }
}

function processesWithMount(folder: string): number[] {
  const mark = `/${folder.split('/').slice(-NAMING_PARTS).join('/')}/`;
  // All processes of a container see the same mounts, and most processes of a machine see ours, where no cell is
  // mounted.
  const known = new Map([[mountNamespace('self'), false]]);
  const isInside = (pid: string): boolean => {
    const namespace = mountNamespace(pid);
    const inside = known.get(namespace) ?? rootsOfMounts(pid).some((root) => root.includes(mark));
    if (namespace !== undefined) known.set(namespace, inside);
    return inside;
  };
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isInside(name))
    .map(Number);
}

/** Undefined when the process has ended. */
function mountNamespace(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/mnt`);
  } catch {
    return undefined;
  }
}

/** What of its file system each mount of a process shows: proc(5), mountinfo, field 4. Nothing when it has ended. */
function rootsOfMounts(pid: string): string[] {
  try {
    const lines = readFileSync(`/proc/${pid}/mountinfo`, 'utf8').split('\n');
    return lines.map((line) => line.split(' ')[3] ?? '');
  } catch {
    return [];
  }
}

/** It forwards signals to the others, which would otherwise receive them twice. */
function isFirstOfItsContainer(pid: number): boolean {
  try {
    return /^NSpid:.*\t1$/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'));
  } catch {
    return false;
  }
}

export function kill(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}
