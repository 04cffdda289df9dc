// An upstream of a test, and a pool that reaches it under any name.
import { buildConnector, type Pool } from 'undici';
import type { AcceptedRequest } from '../src/accept-request.ts';
import type { Upstream } from '../src/carry.ts';
import { openPool } from '../src/pool.ts';
import { responseFilter } from '../src/response-head.ts';

/** @param port of this machine */
export function poolTo(port: number, host = 'a'): Pool {
  const connector = buildConnector({ allowH2: false });
  return openPool(`http://${host}`, {
    connect: (target, callback) => connector({ ...target, hostname: '127.0.0.1', port: String(port) }, callback),
  });
}

/** Where a request is carried over `pool`: to the same path, and every field of the answer passes. */
export function upstreamOver(
  pool: Pool,
  { path, query, head }: Pick<AcceptedRequest, 'path' | 'query' | 'head'>,
): Upstream {
  return {
    name: 'test',
    dispatcher: pool,
    path: path + query,
    headers: head.forwarded,
    filterResponse: responseFilter(() => false),
    headersTimeout: 10_000,
    onFailure: () => undefined,
  };
}
