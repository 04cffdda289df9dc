// What a Runtime is started with, and what it is once it runs.
import type { LinkKey } from '@platform/link';
import type { AgentWorker } from './agents.ts';
import type { Clock } from './clock.ts';
import type { DiskSpace } from './disk-watch.ts';
import type { DriverReport } from './drivers/driver.ts';
import type { DriverOptions } from './drivers/open-driver.ts';
import type { StartGateway } from './gateway-port.ts';
import type { NodeIrohOptions } from './listener/node-iroh.ts';
import type { NodeMetrics } from './metrics.ts';
import type { UdpPortOptions } from './network/udp-ports.ts';

/** One Runtime at a time on one data folder. */
export interface RuntimeOptions extends DriverOptions {
  /** Public UDP ports that workloads may be given. Default: none. */
  readonly udp?: UdpPortOptions;
  /** Where core listens, e.g. `http://127.0.0.1:8787`. */
  readonly coreOrigin: string;
  /** Value of the Host header core expects, e.g. `shell.platform.localhost:8787`. */
  readonly coreHost: string;
  /** What core must prove over https. Default: its certificate must be valid for `coreHost`. */
  readonly coreKey?: Buffer;
  /** `pnd_…`. Default: the first is got by a proof with the key. */
  readonly nodeCredential?: string;
  /** The identity of this node; renews its credential. Without it the given one is the only one. */
  readonly nodeKey?: LinkKey;
  /**
   * Where core reaches the control side from another machine, over TLS under `nodeKey`. Default: plain HTTP on a free
   * port of the loopback interface.
   */
  readonly control?: { readonly host: string; readonly port: number };
  /**
   * Where Ingresses on other machines reach the public side, over TLS under `nodeKey`. Default: plain HTTP on a free port of
   * the loopback interface.
   */
  readonly public?: { readonly host: string; readonly port: number };
  /**
   * Core and Ingresses reach this node over connections that it makes to them over UDP, instead of at `control` and
   * `public`. Default: they do not.
   */
  readonly iroh?: Omit<NodeIrohOptions, 'key'>;
  /** The link key of all cores of the platform, the only one that is served at `control`. Default: any key is. */
  readonly controllerKey?: Buffer;
  /** Memory in MiB that workloads may take together. Default: 80 % of what the machine or its container has. */
  readonly memoryMiB?: number;
  /** Folder for volumes that this node shares with others. */
  readonly sharedVolumes?: string;
  /** Called when core does not know this node any more; all workloads are being stopped. */
  readonly onRemoved?: () => void;
  /** Milliseconds since some moment, going on while the machine sleeps. Default: since the machine started. */
  readonly uptime?: () => number;
  /** Where browsers reach backends, e.g. `http://node.platform.localhost:8788`. */
  readonly nodeOrigin: string;
  /** They cannot, and reach them through Ingresses, at a host that core chooses. Takes `iroh`. Default: they can. */
  readonly behindIngresses?: boolean;
  readonly listenHost: string;
  /** Port of the endpoint listener; 0 takes a free one. */
  readonly listenPort: number;
  readonly clock: () => Date;
  /** Timers, for tests that hold the time. Default: the system's. */
  readonly after?: Clock['after'];
  /** For tests that hold the clock. Default: how long the machine has been on. */
  readonly elapsed?: Clock['elapsed'];
  readonly random: (bytes: number) => Buffer;
  /** Space on the disk of the data folder, for tests that fill none. Default: as the system says. */
  readonly diskSpace?: () => DiskSpace;
  readonly startGateway: StartGateway;
  /** Default: no agents run here. */
  readonly agentWorker?: AgentWorker;
  /** Default: nothing is counted. */
  readonly metrics?: NodeMetrics;
}

export interface Runtime {
  /** Port of the endpoint listener. */
  readonly listenerPort: number;
  /** How workloads are confined here, in one line for a person. */
  readonly sandbox: string;
  readonly report: DriverReport;
  /** Why this driver was chosen, and why no stronger one: one sentence each. */
  readonly because: readonly string[];
  /** Resolves when core knows this node; the Runtime works on its own from the start. */
  readonly registered: Promise<void>;
  /** Ends every workload and listener, within ten seconds. */
  stop(): Promise<void>;
}
