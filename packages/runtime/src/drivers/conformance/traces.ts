// Looks for what a workload may have left on this machine: processes, mounts, control groups, sockets, files.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { descendants } from '../../testing/processes.ts';
import { identify } from '../process/process-tree.ts';

export interface Standing {
  readonly descriptors: number;
  readonly files: readonly string[];
  /** Everything that names one of the words. */
  readonly named: readonly string[];
  /** Processes below this one. */
  readonly children: number;
}

/** @param words The data folder and the installations. */
export function lookAround(folder: string, words: readonly string[]): Standing {
  return {
    descriptors: readdirSync('/proc/self/fd').length,
    files: readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort(),
    named: [
      ...processes(words),
      ...lines('/proc/self/mountinfo', words),
      ...lines('/proc/net/unix', words),
      ...groups(words),
    ],
    children: descendants(process.pid).filter((one) => one.alive()).length,
  };
}

function lines(file: string, words: readonly string[]): string[] {
  return read(file)
    .split('\n')
    .filter((line) => words.some((word) => line.includes(word)))
    .map((line) => `${file}: ${line}`);
}

/** Other processes whose command, control group, mounts or working folder name one of the words. */
function processes(words: readonly string[]): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    // A dead one that nobody has collected yet runs no more.
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid || identify(Number(pid)) === undefined) return [];
    const file = ['cmdline', 'cgroup', 'mountinfo'].find((name) => {
      const text = read(`/proc/${pid}/${name}`);
      return words.some((word) => text.includes(word));
    });
    return file === undefined ? [] : [`process ${pid} (${read(`/proc/${pid}/comm`).trim()}), named in its ${file}`];
  });
}

function groups(words: readonly string[]): string[] {
  const found: string[] = [];
  const walk = (folder: string) => {
    for (const entry of entries(folder)) {
      const path = join(folder, entry);
      if (words.some((word) => entry.includes(word))) found.push(`control group ${path}`);
      walk(path);
    }
  };
  walk('/sys/fs/cgroup');
  return found;
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch {
    return []; // removed meanwhile
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return ''; // ended meanwhile, or not ours to read
  }
}

/** What the descriptors of this process lead to, for the message of a failure. */
export function descriptorTargets(): string[] {
  return readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      return [readlinkSync(`/proc/self/fd/${name}`)];
    } catch {
      return [];
    }
  });
}
