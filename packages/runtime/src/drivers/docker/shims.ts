// Ends the shims that an engine has lost. containerd keeps one process beside each container, which ends when containerd
// has heard of the container's end. One that was killed in between never asks for it, and the shim would stay for good.
import { mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { kill } from './strays.ts';

/** Replaced programs, as by an update, have a remark behind their names. */
const PROGRAM = /\/containerd-shim[\w.-]*( \(deleted\))?$/;
const LOOK_AGAIN_MS = 20;
/** An engine at work ends the shim of a container that it has removed a moment after it has said so. */
const BY_ITSELF_MS = 1_000;
const LIMIT_MS = 5_000;

/**
 * Notes that a container belongs to the cell with this folder, before it is started: an engine that dies may forget it, and
 * containerd removes the folder that it kept for it, so that nobody could tell later whose its shim is.
 */
export function noteContainer(folder: string, id: string): void {
  mkdirSync(notes(folder), { recursive: true });
  writeFileSync(join(notes(folder), id), '');
}

/**
 * Kills the shims of a cell's containers, which all have ended and are unknown to their engine, and resolves when none is
 * left.
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

/** By its program, which nobody but root can be: workloads choose their names and folders themselves. */
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
