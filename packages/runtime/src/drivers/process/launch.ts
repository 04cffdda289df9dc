// Starts one workload in its sandbox, connects it to its Gateway, and stops it without leaving anything behind.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import type net from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type GatewayUrls, LaunchError, type ResourceUse } from '../driver.ts';
import { describeExit, type Exit } from '../exit-reason.ts';
import type { Entry } from '../require-entry.ts';
import type { Cgroup, Cgroups, Resources } from './cgroup.ts';
import { shakeHands } from './handshake.ts';
import type { HostFiles } from './host-files.ts';
import { askWhetherListening, type InboundSocket, openInbound } from './inbound-socket.ts';
import { inheritedDescriptors } from './inherited-descriptors.ts';
import {
  type CommandLine,
  type Confinement,
  commandLine,
  filterDescriptor,
  type NetworkOwner,
  type Way,
} from './mechanism.ts';
import { listeningPorts, onlyChildChain, type ProcessIdentity, signal, treeUse } from './process-tree.ts';
import type { Tools } from './tools.ts';

export interface SandboxHost {
  readonly way: Way;
  /** Default: `sandbox`. */
  readonly networkOwner?: NetworkOwner;
  readonly tools: Tools;
  readonly files: HostFiles;
  readonly cgroups: Cgroups;
}

export interface LaunchOptions {
  /** Plain name, at most 64 characters, of this installation: control group and socket are named after it. */
  readonly key: string;
  readonly app: string;
  readonly entry: Entry;
  readonly volume?: string;
  /** Its own resolv.conf. Default: one without a name server. */
  readonly resolver?: string;
  readonly uid?: number;
  readonly resources: Resources;
  /** The TCP port on which the workload will listen. */
  readonly port: number;
  /** The workload's whole environment, except `gatewayUrls`, which are added here. */
  readonly environment: Readonly<Record<string, string>>;
  readonly gatewayUrls: GatewayUrls;
  /** The same for its object storage. Default: it has none. */
  readonly storageUrls?: GatewayUrls;
  /**
   * Serves the Gateway on a listener that lives in the sandbox's network, to which the process of the workload leads
   * too, and in user namespaces of its own the launcher. `storage` is the listener of its object storage. The workload
   * runs no code before it resolves.
   */
  readonly attachGateway: (
    listener: net.Server,
    inboundSocket: string,
    workload: ProcessIdentity | undefined,
    launcher: ProcessIdentity | undefined,
    storage: net.Server | undefined,
  ) => Promise<void>;
  /** A trusted program to confine in place of the workload, which it runs in turn: the keeper of a virtual machine. */
  readonly keeper?: Keeper;
  /** Milliseconds until the sandbox must stand. Default 15,000. */
  readonly deadline?: number;
  /** Gives up the launch and ends what has begun. */
  readonly abort?: AbortSignal;
}

export interface Keeper {
  commandLine(cgroup: Cgroup): CommandLine;
  /** Goes to it with the first message of the handshake. */
  readonly order: object;
  /** Called with its descriptor `reportDescriptor`, on which it may say more than an exit code can. */
  readonly onReport: (stream: Readable) => void;
}

export interface Sandbox {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Host process number of the workload. */
  readonly pid: number;
  /** Unix socket path that leads to the workload's PORT; valid until `release`. */
  readonly inboundSocket: string;
  readonly exited: Promise<Exit>;
  /** Resolves when PORT accepts connections; false when the workload ended first or `signal` was aborted. */
  listening(signal: AbortSignal): Promise<boolean>;
  /** TCP ports on which the workload listens, to explain why it was not reached. */
  ports(): number[];
  /** What everything in the sandbox uses now. */
  use(): ResourceUse;
  /** SIGTERM, then SIGKILL for everything in the sandbox after `graceMilliseconds`. */
  stop(graceMilliseconds: number): Promise<Exit>;
  /** Gives back what the sandbox held in the Runtime. Call after the exit, when the Gateway is closed. */
  release(): void;
}

const LARGEST_PRELUDE = 4_096;
/** Descriptor on which a keeper reports. */
export const reportDescriptor = 5;

export async function launch(host: SandboxHost, options: LaunchOptions): Promise<Sandbox> {
  const cgroup = host.cgroups.create(options.key, options.resources);
  let inbound: InboundSocket | undefined;
  let child: ChildProcess | undefined;
  try {
    inbound = await openInbound(join(host.files.run, `${options.key}.sock`));
    child = start(host, options, cgroup);
    return await connect(host, options, cgroup, inbound, child);
  } catch (error) {
    if (child !== undefined) await end(child);
    await cgroup.remove();
    inbound?.discard();
    throw error;
  }
}

function start(host: SandboxHost, options: LaunchOptions, cgroup: Cgroup): ChildProcess {
  const confinement: Confinement = {
    app: options.app,
    entry: options.entry,
    ...(options.volume === undefined ? {} : { volume: options.volume }),
    ...(options.resolver === undefined ? {} : { resolver: options.resolver }),
    ...(options.uid === undefined ? {} : { uid: options.uid }),
    memoryMiB: options.resources.memoryMiB,
    pids: options.resources.pids,
  };
  const line =
    options.keeper?.commandLine(cgroup) ??
    commandLine(host.way, confinement, { ...host, pidsEnforced: host.cgroups.enforced.has('pids') }, cgroup);
  const opened: number[] = [];
  const open = (path: string) => {
    const descriptor = openSync(path, 'r');
    opened.push(descriptor);
    return descriptor;
  };
  try {
    const stdio: Array<'ignore' | 'pipe' | 'ipc' | number> = ['ignore', 'pipe', 'pipe', 'ipc'];
    if (line.needsFilter && host.files.filter !== undefined) stdio[filterDescriptor] = open(host.files.filter);
    if (options.keeper !== undefined) stdio[reportDescriptor] = 'pipe';
    for (const descriptor of inheritedDescriptors()) stdio[descriptor] ??= open('/dev/null');
    return spawn(line.program, line.arguments, {
      stdio: Array.from(stdio, (entry) => entry ?? 'ignore'),
      env: line.environment,
      cwd: '/',
      // A session of its own: no terminal to write into, no Ctrl-C meant for the platform.
      detached: true,
    });
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

async function connect(
  host: SandboxHost,
  options: LaunchOptions,
  cgroup: Cgroup,
  inbound: InboundSocket,
  child: ChildProcess,
): Promise<Sandbox> {
  const exit = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.once('exit', (code, name) => resolve({ code, signal: name }));
  });
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('The launcher has no output.');
  const reports = child.stdio.at(reportDescriptor);
  if (reports instanceof Readable) options.keeper?.onReport(reports);
  const prelude = listenToPrelude(stderr);
  let chain: readonly ProcessIdentity[];
  try {
    chain = await shakeHands(host.way, options, inbound, child, exit);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new LaunchError('The sandbox could not be created on this machine.', `${message} ${prelude.text()}`.trim());
  } finally {
    prelude.stop();
  }
  inbound.server.close();
  return running({ way: host.way, options, cgroup, inbound, child, chain, exit, stdout, stderr });
}

/** What launchers say before the workload runs, for the operator's log. */
function listenToPrelude(stderr: Readable): { text(): string; stop(): void } {
  let text = '';
  const listen = (chunk: Buffer) => {
    if (text.length < LARGEST_PRELUDE) text += chunk.toString('utf8');
  };
  stderr.on('data', listen);
  return {
    text: () => text.slice(0, LARGEST_PRELUDE),
    stop() {
      stderr.off('data', listen);
      stderr.pause();
    },
  };
}

interface Parts {
  readonly way: Way;
  readonly options: LaunchOptions;
  readonly cgroup: Cgroup;
  readonly inbound: InboundSocket;
  readonly child: ChildProcess;
  readonly chain: readonly ProcessIdentity[];
  readonly exit: Promise<{ code: number | null; signal: string | null }>;
  readonly stdout: Readable;
  readonly stderr: Readable;
}

function running(parts: Parts): Sandbox {
  const { child, chain, cgroup, inbound, options } = parts;
  const workload = chain.at(-1);
  const kill = () => {
    // The launcher first, so that its exit status is the real one; then the first process of the namespace, in case it
    // survived the launcher. Its end kills all others.
    for (const identity of chain.slice(0, 2)) signal(identity, 'SIGKILL');
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  };
  const exited = parts.exit.then(async ({ code, signal: name }) => {
    kill();
    // Without a process namespace the group is all that holds the workload's own children.
    if (parts.way === 'none') killGroup(child.pid);
    const memoryKills = cgroup.memoryKills();
    const processRefusals = cgroup.processRefusals();
    await cgroup.remove();
    const { resources, entry } = options;
    return describeExit(code, name, memoryKills, { ...resources, runtime: entry.runtime }, processRefusals);
  });
  // Callers that await it get the error; without one it must not be an unhandled rejection.
  exited.catch(() => undefined);
  return {
    stdout: parts.stdout,
    stderr: parts.stderr,
    pid: workload?.pid ?? child.pid ?? 0,
    inboundSocket: inbound.path,
    exited,
    listening: (abort) => askWhetherListening(inbound.path, abort),
    ports: () => (workload === undefined ? [] : listeningPorts(workload.pid)),
    use: () => resourceUse(cgroup, child.pid),
    async stop(graceMilliseconds) {
      if (workload === undefined || !signal(workload, 'SIGTERM')) kill();
      const timer = setTimeout(kill, graceMilliseconds);
      try {
        return await exited;
      } finally {
        clearTimeout(timer);
      }
    },
    release: () => inbound.discard(),
  };
}

/** The kernel's own account where it keeps one for the sandbox, else what its processes say. */
function resourceUse(cgroup: Cgroup, pid: number | undefined): ResourceUse {
  const counted = cgroup.use();
  const tree =
    pid === undefined || (counted.cpuMilliseconds !== null && counted.memoryBytes !== null) ? null : treeUse(pid);
  return {
    cpuMilliseconds: counted.cpuMilliseconds ?? tree?.cpuMilliseconds ?? null,
    memoryBytes: counted.memoryBytes ?? tree?.memoryBytes ?? null,
    memoryPeakBytes: counted.memoryPeakBytes,
    publicNetwork: null,
  };
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // nothing of the group is left
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  const chain = onlyChildChain(child.pid);
  for (const identity of chain.slice(1)) signal(identity, 'SIGKILL');
  child.kill('SIGKILL');
  killGroup(child.pid);
  await gone;
}
