// The seam of the Gateway: what a service behind it is. A service is a folder here and one line in registry.ts. Object storage
// alone has a listener and paths of its own (specification 4.5), so gateway.ts opens it with them.
import type { ServerResponse } from 'node:http';
import type { GatewayPolicy, Refusal } from '@platform/contract';
import type {
  Abandonable,
  Dialer,
  IncomingRequest,
  OutboundNetwork,
  ProblemOptions,
  RequestHead,
  Share,
  UpstreamFailure,
} from '@platform/http';
import type { EnvelopeOpener } from '@platform/link';
import type { CoreAddress } from '../upstream-pools.ts';

/** What a service may use of its Gateway. */
export interface ServiceContext extends CoreAddress {
  readonly installationId: string;
  readonly coreServiceCredential: string;
  /** Opens what core seals for this Gateway. */
  readonly envelopes: EnvelopeOpener;
  readonly policy: GatewayPolicy;
  readonly outbound: OutboundNetwork;
  /** Makes the connections to providers, slots and stores. */
  readonly dialer: Dialer;
  /** What it may hold of bodies beside the other Gateways of its process, in bytes. */
  readonly memory: Share;
  /** Milliseconds to the head of an upstream's answer. */
  readonly headersTimeout: number;
  /** Receives an upstream that failed or was too slow, for the log. */
  readonly onFailure: (failure: UpstreamFailure) => void;
  /** Receives what only a bug can cause, for the log. */
  readonly onFault: (error: unknown) => void;
}

/** The workload is authenticated and its path is safe when `handle` sees a request. */
export interface GatewayService {
  /** Paths that start with one of these are its own; the longest prefix wins. Each ends with `/`. */
  readonly prefixes: readonly string[];
  /**
   * The Gateway credential as this service's clients present it, without its scheme; `null` for none or an ambiguous
   * one. Compared with the true one by the router, in constant time. Default: `Authorization: Bearer`.
   */
  presented?(head: RequestHead): string | null;
  /** Writes a refusal in the dialect of this service's clients and returns its request id. Default: problem document. */
  refuse?(res: ServerResponse, refusal: Refusal, options?: ProblemOptions): string;
  /** `null` when the request has been answered already. */
  handle(incoming: IncomingRequest): Abandonable | null;
  /** Takes a later policy; resolves when the former one no longer holds for any request, those under way included. */
  apply?(policy: GatewayPolicy): Promise<void>;
  /** Breaks off what is under way and closes its connections. May be called twice. */
  close(): Promise<void>;
}
