// The driver interface: what the Runtime requires of a process sandbox, a container engine or a virtual machine
// monitor. test-support/conformance/ tests every driver with real workloads.
import type { Readable } from 'node:stream';
import type { WorkloadManifest } from '@platform/contract';
import type { GatewayHooks, GatewayPlace, GatewaySettings, RunningGateway } from '../gateway-port.ts';
import type { Exit } from './exit-reason.ts';

export const driverNames = ['process', 'docker', 'microvm'] as const;
export type DriverName = (typeof driverNames)[number];

/** The mechanism that enforces a limit on this machine (`cgroup`, `rlimit`, `ext4`, `vm`); `false` where none does. */
export type Enforcement = string | false;

export interface DriverReport {
  readonly driver: DriverName;
  /** Whether workloads can be confined here, tested with a trial workload. */
  readonly ok: boolean;
  /** Manifest runtimes that the driver can run. Default: `node` only. */
  readonly runtimes?: readonly WorkloadManifest['runtime'][];
  /** The sandbox and its version, for people: `bubblewrap`, `dockerd 20.10.24`, `QEMU 7.2 with KVM`. */
  readonly mechanism: string;
  readonly limits: {
    readonly memory: Enforcement;
    readonly cpus: Enforcement;
    readonly pids: Enforcement;
    /** Memory of the kernel's buffers of connections. */
    readonly sockets: Enforcement;
  };
  /** What is missing or weaker than possible, one sentence each with what to do. */
  readonly reasons: readonly string[];
  /** Why `network.public` is unavailable here, in one sentence with what to do; undefined where it is available. */
  readonly noInternet?: string;
}

/** What a workload may reach besides its Gateway. With neither grant: nothing, not even a name server. */
export interface NetworkPolicy {
  /** `network.public`: publicly routable IPv4 addresses, as contract's `publicRanges` names them. */
  readonly public: boolean;
  /**
   * `runtime.network-tunnel`: CAP_NET_ADMIN over a network that belongs to it, and `/dev/net/tun`. The docker driver alone
   * provides it.
   */
  readonly tunnel: boolean;
}

/** A UDP port of this machine and the workload's port that receives its datagrams. */
export interface UdpBinding {
  /** As in the manifest's `publicPorts`. */
  readonly name: string;
  /** IPv4 address of this machine on which it is open. */
  readonly hostAddress: string;
  readonly hostPort: number;
  readonly containerPort: number;
}

/** Variables that hold the address of the Gateway, and the path that follows it in each: PLATFORM_API_URL has none. */
export type GatewayUrls = Readonly<Record<string, string>>;

/** A workload to start, with everything it receives. */
export interface WorkloadSpec {
  /** Part of the names of everything that the driver creates for it; at most 64 characters of `[a-z0-9-]`. */
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
  /** All environment variables except `gatewayUrls`. */
  environment(inside: InsidePlaces): Readonly<Record<string, string>>;
  /** Added by the driver: the address is known only when the sandbox stands. */
  readonly gatewayUrls: GatewayUrls;
  /** The same for its object storage, which has an origin of its own; empty: it has none. */
  readonly storageUrls: GatewayUrls;
  /** A hash of everything the start depends on: a later Runtime adopts a survivor only if it is equal. */
  readonly fingerprint: string;
  /** Opens its Gateway in this process. The workload runs no code before this has resolved. */
  openGateway(place: GatewayPlace): Promise<RunningGateway>;
  /**
   * For a driver whose Gateways run elsewhere: their settings. Requests new credentials from core, so once per start.
   */
  gatewaySettings(): Promise<GatewaySettings>;
  /**
   * Called by a driver that unpacks an image for it, with the bytes that the image takes on this machine, before it
   * takes them; what it throws is the outcome of the start.
   */
  claimImage(bytes: number): Promise<void>;
  /** Callbacks of its Gateway. Also part of the settings, but available without new credentials. */
  readonly gatewayHooks: GatewayHooks;
  /** Aborts the start and ends everything it began. */
  readonly abort: AbortSignal;
}

/** Paths and port as the workload sees them. */
export interface InsidePlaces {
  /** The volume's folder; undefined without a volume. */
  readonly volume: string | undefined;
  /** A writable folder that is deleted with the workload. */
  readonly temporary: string;
  /** The port it must listen on: the manifest's, or another where workloads share a network. */
  readonly port: number;
}

/** The resource use of a workload. `null` where this machine cannot measure it, never an estimate. */
export interface ResourceUse {
  /** CPU time since its start, summed over all CPUs. */
  readonly cpuMilliseconds: number | null;
  /** Memory in use without reclaimable file cache. */
  readonly memoryBytes: number | null;
  /** Peak memory, including file cache. */
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

/** A started workload, which may not listen yet. */
export interface WorkloadInstance {
  readonly gateway: RunningGateway;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when no process of the workload runs any more. The caller closes its Gateway and calls `release`. */
  readonly exited: Promise<Exit>;
  /** Resolves when PORT accepts connections; false when the workload ended first or `signal` was aborted. */
  listening(signal: AbortSignal): Promise<boolean>;
  /** TCP ports on which the workload listens, to explain why PORT was not reached. Empty where they are unknown. */
  ports(): readonly number[];
  /** Its current resource use. Never rejects: what cannot be read, also because it has just ended, is `null`. */
  stats(): Promise<ResourceUse>;
  /**
   * Changes the policy of the running workload. When this resolves, every packet that is no longer allowed is refused,
   * also on open connections. What cannot be granted is listed by `shortfalls`. Calls do not overlap.
   * @throws Error when a revocation may not be in effect: the caller must end the workload
   */
  applyNetworkPolicy(policy: NetworkPolicy): Promise<void>;
  /**
   * Publishes exactly these UDP ports and closes all others. They carry inbound datagrams and answers to their senders,
   * nothing else. Calls do not overlap.
   * @returns the ports that could not be opened, by name, each with the reason as a sentence
   */
  publishUdp(bindings: readonly UdpBinding[]): Promise<ReadonlyMap<string, string>>;
  /** Grants that this machine cannot fulfil, UDP ports aside, as one sentence each with the reason. */
  shortfalls(): readonly string[];
  /**
   * Sends SIGTERM, and kills every process of the workload after `graceMilliseconds`. Called again, the shorter time
   * counts. Resolves with its exit.
   */
  stop(graceMilliseconds: number): Promise<Exit>;
  /** Releases its resources in this process. Call after the exit, when the Gateway is closed. */
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
   * Set by a driver that creates volumes itself, limited by `diskMiB`, in files whose names begin with the path in
   * `spec.volume`; nothing exists at that path. Default: the Runtime creates a folder of that size there.
   */
  readonly makesVolumes?: true;
  /**
   * The workloads of this data folder that outlived an earlier Runtime; all its other remains have been removed. Called
   * once, before the first start. Empty where the kernel ends workloads together with the Runtime.
   */
  list(): Promise<readonly Survivor[]>;
  /**
   * Adopts a survivor without interrupting it. Its credentials stay the same: `spec` provides none. Its network policy
   * becomes that of `spec`.
   * @returns undefined when it cannot be adopted; the caller then destroys it
   */
  adopt(survivor: Survivor, spec: WorkloadSpec): Promise<WorkloadInstance | undefined>;
  /** Ends a survivor and removes everything that was created for it. */
  destroy(survivor: Survivor): Promise<void>;
  /**
   * Downloads what a start needs and this machine lacks, such as an image of a registry. May take minutes but few
   * resources, so it runs before the start takes a slot. Default: nothing to download.
   * @throws like `start`
   */
  prepare?(workload: Pick<WorkloadSpec, 'app' | 'manifest' | 'abort' | 'claimImage'>): Promise<void>;
  /**
   * Removes what was made for workloads other than these, which are all that this machine should run, such as their
   * images. What is still in use goes with a later call. Default: the driver makes nothing that outlives a workload.
   */
  keepOnly?(workloads: readonly Pick<WorkloadSpec, 'app' | 'manifest'>[]): Promise<void>;
  /**
   * Starts a workload, which may not listen yet when this resolves.
   * @throws StartRefused when no attempt can succeed; LaunchError and others when a later one may
   */
  start(spec: WorkloadSpec): Promise<WorkloadInstance>;
  /**
   * Limits of a manifest that the driver cannot enforce here, one sentence each; without volumes that the Runtime
   * makes.
   */
  unenforced(manifest: WorkloadManifest): string[];
  /**
   * Announces the end of the Runtime. From now on stops, starts and `close` settle within seconds even if an engine is
   * unreachable; what could not be removed is logged and left to the next Runtime. Called once, before the last stops.
   * Default: the driver depends on nothing that can be unreachable.
   */
  leave?(): void;
  /** Closes the driver. The caller has stopped every instance. */
  close(): Promise<void>;
}

/** The start failed and retrying cannot help. The message is one sentence for a person. */
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
