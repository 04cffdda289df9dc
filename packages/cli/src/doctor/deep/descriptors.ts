// How many files and connections the running parts hold open, against how many each may: a part that is at its limit takes no
// more connections.
import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import * as path from 'node:path';
import { reasonOf } from '@platform/core/start';
import { type RunningProcess, runningProcesses } from '../../local/instance.ts';
import type { Finding } from '../finding.ts';
import type { DeepCheck } from './deep-check.ts';

const CHECK = 'descriptors';
/** Shares of the limit. */
const [FULL, MUCH] = [0.9, 0.5];
/** A request to a backend takes several at a time. */
const FEW = 1_024;

export const descriptors: DeepCheck = {
  name: 'Counting open files',
  async look({ dataDirectory }) {
    const parts = runningProcesses(dataDirectory);
    const running = parts.length > 0 ? parts : holdersOf(dataDirectory);
    const findings = running.flatMap(findingsOf);
    if (findings.length > 0 || running.length === 0) return findings;
    const counts = running.map((process) => `${process.name} ${use(process).open} of ${use(process).limit}`);
    return [{ check: CHECK, verdict: 'good', found: counts.join(', ') }];
  },
};

/** The process of a machine that joined: it holds the lock of the data folder. */
function holdersOf(dataDirectory: string): RunningProcess[] {
  const lock = path.join(realpathSync(dataDirectory), 'instance.lock');
  const others = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && name !== String(process.pid));
  return others.filter((pid) => hasOpen(pid, lock)).map((pid) => ({ name: `process ${pid}`, pid: Number(pid) }));
}

function hasOpen(pid: string, file: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((one) => readlinkSync(`/proc/${pid}/fd/${one}`) === file);
  } catch {
    // It ended, or belongs to somebody else.
    return false;
  }
}

interface DescriptorUse {
  readonly open: number;
  readonly limit: number;
}

function use({ pid }: RunningProcess): DescriptorUse {
  const limits = readFileSync(`/proc/${pid}/limits`, 'utf8');
  return { open: readdirSync(`/proc/${pid}/fd`).length, limit: limitOf(limits) };
}

/** @param limits the text of `/proc/<pid>/limits` */
export function limitOf(limits: string): number {
  const soft = /^Max open files +(\S+)/m.exec(limits)?.[1];
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft);
}

function findingsOf(process: RunningProcess): Finding[] {
  try {
    return verdictOf(process.name, use(process));
  } catch (error) {
    const found = `the open files of ${process.name} could not be counted (${reasonOf(error)})`;
    return [{ check: CHECK, verdict: 'warning', found, cure: 'Run this as root, or as the user of the platform.' }];
  }
}

const RAISE = 'Raise its limit (LimitNOFILE= of its service, or ulimit -n), and restart the platform.';

/** Nothing while it has plenty. */
export function verdictOf(name: string, { open, limit }: DescriptorUse): Finding[] {
  const found = `${name} has ${open} files and connections open, and may have ${limit}`;
  if (open >= FULL * limit) return [{ check: CHECK, verdict: 'bad', found, cure: RAISE }];
  if (open >= MUCH * limit || limit < FEW) return [{ check: CHECK, verdict: 'warning', found, cure: RAISE }];
  return [];
}
