// A node as the upstream of a public request: what travels to it, what passes back, and what its silence means.
import type { IncomingHttpHeaders } from 'node:http';
import {
  ANSWERED_BY,
  CLIENT_ADDRESS,
  CLIENT_AUTHORIZATION,
  CLIENT_PROTOCOL,
  errors,
  type Refusal,
} from '@platform/contract';
import {
  type AcceptedRequest,
  type ResponseFilter,
  responseFilter,
  type Upstream,
  type UpstreamFailure,
} from '@platform/http';
import type { Client } from './client-address.ts';
import { ANSWER_MILLISECONDS } from './limits.ts';
import type { NodeLink } from './node-links.ts';
import type { PublicName } from './topology.ts';

/** What only a node says to an Ingress, and what no app may say in the name of its siblings. */
const DROPPED = new Set([ANSWERED_BY, 'set-cookie', 'set-cookie2', 'x-request-id']);

/** A field that the front set before, such as `Strict-Transport-Security`, is its own. */
const passing = responseFilter((name, res) => DROPPED.has(name) || res.hasHeader(name));

/** Seconds after which a node that was not reached may be there again. */
const NODE_RETRY = 2;

/** For the log, beside the error codes of connections. */
export const SILENT = 'NODE_SILENT';

export const NOT_REACHED: Refusal = { code: 'workload_unavailable', retryAfter: NODE_RETRY };

/** Every answer carries one; that of the node, so that its log and this one's name a request alike. */
function withRequestId(requestId: string): ResponseFilter {
  return (headers, res) => {
    const passed = passing(headers, res);
    passed.push('x-request-id', requestIdOf(headers) ?? requestId);
    return passed;
  };
}

/** The id that a node gave to a request. */
export function requestIdOf(headers: IncomingHttpHeaders): string | undefined {
  const id = headers['x-request-id'];
  return typeof id === 'string' && /^[\w-]{1,64}$/.test(id) ? id : undefined;
}

/** The node does not know the name: it learned of a change of the topology before this Ingress. */
export const UNKNOWN_AT_NODE: Refusal = { ...NOT_REACHED };

/**
 * Why a node does not take a request; `null` for an answer of the app. It does not take this Ingress after a start, until the
 * topology says so. No app can say that, and of one that says that it does not know its name the node says whose word it is.
 */
export function nodeRefusal(
  status: number,
  headers: IncomingHttpHeaders,
  name: PublicName | undefined,
): Refusal | null {
  if (status === errors.unknown_host.status) return headers[ANSWERED_BY] === 'workload' ? null : UNKNOWN_AT_NODE;
  // There 401 is for the client, and 421 for this Ingress.
  if (name?.isOfEndpoints === true) return null;
  return status === 401 && headers['www-authenticate'] !== undefined ? NOT_REACHED : null;
}

export function upstreamOf(
  { pool, credential }: NodeLink,
  { req, head, path, query }: AcceptedRequest,
  client: Client,
  {
    name,
    requestId,
    onFailure,
  }: {
    readonly name: PublicName;
    readonly requestId: string;
    readonly onFailure: (failure: UpstreamFailure) => void;
  },
): Upstream {
  return {
    name: 'node',
    dispatcher: pool,
    path: `${path}${query}`,
    headers: [
      ...head.forwarded,
      ...head.requestId,
      // Without the port, which the client chose.
      ...['host', name.hostname],
      ...['authorization', `Bearer ${credential}`],
      ...[CLIENT_ADDRESS, client.address],
      ...[CLIENT_PROTOCOL, client.protocol],
      ...(name.isOfEndpoints && head.authorization !== null ? [CLIENT_AUTHORIZATION, head.authorization] : []),
      // Not a credential: the app's own CORS policy needs it.
      ...(req.headers.origin === undefined ? [] : ['origin', req.headers.origin]),
    ],
    filterResponse: withRequestId(requestId),
    headersTimeout: ANSWER_MILLISECONDS,
    onFailure,
  };
}
