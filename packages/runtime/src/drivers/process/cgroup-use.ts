// Reads the resource use of a control group from the files of version 1 and 2, with their units.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Controller } from './cgroup-places.ts';

/** `null` where no hierarchy in use keeps that account. */
export interface CgroupUse {
  readonly cpuMilliseconds: number | null;
  /** Without caches of files that the kernel would give up first. */
  readonly memoryBytes: number | null;
  /** Caches of files included. Version 2 has it since Linux 5.19. */
  readonly memoryPeakBytes: number | null;
}

/** One sandbox's folder in one hierarchy. */
export interface CgroupFolder {
  readonly version: 1 | 2;
  readonly controllers: readonly Controller[];
  readonly folder: string;
}

export function readCgroupUse(folders: readonly CgroupFolder[]): CgroupUse {
  const memory = folders.find((one) => one.controllers.includes('memory'));
  return {
    cpuMilliseconds: cpuMilliseconds(folders),
    memoryBytes: memory === undefined ? null : memoryBytes(memory),
    memoryPeakBytes: memory === undefined ? null : memoryPeakBytes(memory),
  };
}

function cpuMilliseconds(folders: readonly CgroupFolder[]): number | null {
  for (const { version, folder } of folders) {
    // Version 2 counts time in every group, whether or not it limits it; version 1 where `cpuacct` is mounted along.
    const microseconds =
      version === 2 ? field(folder, 'cpu.stat', 'usage_usec') : thousandth(number(folder, 'cpuacct.usage'));
    if (microseconds !== null) return Math.round(microseconds / 1_000);
  }
  return null;
}

function memoryBytes({ version, folder }: CgroupFolder): number | null {
  const all = number(folder, version === 1 ? 'memory.usage_in_bytes' : 'memory.current');
  const cache = field(folder, 'memory.stat', version === 1 ? 'total_inactive_file' : 'inactive_file');
  return all === null ? null : Math.max(0, all - (cache ?? 0));
}

function memoryPeakBytes({ version, folder }: CgroupFolder): number | null {
  return number(folder, version === 1 ? 'memory.max_usage_in_bytes' : 'memory.peak');
}

function thousandth(value: number | null): number | null {
  return value === null ? null : value / 1_000;
}

function number(folder: string, file: string): number | null {
  const text = read(folder, file);
  return /^\d+\s*$/.test(text) ? Number(text) : null;
}

function field(folder: string, file: string, name: string): number | null {
  const line = read(folder, file)
    .split('\n')
    .find((text) => text.startsWith(`${name} `));
  return line === undefined ? null : Number(line.slice(name.length + 1));
}

function read(folder: string, file: string): string {
  try {
    return readFileSync(join(folder, file), 'latin1');
  } catch {
    return ''; // not on this kernel, or the group has ended
  }
}
