// Says in one sentence why a workload ended.

import type { WorkloadManifest } from '@platform/contract';
import { MiB, sizeText } from '@platform/contract/sizes';

export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
  /** One sentence for a person. */
  readonly reason: string;
}

/**
 * @param memoryKills Times the kernel killed something in the sandbox for want of memory.
 * @param processRefusals Times the kernel refused it a process beyond `resources.pids`.
 */
export function describeExit(
  code: number | null,
  signalName: string | null,
  memoryKills: number,
  resources: {
    readonly memoryMiB: number;
    readonly pids?: number;
    readonly runtime: WorkloadManifest['runtime'];
  },
  processRefusals = 0,
): Exit {
  // Launchers report a signal that ended the workload as 128 + its number.
  const name = signalName ?? (code !== null && code > 128 ? signalOf(code - 128) : null);
  if (memoryKills > 0 && code !== 0) {
    return {
      code,
      signal: name,
      reason: `Exceeded its memory limit of ${sizeText(resources.memoryMiB * MiB)} and was killed.`,
    };
  }
  if (name === 'SIGABRT' && resources.runtime === 'node') {
    return {
      code,
      signal: name,
      reason: `Killed by SIGABRT, usually because JavaScript ran out of memory (limit ${sizeText(resources.memoryMiB * MiB)}).`,
    };
  }
  if (name !== null) return { code, signal: name, reason: `Killed by ${name}.` };
  const refused = processRefusals > 0 && code !== 0 && resources.pids !== undefined;
  const cause = refused ? ` after reaching its limit of ${resources.pids} processes` : '';
  return {
    code,
    signal: null,
    reason: `Exited with code ${code}${cause}.`,
  };
}

const SIGNALS: Readonly<Record<number, string>> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  3: 'SIGQUIT',
  4: 'SIGILL',
  5: 'SIGTRAP',
  6: 'SIGABRT',
  7: 'SIGBUS',
  8: 'SIGFPE',
  9: 'SIGKILL',
  11: 'SIGSEGV',
  13: 'SIGPIPE',
  14: 'SIGALRM',
  15: 'SIGTERM',
  24: 'SIGXCPU',
  25: 'SIGXFSZ',
  31: 'SIGSYS',
};

function signalOf(number: number): string {
  return SIGNALS[number] ?? `signal ${number}`;
}
