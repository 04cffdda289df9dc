// Finds the host programs that build sandboxes.
import { spawnSync } from 'node:child_process';
import { findProgram, isProgram } from '../../find-program.ts';
import { inside } from './layout.ts';
import { perlLoader, prctlNumber } from './seccomp.ts';

export interface Tools {
  /** Bubblewrap of a version that is good enough (0.8: sized tmpfs, no further user namespaces). */
  readonly bubblewrap: string | undefined;
  readonly unshare: string | undefined;
  readonly setpriv: string | undefined;
  readonly prlimit: string | undefined;
  /** Command in front of a workload that loads the system call filter, where bubblewrap does not do it. */
  readonly filterLoader: readonly string[];
}

const MINIMUM_BUBBLEWRAP = [0, 8] as const;
export function findTools(): Tools {
  const setpriv = findProgram('setpriv');
  return {
    bubblewrap: goodBubblewrap(findProgram('bwrap')),
    unshare: findProgram('unshare'),
    setpriv,
    prlimit: findProgram('prlimit'),
    filterLoader: filterLoader(setpriv),
  };
}

function goodBubblewrap(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  const [major = 0, minor = 0] = /(\d+)\.(\d+)/.exec(output(path, '--version'))?.slice(1).map(Number) ?? [];
  const [wantedMajor, wantedMinor] = MINIMUM_BUBBLEWRAP;
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor) ? path : undefined;
}

function filterLoader(setpriv: string | undefined): string[] {
  if (setpriv !== undefined && output(setpriv, '--help').includes('--seccomp-filter')) {
    return [setpriv, '--seccomp-filter', inside.filter, '--'];
  }
  const perl = ['/usr/bin/perl', '/bin/perl'].find(isProgram);
  const number = prctlNumber[process.arch];
  return perl === undefined || number === undefined
    ? []
    : [perl, '-e', perlLoader, '--', inside.filter, String(number)];
}

function output(program: string, argument: string): string {
  return (
    spawnSync(program, [argument], { encoding: 'utf8', env: {}, stdio: ['ignore', 'pipe', 'ignore'] }).stdout ?? ''
  );
}
