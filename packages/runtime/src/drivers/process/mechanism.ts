// Builds the command line that runs a workload confined, for each mechanism of this machine.

import { MiB } from '@platform/contract/sizes';
import { systemPath } from '../../find-program.ts';
import type { Entry } from '../require-entry.ts';
import { bubblewrapArguments } from './bubblewrap.ts';
import type { Cgroup } from './cgroup.ts';
import type { HostFiles } from './host-files.ts';
import { inside, sandboxLayout } from './layout.ts';
import type { Tools } from './tools.ts';
import { loopbackUp, unshareArguments } from './unshare.ts';

/**
 * `bubblewrap` and `unshare` make a user namespace as an unprivileged user. `unshare-as-root` makes the others as
 * root and then gives everything up, where user namespaces are forbidden. `none` is a plain process.
 */
export type Way = 'bubblewrap' | 'unshare' | 'unshare-as-root' | 'none';

/**
 * Which user namespace the network of a sandbox belongs to. `sandbox`: the one that its mechanism makes. `launcher`:
 * one around it, in which the launcher stays, so that the Runtime can act in that network and nothing inside ever can.
 * Only bubblewrap differs: it leaves no process in the namespace it makes, while `unshare` always does.
 */
export type NetworkOwner = 'sandbox' | 'launcher';

export interface Confinement {
  /** The package's `workload/` folder on the host. */
  readonly app: string;
  readonly volume?: string;
  /** Its own resolv.conf. */
  readonly resolver?: string;
  readonly entry: Entry;
  /** As root: the user of this installation. Otherwise everything runs as the caller. */
  readonly uid?: number;
  readonly memoryMiB: number;
  readonly pids: number;
}

export interface CommandLine {
  readonly program: string;
  readonly arguments: readonly string[];
  /** Environment of the launchers only; the workload gets its own from the bootstrap. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether the compiled filter must be open at `filterDescriptor`. */
  readonly needsFilter: boolean;
}

/** Descriptor of the filter in the launcher; 3 is Node's channel to its child. */
export const filterDescriptor = 4;

const LARGEST_TEMPORARY_MIB = 128;
const OPEN_FILES = 4_096;
/** Share of the memory limit that JavaScript objects may take, so that V8 collects before the kernel kills. */
const HEAP_SHARE = 0.7;
const SMALLEST_HEAP_MIB = 16;
/**
 * Beside an executable Node only bridges its connections: 10 MiB, and 3 threads instead of 7, of the limits of the workload.
 */
const BRIDGE_HEAP_MIB = 48;
const BRIDGE_OPTIONS = [`--max-old-space-size=${BRIDGE_HEAP_MIB}`, '--v8-pool-size=0', '--disable-sigusr1'];

/** Size of the private /tmp: it counts as memory of the workload, so never more than half of that. */
export function temporaryBytes(memoryMiB: number): number {
  return Math.min(LARGEST_TEMPORARY_MIB, Math.floor(memoryMiB / 2)) * MiB;
}

export function commandLine(
  way: Way,
  confinement: Confinement,
  host: {
    readonly tools: Tools;
    readonly files: HostFiles;
    readonly networkOwner?: NetworkOwner;
    readonly pidsEnforced: boolean;
  },
  cgroup: Cgroup,
): CommandLine {
  const { tools, files } = host;
  const { entry } = confinement;
  const sandboxed = way !== 'none';
  const around = way === 'bubblewrap' && host.networkOwner === 'launcher';
  const mounts = sandboxed
    ? sandboxLayout({
        shared: files,
        app: confinement.app,
        ...(confinement.volume === undefined ? {} : { volume: confinement.volume }),
        ...(confinement.resolver === undefined ? {} : { resolver: confinement.resolver }),
        temporaryBytes: temporaryBytes(confinement.memoryMiB),
      })
    : [];
  const node = [
    sandboxed ? inside.node : files.node,
    ...nodeOptions(entry.runtime, confinement.memoryMiB),
    '--import',
    sandboxed ? inside.bootstrap : files.bootstrap,
    ...(entry.runtime === 'binary' ? [sandboxed ? inside.runner : files.runner, ...alone(way, tools)] : []),
    `${sandboxed ? inside.app : confinement.app}/${entry.path}`,
  ];
  // Inside a user namespace the kernel counts the processes of that namespace only. Outside of one it counts all that
  // belong to the user, so only a user of the workload's own may be counted, never the one who runs the platform.
  const countable = sandboxed || confinement.uid !== undefined;
  const counted =
    tools.prlimit === undefined || host.pidsEnforced || !countable
      ? node
      : [tools.prlimit, `--nproc=${confinement.pids}`, '--', ...node];
  const confined = {
    bubblewrap: () =>
      bubblewrapArguments({
        program: tools.bubblewrap ?? 'bwrap',
        mounts,
        network: around ? 'the one it is started in' : 'its own',
        ...(files.filter === undefined ? {} : { seccompDescriptor: filterDescriptor }),
        command: counted,
      }),
    unshare: () =>
      unshareArguments({
        mounts,
        stage: files.stage,
        privilege: { kind: 'user-namespace' },
        filterLoader: filterLoader(host),
        command: counted,
      }),
    'unshare-as-root': () =>
      unshareArguments({
        mounts,
        stage: files.stage,
        privilege: { kind: 'root', uid: confinement.uid ?? 65_534 },
        filterLoader: filterLoader(host),
        command: counted,
      }),
    none: () =>
      tools.setpriv === undefined
        ? counted
        : [tools.setpriv, '--no-new-privs', '--pdeathsig', 'KILL', '--', ...counted],
  }[way]();
  const [program = '/bin/sh', ...rest] = [
    ...enter(cgroup),
    ...(way === 'unshare-as-root' ? [] : becomeUser(tools, confinement.uid)),
    ...boundResources(tools),
    ...(around ? networkAround(tools) : []),
    ...confined,
  ];
  return {
    program,
    arguments: rest,
    environment: { PATH: systemPath, LANG: 'C.UTF-8', PLATFORM_BOOTSTRAP: '1' },
    needsFilter: way === 'bubblewrap' && files.filter !== undefined,
  };
}

/** In front of an executable that nothing else would end with the process beside it. */
function alone(way: Way, { setpriv }: Tools): string[] {
  return way === 'none' && setpriv !== undefined ? [setpriv, '--pdeathsig', 'KILL', '--'] : [];
}

/** For the process of a script, or for the one beside an executable. */
export function nodeOptions(runtime: Entry['runtime'], memoryMiB: number): readonly string[] {
  if (runtime === 'binary') return BRIDGE_OPTIONS;
  return [`--max-old-space-size=${Math.max(SMALLEST_HEAP_MIB, Math.floor(memoryMiB * HEAP_SHARE))}`];
}

export function filterLoader(host: { readonly tools: Tools; readonly files: HostFiles }): readonly string[] {
  return host.files.filter === undefined ? [] : host.tools.filterLoader;
}

/**
 * The limits hold from the first instruction: the launcher enters the control group before it becomes anything else.
 */
export function enter(cgroup: Cgroup): string[] {
  if (cgroup.entrances.length === 0) return [];
  const script = 'while [ "$1" != -- ]; do echo 0 > "$1"; shift; done; shift; exec "$@"';
  return ['/bin/sh', '-euc', script, 'enter', ...cgroup.entrances, '--'];
}

/** Before the user namespace is made, so that it can never map to root of the host. */
function becomeUser(tools: Tools, uid: number | undefined): string[] {
  if (uid === undefined) return [];
  return [tools.setpriv ?? 'setpriv', '--reuid', String(uid), '--regid', String(uid), '--clear-groups', '--'];
}

/** A user namespace with a network of its own, in which the next program begins with all rights over that network. */
function networkAround(tools: Tools): string[] {
  const script = `${loopbackUp}\nexec "$@"`;
  return [tools.unshare ?? 'unshare', '--user', '--map-root-user', '--net', '--', '/bin/sh', '-euc', script, 'network'];
}

export function boundResources(tools: Tools): string[] {
  return tools.prlimit === undefined ? [] : [tools.prlimit, '--core=0', `--nofile=${OPEN_FILES}`, '--'];
}
