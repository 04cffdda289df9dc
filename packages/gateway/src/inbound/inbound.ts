// The way in: carries a request that the node listener has authenticated to the workload's own HTTP port. The workload
// learns nothing reusable about the caller, and its answer is hostile.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { checkRequestTarget } from '@platform/contract';
import { type Abandonable, carry, readRequestHead, sendProblem, type UpstreamFailure } from '@platform/http';
import type { Pool } from 'undici';
import type { ByteMeter } from '../byte-meter.ts';
import { type ConnectTo, openPoolTo } from '../upstream-pools.ts';
import { filterWorkloadResponse } from './workload-answer.ts';

export interface InboundOptions {
  /** Leads to the workload's HTTP port. */
  readonly to: ConnectTo;
  /** Origin of the app's frontend, which is what the workload is told it is reached under. */
  readonly appOrigin: string;
  readonly headersTimeout: number;
  readonly meter: ByteMeter;
  readonly onFailure: (failure: UpstreamFailure) => void;
}

export interface Inbound {
  /** `null` when the request has been answered already. */
  forward(req: IncomingMessage, res: ServerResponse, path: string): Abandonable | null;
  /** Breaks off what is under way. May be called twice. */
  close(): Promise<void>;
}

export function openInbound(options: InboundOptions): Inbound {
  const app = new URL(options.appOrigin);
  // The app's own origin is the only address a workload may build links from; the node's address and the caller's are
  // not its business, so there is no X-Forwarded-For.
  const identity = ['x-forwarded-host', app.host, 'x-forwarded-proto', app.protocol.slice(0, -1)];
  let pool: Pool | null = null;
  return {
    forward(req, res, path) {
      const reading = readRequestHead(req);
      if (!reading.ok) {
        sendProblem(res, reading.refusal, { close: true });
        return null;
      }
      const target = checkRequestTarget(path);
      if (!target.ok) {
        sendProblem(res, { code: 'invalid_path' }, { close: true });
        return null;
      }
      pool ??= openPoolTo(`http://${app.host}`, options.to, options.meter);
      return carry(
        { req, res, head: reading.head, path: target.path, query: target.query, expectsContinue: false },
        {
          upstream: {
            name: 'workload',
            dispatcher: pool,
            path,
            headers: identity.concat(reading.head.forwarded),
            filterResponse: filterWorkloadResponse,
            headersTimeout: options.headersTimeout,
            onFailure: options.onFailure,
          },
        },
      );
    },
    async close() {
      await pool?.destroy();
    },
  };
}
