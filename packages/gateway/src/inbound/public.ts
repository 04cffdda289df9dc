// The way in from the internet: carries a request that an Ingress sent, and the node has found its installation for, to
// the workload. Host and route are checked against the Gateway's own policy, which also ends what is under way.
import {
  type GatewayPolicy,
  limits,
  type PublicRoutes,
  publicHostname,
  publicRoutes,
  type Refusal,
  WEBSOCKET_METHOD,
} from '@platform/contract';
import {
  type Abandonable,
  type AcceptedRequest,
  type Carried,
  carry,
  carryUpgrade,
  endWithProblem,
  type IncomingRequest,
  type IncomingUpgrade,
  type ResponseFilter,
  sendProblem,
  type Upstream,
  type UpstreamFailure,
} from '@platform/http';
import type { Pool } from 'undici';
import type { ByteMeter } from '../byte-meter.ts';
import { fieldsOfCaller } from '../services/overrides.ts';
import { type ConnectTo, openPoolTo } from '../upstream-pools.ts';
import { filterPublicResponse } from './public-answer.ts';
import { type ClientFields, readPublicClient } from './public-client.ts';

type PublicPolicy = GatewayPolicy['public'];

export interface PublicInboundOptions {
  /** Leads to the workload's HTTP port. */
  readonly to: ConnectTo;
  readonly policy: PublicPolicy;
  /** How the other side learns who sent a request. */
  readonly clientFields: ClientFields;
  readonly headersTimeout: number;
  /** Default: that of a workload. */
  readonly filterResponse?: ResponseFilter;
  readonly meter: ByteMeter;
  readonly onFailure: (failure: UpstreamFailure) => void;
  /** Milliseconds of silence in both directions after which a WebSocket ends. Default: `limits.webSocketIdleSeconds`. */
  readonly webSocketIdle?: number;
}

export interface PublicInbound {
  /** Why the policy does not let a request pass; `null` when it does. `method` is `WS` for a handshake. */
  refusalOf(incoming: Pick<AcceptedRequest, 'head' | 'path'>, method: string): Refusal | null;
  /** Carries a request that the policy lets pass. `null` when it has been answered already. */
  forward(incoming: IncomingRequest): Abandonable | null;
  /** The same for a WebSocket handshake; the connection is ended in every case. */
  forwardUpgrade(incoming: IncomingUpgrade): void;
  /** Ends what the policy does not let pass any more, however far it is. */
  apply(policy: PublicPolicy): void;
  /** Breaks off what is under way. May be called twice. */
  close(): Promise<void>;
}

/** What the policy lets pass now. */
interface Open {
  readonly hostname: string;
  readonly routes: PublicRoutes;
  /** Connections to the workload for these requests alone, made with the first. Undici names its origin as `Host`. */
  pool: Pool | null;
}

interface UnderWay {
  readonly method: string;
  readonly path: string;
  readonly carried: Carried;
}

export function openPublicInbound(options: PublicInboundOptions): PublicInbound {
  const {
    clientFields,
    headersTimeout,
    filterResponse = filterPublicResponse,
    onFailure,
    webSocketIdle = limits.webSocketIdleSeconds.value * 1_000,
  } = options;
  const underWay = new Set<UnderWay>();
  let open = openFor(options.policy);

  /** `null` when the Ingress does not say who the client is. */
  function upstreamOf(
    { req, res, head, path, query }: AcceptedRequest & Partial<Pick<IncomingRequest, 'res'>>,
    to: Open | null,
  ): Upstream | null {
    const client = readPublicClient(req, res);
    if (client === null || to === null) return null;
    to.pool ??= openPoolTo(`http://${to.hostname}`, options.to, options.meter);
    return {
      name: 'workload',
      dispatcher: to.pool,
      path: `${path}${query}`,
      headers: clientFields(client, to.hostname).concat(head.requestId, fieldsOfCaller(head.forwarded)),
      filterResponse,
      headersTimeout,
      onFailure,
    };
  }

  function endAll(refusalFor: (item: UnderWay) => Refusal | null): void {
    for (const item of underWay) {
      const refusal = refusalFor(item);
      if (refusal !== null) item.carried.abort(refusal);
    }
  }

  /** @returns to call when it is over */
  function follow(item: UnderWay): () => void {
    underWay.add(item);
    return () => void underWay.delete(item);
  }

  return {
    refusalOf({ head, path }, method) {
      if (open === null || publicHostname(head.host) !== open.hostname) return { code: 'unknown_host' };
      return open.routes.match(method, path) ? null : { code: 'not_found' };
    },
    forward(incoming) {
      const { req, res, path } = incoming;
      const upstream = upstreamOf(incoming, open);
      if (upstream === null) {
        sendProblem(res, UNKNOWN_CLIENT);
        return null;
      }
      const carried = carry(incoming, { upstream });
      res.once('close', follow({ method: req.method ?? '', path, carried }));
      return carried;
    },
    forwardUpgrade(incoming) {
      const { socket, path } = incoming;
      const upstream = upstreamOf(incoming, open);
      if (upstream === null) {
        endWithProblem(socket, UNKNOWN_CLIENT);
        return;
      }
      const carried = carryUpgrade(incoming, { upstream, idleMilliseconds: webSocketIdle });
      socket.once('close', follow({ method: WEBSOCKET_METHOD, path, carried }));
    },
    apply(policy) {
      const former = open;
      const next = openFor(policy);
      open = next;
      if (former !== null && former.hostname === next?.hostname) {
        next.pool = former.pool;
        endAll(({ method, path }) => (next.routes.match(method, path) ? null : { code: 'not_found' }));
        return;
      }
      endAll(() => ({ code: 'unknown_host' }));
      former?.pool?.destroy().catch(() => undefined);
    },
    async close() {
      endAll(() => ({ code: 'unavailable', retryAfter: 1 }));
      await open?.pool?.destroy();
    },
  };
}

const UNKNOWN_CLIENT: Refusal = {
  code: 'invalid_request',
  detail: 'The Ingress does not say whose request this is.',
};

function openFor(policy: PublicPolicy): Open | null {
  if (policy === undefined) return null;
  return { hostname: policy.hostname.toLowerCase(), routes: publicRoutes(policy.routes), pool: null };
}
