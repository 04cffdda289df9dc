// What the Runtime asks of whatever runs a workload: a process sandbox, a container engine, a virtual machine monitor.
// test-support/conformance/ holds the behaviours that every one of them must show with real workloads.
import type { Readable } from 'node:stream';
import type { WorkloadManifest } from '@platform/contract';
import type { GatewayHooks, GatewayPlace, GatewaySettings, RunningGateway } from '../gateway-port.ts';
import type { Exit } from './exit-reason.ts';

export const driverNames = ['process', 'docker', 'microvm'] as const;
export type DriverName = (typeof driverNames)[number];

/** What enforces a limit on this machine, in a word (`cgroup`, `rlimit`, `ext4`, `vm`); `false` where nothing does. */
export type Enforcement = string | false;

export interface DriverReport {
  readonly driver: DriverName;
  /** Whether workloads can be confined here, found out by confining one. */
  readonly ok: boolean;
  /** Runtimes of backends that it can run. Default: `node` only. */
  readonly runtimes?: readonly WorkloadManifest['runtime'][];
  /** What confines them, for a person: `bubblewrap`, `dockerd 20.10.24`, `QEMU 7.2 with KVM`. */
  readonly mechanism: string;
  readonly limits: {
    readonly memory: Enforcement;
    readonly cpus: Enforcement;
    readonly pids: Enforcement;
  };
  /** What is wrong, or weaker than it could be, each with what to do. */
  readonly reasons: readonly string[];
  /** Why no workload can be given `network.public` here, in one sentence with what to do; undefined where it can. */
  readonly noInternet?: string;
}

/** What a workload may reach beyond its Gateway: without either of the two nothing, not even a name server. */
export interface NetworkPolicy {
  /** `network.public`: publicly routable IPv4 addresses, as contract's `publicRanges` names them. */
  readonly public: boolean;
  /** `runtime.network-tunnel`: NET_ADMIN in its own network and `/dev/net/tun`; for the docker driver only. */
  readonly tunnel: boolean;
}

/** A UDP port of this machine and the port inside to which its datagrams go. */
export interface UdpBinding {
  /** As in the manifest's `publicPorts`. */
  readonly name: string;
  /** IPv4 address of this machine on which it is open. */
  readonly hostAddress: string;
  readonly hostPort: number;
  readonly containerPort: number;
}

/** One workload to be run, with everything it will be given. */
export interface WorkloadSpec {
  /** Names whatever the driver makes for it; at most 64 characters of `[a-z0-9-]`. */
  readonly installationId: string;
  readonly manifest: WorkloadManifest;
  /** The package's `workload/` folder on this machine, readable by everyone. */
  readonly app: string;
  /** Folder of its volume on this machine, owned by `uid`. */
  readonly volume?: string;
  /** As root: the user that belongs to this installation alone. */
  readonly uid?: number;
  /**
   * In effect before the workload runs its first code. What cannot be granted is left out and listed by `shortfalls`.
   */
  readonly network: NetworkPolicy;
  /** The whole environment but PLATFORM_API_URL, which only the driver knows. */
  environment(inside: InsidePlaces): Readonly<Record<string, string>>;
  /** What it is started with, as a hash: a later Runtime takes over what still runs with the same. */
  readonly fingerprint: string;
  /** Opens its Gateway in this process. The workload runs no code before this has resolved. */
  openGateway(place: GatewayPlace): Promise<RunningGateway>;
  /**
   * For a driver whose Gateways run elsewhere: their settings. Requests new credentials from core, so once per start.
   */
  gatewaySettings(): Promise<GatewaySettings>;
  /** What its Gateway says; part of the settings too, but to be had without new credentials. */
  readonly gatewayHooks: GatewayHooks;
  /** Gives up the start and ends what has begun. */
  readonly abort: AbortSignal;
}

/** Where a workload finds its things, as it sees them itself. */
export interface InsidePlaces {
  /** The volume's folder; undefined without a volume. */
  readonly volume: string | undefined;
  /** A folder that it may write to and that ends with it. */
  readonly temporary: string;
  /** The port it must listen on: that of the manifest, unless it shares a network with others. */
  readonly port: number;
}

/** The resource use of a workload. `null` where this machine cannot measure it, never an estimate. */
export interface ResourceUse {
  /** Processor time since its start, of all processors together. */
  readonly cpuMilliseconds: number | null;
  /** Memory that could not be taken back without hurting it: caches of files do not count. */
  readonly memoryBytes: number | null;
  /** The most it ever held, caches of files included. */
  readonly memoryPeakBytes: number | null;
  /** Bytes through its public network since its start, seen from the workload; `null` when it has none. */
  readonly publicNetwork: { readonly sentBytes: number; readonly receivedBytes: number } | null;
}

export const unknownUse: ResourceUse = {
  cpuMilliseconds: null,
  memoryBytes: null,
  memoryPeakBytes: null,
  publicNetwork: null,
};

/** A workload that was started and may not yet listen. */
export interface WorkloadInstance {
  readonly gateway: RunningGateway;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when nothing of the workload runs any more. Its Gateway and `release` are the caller's. */
  readonly exited: Promise<Exit>;
  /** Resolves when PORT accepts connections; false when the workload ended first or `signal` was aborted. */
  listening(signal: AbortSignal): Promise<boolean>;
  /** TCP ports on which the workload itself listens, to explain why it was not reached. */
  ports(): readonly number[];
  /** What it uses now. Never rejects: what cannot be read, also because it has just ended, is `null`. */
  stats(): Promise<ResourceUse>;
  /**
   * Changes the policy of the running workload. When this resolves, every packet of what was taken away is refused,
   * those of open connections too. What cannot be given is left out. Calls do not overlap.
   * @throws Error when what was taken away may still be reachable: the caller must end the workload.
   */
  applyNetworkPolicy(policy: NetworkPolicy): Promise<void>;
  /**
   * Makes exactly these UDP ports reach the workload, and closes all others. They carry datagrams in and the answers
   * to their senders back, and allow nothing else. Calls do not overlap.
   * @returns by name, those that could not be opened, each with the reason for a person
   */
  publishUdp(bindings: readonly UdpBinding[]): Promise<ReadonlyMap<string, string>>;
  /** What was granted and cannot be given on this machine, UDP ports aside: for each one sentence with the reason. */
  shortfalls(): readonly string[];
  /** SIGTERM, then the end of everything in it after `graceMilliseconds`. */
  stop(graceMilliseconds: number): Promise<Exit>;
  /** Gives back what it held of this process. Call after the exit, when the Gateway is closed. */
  release(): void;
}

/** A workload that outlived the Runtime that started it. */
export interface Survivor {
  readonly installationId: string;
  /** `WorkloadSpec.fingerprint` of its start. */
  readonly fingerprint: string;
}

export interface Driver {
  readonly report: DriverReport;
  /**
   * It keeps volumes of its own, limited by `diskMiB`, in files whose names begin with the path in `spec.volume`;
   * nothing stands at that path. Default: the Runtime has a folder of that size there.
   */
  readonly makesVolumes?: true;
  /**
   * Its workloads are rebuilt when raw object storage is granted or revoked, since nothing of a machine that runs can
   * be given or taken (specification 3). Default: they run on.
   */
  readonly rebuildsForObjectStorage?: true;
  /**
   * What still runs for this data folder from an earlier Runtime, after the rest of it has been cleared away. Asked
   * once, before the first start. Empty where the kernel ends workloads together with the Runtime.
   */
  list(): Promise<readonly Survivor[]>;
  /**
   * Takes a survivor over, which notices nothing. Its credentials stay as they are: `spec` gives none. Its network
   * becomes that of `spec`, whatever it was.
   * Undefined when it cannot be taken over; then it is there to be destroyed.
   */
  adopt(survivor: Survivor, spec: WorkloadSpec): Promise<WorkloadInstance | undefined>;
  /** Ends a survivor, with everything that was made for it. */
  destroy(survivor: Survivor): Promise<void>;
  /**
   * Gets from elsewhere what a start needs and this machine lacks: an image of a registry. It may take minutes, and
   * takes little of this machine, so that it comes before the start has its turn. Default: there is nothing to get.
   * @throws like `start`
   */
  prepare?(workload: Pick<WorkloadSpec, 'app' | 'manifest' | 'abort'>): Promise<void>;
  /**
   * Starts a workload; it may not yet listen when this resolves.
   * @throws StartRefused when no attempt can succeed; LaunchError and others when a later one may.
   */
  start(spec: WorkloadSpec): Promise<WorkloadInstance>;
  /** Limits of a manifest that it does not enforce here, one sentence each, but for a volume that the Runtime makes. */
  unenforced(manifest: WorkloadManifest): string[];
  /**
   * The Runtime is about to end. From now on nothing waits long for something that is away: stops, starts and `close`
   * settle within seconds, and what could not be removed is logged and left to the next Runtime. Called once, before
   * the last stops. Default: nothing that this driver needs can be away.
   */
  leave?(): void;
  /** Ends the driver. Every instance has been stopped before. */
  close(): Promise<void>;
}

/** Starting again would not help. The message is one sentence for a person. */
export class StartRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'StartRefused';
  }
}

/** The workload could not be started now. The message is for a person; `detail` is for the operator's log only. */
export class LaunchError extends Error {
  readonly detail: string;
  constructor(message: string, detail: string) {
    super(message);
    this.name = 'LaunchError';
    this.detail = detail;
  }
}
