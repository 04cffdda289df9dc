// Ends orphaned shims. containerd keeps one shim process beside each container, which ends once containerd has seen the
// container exit. If containerd is killed in between, the shim would stay for good.
import { mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { kill } from './strays.ts';

/** Replaced programs, as by an update, have a remark behind their names. */
const PROGRAM = /\/containerd-shim[\w.-]*( \(deleted\))?$/;
const LOOK_AGAIN_MS = 20;
/** A working engine ends the shim of a removed container a moment after it has reported the removal. */
const BY_ITSELF_MS = 1_000;
const LIMIT_MS = 5_000;

/**
 * Records which cell folder a container belongs to before it is started: an engine that dies may forget the
 * container, and containerd then removes its folder, so that its shim could not be attributed later.
 */
export function noteContainer(folder: string, id: string): void {
  mkdirSync(notes(folder), { recursive: true, mode: 0o700 });
  writeFileSync(join(notes(folder), id), '');
}

/**
 * Kills the shims of a cell's containers, which all have ended and are unknown to their engine, and resolves when
 * none is left.
 * @throws Error when one does not end within 5 s
 */
export async function endShims(folder: string): Promise<void> {
  const began = performance.now();
  for (;;) {
    const found = shimsOf(folder);
    if (found.length === 0) return;
    const waited = performance.now() - began;
    if (waited > LIMIT_MS) throw new Error(`The engine's shims ${found.join(', ')} do not end.`);
    if (waited > BY_ITSELF_MS) for (const pid of found) kill(pid, 'SIGKILL');
    await delay(LOOK_AGAIN_MS);
  }
}

function shimsOf(folder: string): number[] {
  const containers = new Set(noted(folder));
  if (containers.size === 0) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isShim(name) && containers.has(containerOf(name)))
    .map(Number);
}

function notes(folder: string): string {
  return join(folder, 'containers');
}

function noted(folder: string): string[] {
  try {
    return readdirSync(notes(folder));
  } catch {
    // The cell had none yet, or is gone.
    return [];
  }
}

/** Identified by its program file, which only root can run: workloads choose their own names and folders. */
function isShim(pid: string): boolean {
  try {
    return PROGRAM.test(readlinkSync(`/proc/${pid}/exe`)) && statSync(`/proc/${pid}`).uid === 0;
  } catch {
    // A thread of the kernel, or it has ended.
    return false;
  }
}

/** The id that containerd gave the shim; empty without one. */
function containerOf(pid: string): string {
  try {
    return /\0-id\0([^\0]*)/.exec(readFileSync(`/proc/${pid}/cmdline`, 'utf8'))?.[1] ?? '';
  } catch {
    // It ended while we looked.
    return '';
  }
}
