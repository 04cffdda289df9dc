// A Gateway as the Runtime sees it: the one description of what the two, which never import each other, meet over in a
// process. A Gateway in a process of its own is reached through the same (gateway/src/sidecar/).
import type { GatewayPolicy } from '@platform/contract';
import type { IncomingRequest, IncomingUpgrade } from './server.ts';

/** How the outbound calls of a Gateway with secrets reach what the operator has in networks of its own. */
export interface OutboundNetwork {
  /** Origins that may have any address. All others must be publicly routable. */
  readonly privateOrigins: readonly string[];
  /** Certificate authorities, PEM, besides the usual ones, for AI providers and the object store too; `null` for no others. */
  readonly ca: string | null;
}

/** What went through since the start. Bytes are seen from the workload, heads of messages included. */
export interface Traffic {
  readonly requests: number;
  readonly sentBytes: number;
  readonly receivedBytes: number;
}

export interface RunningGateway {
  /**
   * Carries a request to the workload. The caller has authenticated it, and may have set headers on its response, which
   * then win over the workload's. `path` is path and query below the endpoint's own prefix, starting with `/`.
   */
  forwardInbound(incoming: IncomingRequest, path: string): void;
  /** The same for a WebSocket handshake. Counts as a request under way for as long as the connection is open. */
  forwardUpgrade(incoming: IncomingUpgrade, path: string): void;
  /**
   * Carries a request from the internet, as an authenticated Ingress sent it, if the policy in effect lets it pass;
   * otherwise it is refused with `unknown_host` or `not_found`. Headers set on its response win over the workload's.
   */
  forwardPublic(incoming: IncomingRequest): void;
  /** The same for a WebSocket handshake. Counts as a request under way for as long as the connection is open. */
  forwardPublicUpgrade(incoming: IncomingUpgrade): void;
  /**
   * Puts a later policy into effect, an older one is ignored. Resolves when the former one no longer holds for any
   * request; rejects when it may still hold, because a service could not give it up.
   */
  apply(policy: GatewayPolicy): Promise<void>;
  /** Requests under way, both directions. */
  activeRequests(): number;
  /** `outbound`: the workload's own requests; `inbound`: requests to it. Also after the close. */
  traffic(): { readonly outbound: Traffic; readonly inbound: Traffic };
  /** Takes no new requests, gives running ones 3 s, then breaks them off. May be called twice. */
  close(): Promise<void>;
}
