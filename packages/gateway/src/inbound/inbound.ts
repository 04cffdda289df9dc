// The way in: carries a request that the node listener has authenticated to the workload's own HTTP port. The workload
// learns nothing reusable about the caller, and its answer is hostile.
import { checkRequestTarget, limits } from '@platform/contract';
import {
  type Abandonable,
  type Carried,
  carry,
  carryUpgrade,
  endWithProblem,
  type IncomingRequest,
  type IncomingUpgrade,
  type RequestHead,
  type ResponseFilter,
  sendProblem,
  type Upstream,
  type UpstreamFailure,
} from '@platform/http';
import type { Pool } from 'undici';
import type { ByteMeter } from '../byte-meter.ts';
import { fieldsOfCaller } from '../services/overrides.ts';
import { type ConnectTo, openPoolTo } from '../upstream-pools.ts';
import { filterWorkloadResponse } from './workload-answer.ts';

export interface InboundOptions {
  /** Leads to the workload's HTTP port. */
  readonly to: ConnectTo;
  /** Origin of the app's frontend: the workload sees it as the address of every request. */
  readonly appOrigin: string;
  readonly headersTimeout: number;
  readonly meter: ByteMeter;
  /** Default: that of a workload. */
  readonly filterResponse?: ResponseFilter;
  readonly onFailure: (failure: UpstreamFailure) => void;
}

export interface Inbound {
  /** `null` when the request has been answered already. */
  forward(incoming: IncomingRequest, path: string): Abandonable | null;
  /** A WebSocket handshake; the connection is ended in every case. */
  forwardUpgrade(incoming: IncomingUpgrade, path: string): void;
  /** Breaks off what is under way. May be called twice. */
  close(): Promise<void>;
}

export function openInbound(options: InboundOptions): Inbound {
  const { headersTimeout, onFailure, filterResponse = filterWorkloadResponse } = options;
  const app = new URL(options.appOrigin);
  // The app's own origin is the only address a workload may build links from; the addresses of the node and of the
  // caller stay with the platform, so there is no X-Forwarded-For.
  const identity = ['x-forwarded-host', app.host, 'x-forwarded-proto', app.protocol.slice(0, -1)];
  const upgraded = new Set<Carried>();
  let pool: Pool | null = null;

  function upstream(path: string, head: RequestHead): Upstream {
    pool ??= openPoolTo(`http://${app.host}`, options.to, options.meter);
    return {
      name: 'workload',
      dispatcher: pool,
      path,
      headers: identity.concat(fieldsOfCaller(head.forwarded)),
      filterResponse,
      headersTimeout,
      onFailure,
    };
  }

  return {
    forward(incoming, path) {
      if (!checkRequestTarget(path).ok) {
        sendProblem(incoming.res, { code: 'invalid_path' }, { close: true });
        return null;
      }
      return carry(incoming, { upstream: upstream(path, incoming.head) });
    },
    forwardUpgrade(incoming, path) {
      if (!checkRequestTarget(path).ok) {
        endWithProblem(incoming.socket, { code: 'invalid_path' });
        return;
      }
      const carried = carryUpgrade(incoming, {
        upstream: upstream(path, incoming.head),
        idleMilliseconds: limits.webSocketIdleSeconds.value * 1_000,
      });
      upgraded.add(carried);
      incoming.socket.once('close', () => upgraded.delete(carried));
    },
    async close() {
      for (const carried of upgraded) carried.abort({ code: 'unavailable', retryAfter: 1 });
      await pool?.destroy();
    },
  };
}
