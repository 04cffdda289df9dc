// Looks for what a workload may have left on this machine: processes, mounts, control groups, sockets, files.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { identify } from '../../src/drivers/process/process-tree.ts';
import { descendants } from '../processes.ts';

/** Each in a few words that can stand in the message of a failure. */
export interface Standing {
  /** What the descriptors of this process lead to. */
  readonly descriptors: readonly string[];
  readonly files: readonly string[];
  /** Everything that names one of the words. */
  readonly named: readonly string[];
  /** Processes below this one. */
  readonly children: readonly string[];
}

/** @param words The data folder and the installations. */
export function lookAround(folder: string, words: readonly string[]): Standing {
  return {
    descriptors: descriptorTargets(),
    files: readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort(),
    named: [
      ...processes(words),
      ...entriesOf('/proc/self/mountinfo', 'mount', words),
      ...entriesOf('/proc/net/unix', 'socket', words),
      ...groups(words),
    ],
    children: descendants(process.pid)
      .filter((one) => one.alive())
      .map(({ pid }) => processText(pid)),
  };
}

/** What is there now and was not before: of two lists that may hold the same more than once. */
export function added(now: readonly string[], before: readonly string[]): string[] {
  const known = [...before];
  return now.filter((one) => {
    const at = known.indexOf(one);
    if (at >= 0) known.splice(at, 1);
    return at < 0;
  });
}

/** Of each line that names one of the words, the fields that do. */
function entriesOf(file: string, kind: string, words: readonly string[]): string[] {
  const isNamed = (text: string) => words.some((word) => text.includes(word));
  return read(file)
    .split('\n')
    .filter(isNamed)
    .map((line) => `${kind} ${line.split(' ').filter(isNamed).join(' ')}`);
}

function processText(pid: number | string): string {
  return `process ${pid} (${read(`/proc/${pid}/comm`).trim()})`;
}

/** Other processes whose command, control group, mounts or working folder name one of the words. */
function processes(words: readonly string[]): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    // A zombie runs no more.
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid || identify(Number(pid)) === undefined) return [];
    const file = ['cmdline', 'cgroup', 'mountinfo'].find((name) => {
      const text = read(`/proc/${pid}/${name}`);
      return words.some((word) => (name === 'mountinfo' ? isMountedIn(text, word) : text.includes(word)));
    });
    return file === undefined ? [] : [`${processText(pid)}, named in its ${file}`];
  });
}

/**
 * Whether something that the word names is mounted elsewhere, as in a sandbox. At its own path it is in every copy of
 * this machine's mounts too, and any process of anybody that begins a mount namespace of its own has one for a moment.
 */
function isMountedIn(mounts: string, word: string): boolean {
  return mounts.split('\n').some((line) => line.includes(word) && line.split(' ')[4]?.includes(word) === false);
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

function descriptorTargets(): string[] {
  return readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      return [readlinkSync(`/proc/self/fd/${name}`)];
    } catch {
      return []; // that of the listing itself
    }
  });
}
