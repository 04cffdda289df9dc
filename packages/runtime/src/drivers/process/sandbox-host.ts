// Chooses the mechanism with which this machine confines workloads, by testing it, and explains failures.
import { statSync } from 'node:fs';
import { type DriverReport, LaunchError } from '../driver.ts';
import { causesOf } from './causes.ts';
import { type Cgroups, openCgroups, type Resources } from './cgroup.ts';
import { prepareHostFiles, removeStaleSockets } from './host-files.ts';
import { launch, type SandboxHost } from './launch.ts';
import type { NetworkOwner, Way } from './mechanism.ts';
import { findTools, type Tools } from './tools.ts';

export interface SandboxReport extends DriverReport {
  readonly driver: 'process';
  readonly mechanism: 'bubblewrap' | 'unshare' | 'none';
  /** Whether user namespaces are in use; without them everything is made as root and given up afterwards. */
  readonly userNamespaces: boolean;
  readonly cgroup: Cgroups['version'];
  readonly limits: {
    readonly memory: 'cgroup' | false;
    readonly cpus: 'cgroup' | false;
    readonly pids: 'cgroup' | 'rlimit' | false;
    readonly sockets: 'cgroup' | false;
  };
  /** Whether a system call filter is loaded. */
  readonly filter: boolean;
}

export interface ProbeOptions {
  /** Absolute path of the data folder; made if missing. */
  readonly dataDirectory: string;
  /** Plain name of this Runtime's control groups. Default: made from the data folder. */
  readonly cgroupName?: string;
  /** The caller owns the data folder, so what an earlier Runtime left behind is ended and removed. Default: false. */
  readonly owner?: boolean;
  /** Ways to try, best first. Default: bubblewrap, unshare, and as root unshare without user namespaces. */
  readonly ways?: readonly Way[];
}

/** What probe-workload.mjs prints. */
interface Observation {
  readonly uid: number;
  readonly capabilities: readonly string[];
  readonly noNewPrivileges: string;
  readonly filter: string;
  readonly writable: readonly string[];
  readonly interfaces: readonly string[];
  readonly processes: number;
}

const PROBE_RESOURCES: Resources = { memoryMiB: 256, cpus: 1, pids: 64 };
/** User of the probe as root: `nobody`. */
const PROBE_UID = 65_534;
const MAY_BE_WRITABLE = /^\/(tmp|proc|dev\/(shm|null|zero|full|random|urandom))$/;

/**
 * Runs a trivial workload in a sandbox and judges the walls from inside; gives what is needed to launch workloads
 * afterwards; `way` is `none` where nothing works.
 */
export async function openSandboxHost(options: ProbeOptions): Promise<{ host: SandboxHost; report: SandboxReport }> {
  const files = prepareHostFiles(options.dataDirectory);
  const tools = findTools();
  const cgroups = openCgroups(options.cgroupName ?? cgroupName(options.dataDirectory));
  if (options.owner === true) {
    removeStaleSockets(files.run);
    await cgroups.removeStale();
  }
  const failures: string[] = [];
  for (const way of options.ways ?? possibleWays(tools)) {
    for (const networkOwner of networkOwners(way, tools)) {
      const host: SandboxHost = { way, networkOwner, tools, files, cgroups };
      const seen = await look(host);
      if (typeof seen !== 'string') return { host, report: goodReport(host, seen) };
      failures.push(`${way}: ${seen}`);
    }
  }
  const host: SandboxHost = { way: 'none', tools, files, cgroups };
  return {
    host,
    report: badReport(host, [...causesOf(failures, { dataDirectory: options.dataDirectory, tools }), ...failures]),
  };
}

/** One name for each data folder, so that the next start finds what this one may leave behind. */
export function cgroupName(dataDirectory: string): string {
  const { dev, ino } = statSync(dataDirectory);
  return `platform-${dev.toString(36)}-${ino.toString(36)}`;
}

function possibleWays(tools: Tools): Way[] {
  const root = process.getuid?.() === 0;
  const canUnshare = tools.unshare !== undefined && tools.setpriv !== undefined;
  return [
    ...(tools.bubblewrap !== undefined && (!root || tools.setpriv !== undefined) ? (['bubblewrap'] as const) : []),
    ...(canUnshare ? (['unshare'] as const) : []),
    ...(canUnshare && root ? (['unshare-as-root'] as const) : []),
  ];
}

/** Best first. As root the Runtime can act in every network, so that none has to be made around a sandbox. */
function networkOwners(way: Way, tools: Tools): NetworkOwner[] {
  if (process.getuid?.() === 0) return ['sandbox'];
  if (way === 'unshare') return ['launcher'];
  return way === 'bubblewrap' && tools.unshare !== undefined ? ['launcher', 'sandbox'] : ['sandbox'];
}

/** What the probe workload saw, or why it did not run or the walls do not stand. */
async function look(host: SandboxHost): Promise<Observation | string> {
  let output = '';
  try {
    const sandbox = await launch(host, {
      key: `probe-${process.pid}`,
      app: host.files.probe,
      entry: { path: 'probe.mjs', runtime: 'node' },
      ...(process.getuid?.() === 0 ? { uid: PROBE_UID } : {}),
      resources: PROBE_RESOURCES,
      port: 8080,
      environment: {},
      gatewayUrls: {},
      attachGateway: async (listener) => {
        listener.close();
      },
    });
    sandbox.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
    });
    sandbox.stderr.resume();
    const ended = new Promise((resolve) => sandbox.stdout.once('close', resolve));
    const exit = await sandbox.exited;
    await ended;
    sandbox.release();
    if (exit.code !== 0) return exit.reason;
  } catch (error) {
    return error instanceof LaunchError ? error.detail : String(error);
  }
  const seen = readObservation(output);
  return seen === undefined ? 'The trial workload gave no usable answer.' : (breach(seen) ?? seen);
}

function readObservation(output: string): Observation | undefined {
  try {
    // Our own workload wrote it; a wall that stands is still judged from each member.
    return JSON.parse(output) as Observation;
  } catch {
    return undefined; // reported as "no usable answer"
  }
}

/** The first wall that does not stand, in words. */
function breach(seen: Observation): string | undefined {
  if (seen.uid === 0) return 'The trial workload ran as root.';
  if (seen.capabilities.some((set) => /[1-9a-f]/.test(set))) return 'The trial workload kept capabilities.';
  if (seen.noNewPrivileges !== '1') return 'The trial workload could have gained new privileges.';
  const writable = seen.writable.filter((place) => !MAY_BE_WRITABLE.test(place) && !place.startsWith('/proc/'));
  if (writable.length > 0) return `The trial workload could have written to ${writable.join(', ')}.`;
  if (seen.interfaces.some((name) => name !== 'lo')) return 'The trial workload saw a network of this machine.';
  if (seen.processes > 3) return 'The trial workload saw processes of this machine.';
  return undefined;
}

function goodReport(host: SandboxHost, seen: Observation): SandboxReport {
  const userNamespaces = host.way !== 'unshare-as-root';
  const filter = seen.filter === '2';
  return {
    ...baseReport(host),
    ok: true,
    mechanism: host.way === 'bubblewrap' ? 'bubblewrap' : 'unshare',
    userNamespaces,
    filter,
    reasons: [
      ...(filter
        ? []
        : ['No system call filter is loaded. Install bubblewrap 0.8 or later (Debian: apt-get install bubblewrap).']),
      ...(userNamespaces
        ? []
        : ['User namespaces are forbidden here, so sandboxes are created as root, which then drops all privileges.']),
      ...weakLimits(host.cgroups),
    ],
  };
}

function badReport(host: SandboxHost, reasons: readonly string[]): SandboxReport {
  const base = baseReport(host);
  // Without a namespace processes could be counted for a user of the workload's own only, and only root can give it
  // one.
  const pids = base.limits.pids === 'rlimit' && process.getuid?.() !== 0 ? false : base.limits.pids;
  const limits = { ...base.limits, pids };
  return { ...base, limits, ok: false, mechanism: 'none', userNamespaces: false, filter: false, reasons };
}

function baseReport(host: SandboxHost): Pick<SandboxReport, 'driver' | 'runtimes' | 'cgroup' | 'limits'> {
  const { enforced, limitsSockets, version } = host.cgroups;
  const byGroup = (name: 'memory' | 'cpu') => (enforced.has(name) ? 'cgroup' : false);
  const byProcess = host.tools.prlimit === undefined ? false : 'rlimit';
  return {
    driver: 'process',
    runtimes: ['node', 'binary'],
    cgroup: version,
    limits: {
      memory: byGroup('memory'),
      cpus: byGroup('cpu'),
      pids: enforced.has('pids') ? 'cgroup' : byProcess,
      sockets: limitsSockets ? 'cgroup' : false,
    },
  };
}

function weakLimits(cgroups: Cgroups): string[] {
  const missing = (['memory', 'cpu', 'pids'] as const).filter((name) => !cgroups.enforced.has(name));
  if (missing.length === 0) return [];
  return [
    `Limits not enforced by the kernel here: ${missing.join(', ')}. Run the platform as root, or as a systemd service with Delegate=yes.`,
  ];
}

/** In the words of a sentence about one workload. */
const LIMITED = {
  memory: 'its memory',
  cpus: 'its processor time',
  pids: 'the number of its processes',
  sockets: 'what the kernel keeps for its connections',
} as const;

/** What this machine does not limit of one workload, in plain words, for its status, and how the operator gets it limited. */
export function unenforcedLimits({ limits }: Pick<SandboxReport, 'limits'>): string[] {
  const missing = (['memory', 'cpus', 'pids', 'sockets'] as const).filter((name) => !limits[name]);
  if (missing.length === 0) return [];
  const words = new Intl.ListFormat('en', { type: 'conjunction' }).format(missing.map((name) => LIMITED[name]));
  const why = missing.every((name) => name === 'sockets')
    ? 'no control group counts it'
    : 'the platform was started by a user who may not set such limits';
  return [
    `Not limited on this machine: ${words}, because ${why}. ` +
      'The operator has them limited by starting the platform as root, or as a systemd service with Delegate=yes.',
  ];
}
