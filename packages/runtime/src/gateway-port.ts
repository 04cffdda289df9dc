// What the Runtime gives a Gateway, one per running workload, and how it has one started: injected, so that the two parts
// never import each other. What runs then is described for both in packages/http. The Gateway's own options are more than
// what is given here; the command line, which injects `startGateway` and `gatewaySidecar`, does not compile where they differ.
import type net from 'node:net';
import type { GatewayPolicy } from '@platform/contract';
import type { OutboundNetwork, RunningGateway } from '@platform/http';
import type { EnvelopeKey, LinkCertificate } from '@platform/link';

export type { OutboundNetwork, RunningGateway, Traffic } from '@platform/http';

/** Where one Gateway listens for its workload, and where it reaches it. */
export interface GatewayPlace {
  /**
   * Where the workload reaches the Gateway: a server that already listens (its handle is taken over), or a Unix
   * socket.
   */
  readonly listen: net.Server | { readonly path: string };
  /** What the workload's requests name as `Host`, with port. Default: loopback at the port listened on. */
  readonly hosts?: readonly string[];
  /** Where it reaches its object storage. Default: it has none. */
  readonly storage?: { readonly listen: net.Server; readonly hosts?: readonly string[] };
  /** Unix socket that leads to the workload's PORT. */
  readonly inbound: { readonly socketPath: string };
}

/** What a Gateway says while it runs. */
export interface GatewayHooks {
  /** Keep-alive signal: called at the begin and the end of each request, both directions. */
  onActivity(): void;
  /** Never receives a credential, a query, a header or a body. */
  log(event: object): void;
}

/** A Gateway's settings for its installation, wherever it runs. Contains both credentials and its private key. */
export interface GatewaySettings extends GatewayHooks {
  installationId: string;
  /** Exact origin of the app's frontend. */
  appOrigin: string;
  /** Where core listens, e.g. `http://127.0.0.1:8787`. */
  coreOrigin: string;
  /** Value of the Host header core expects. */
  coreHost: string;
  /** The link key core must prove over https, base64url. Default: its certificate must be valid for `coreHost`. */
  coreKey?: string;
  /** What proves this node to core over https. */
  linkCertificate?: LinkCertificate;
  /** `pgw_…`, what the workload presents. */
  gatewayCredential: string;
  /** `pcs_…`, what the Gateway presents to core in its place. */
  coreServiceCredential: string;
  /** Opens what core seals for this Gateway; core has the public half. */
  envelopeKey: EnvelopeKey;
  policy: GatewayPolicy;
  outbound: OutboundNetwork;
}

export interface GatewayOptions extends GatewaySettings, GatewayPlace {}

/** A Gateway in a process of its own, as gateway/sidecar/ makes it. */
export interface SidecarGateway extends RunningGateway {
  readonly settings: { readonly installationId: string; readonly coreOrigin: string };
  /** Resolves when the workload accepts connections; false when the sidecar ended first or `signal` was aborted. */
  workloadListens(signal: AbortSignal): Promise<boolean>;
  /** After its process was started again: makes it what it was. Rejects when it does not answer. */
  reconnect(): Promise<void>;
}

/** How a driver runs Gateways in processes of their own; injected like `StartGateway`. */
export interface GatewaySidecar {
  /** Writes the program, one file for `node <file> <own folder> <socket of core> <socket to dial at>`. */
  makeProgram(file: string): Promise<void>;
  /**
   * Makes the process that has its sockets in `folder` the Gateway of an installation; without `settings`, adopts it
   * with those of an earlier Runtime. Rejects when it does not answer or was never configured.
   */
  connect(options: {
    readonly folder: string;
    readonly settings?: Omit<GatewaySettings, keyof GatewayHooks | 'coreKey' | 'linkCertificate'> & {
      readonly listen: { readonly host: string; readonly port: number };
      /** On the same host, where it has object storage. */
      readonly storagePort?: number;
      readonly workload: { readonly hostname: string; readonly port: string };
    };
    readonly onActivity: GatewayHooks['onActivity'];
    readonly log: GatewayHooks['log'];
  }): Promise<SidecarGateway>;
}

export type StartGateway = (options: GatewayOptions) => Promise<RunningGateway>;
