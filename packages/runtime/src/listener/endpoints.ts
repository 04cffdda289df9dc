// `/e/<endpoint id>/…`: how browsers and native clients reach the backend of an app on this node.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { BEARER_SUBPROTOCOL, CLIENT_SUBPROTOCOL, refuse } from '@platform/contract';
import {
  type AcceptedRequest,
  endWithProblem,
  type IncomingRequest,
  type IncomingUpgrade,
  sendProblem,
} from '@platform/http';
import type { RunningGateway } from '../gateway-port.ts';
import { unauthenticated } from '../lifecycle/clients.ts';
import type { Installation } from '../lifecycle/installation.ts';
import { guardAnswer } from './answer-guard.ts';
import { bearerOf } from './bearer.ts';

export interface Endpoints {
  /**
   * Waits a moment for an app that was installed just now.
   *
   * @throws RefusalError `workload_unavailable` while this node has no list of core that could know it
   */
  find(endpointId: string): Promise<Installation | undefined>;
  /** A request came to a backend that does not run. */
  onWake(): void;
}

const TARGET = /^\/e\/([A-Za-z0-9_-]{1,128})(\/.*)?$/;
const METHOD = /^[A-Z]{1,16}$/;
const HEADER_LIST = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+(?:\s*,\s*[A-Za-z0-9!#$%&'*+.^_`|~-]+)*$/;
const PREFLIGHT_SECONDS = 600;
const CAPABILITY = /^[A-Za-z0-9_-]{1,200}$/;

/** An installation, and the target below its endpoint with the query. */
interface Endpoint {
  readonly installation: Installation;
  readonly path: string;
}

/** @throws RefusalError `not_found`, `workload_unavailable`, `origin_not_allowed` */
async function findEndpoint(endpoints: Endpoints, { req, path, query }: AcceptedRequest): Promise<Endpoint> {
  const match = TARGET.exec(path);
  if (match === null) throw refuse('not_found');
  const [, endpointId = '', below = '/'] = match;
  const installation = await endpoints.find(endpointId);
  if (installation === undefined) throw refuse('not_found');
  const origins = req.headersDistinct.origin ?? [];
  if (origins.length > 1 || (origins[0] !== undefined && origins[0] !== installation.assignment.appOrigin))
    throw refuse('origin_not_allowed', "This backend answers its own app's pages only.");
  return { installation, path: `${below}${query}` };
}

/** Who sent a request. */
export interface EndpointClient {
  /** What it presents as Bearer. */
  readonly bearer: string | undefined;
  readonly address: string | undefined;
}

function onThisConnection(req: IncomingMessage): EndpointClient {
  return { bearer: bearerOf(req), address: req.socket.remoteAddress };
}

/**
 * Answers a request to a backend.
 *
 * @param client default: as the connection says
 * @throws RefusalError
 */
export async function handleEndpoint(
  endpoints: Endpoints,
  incoming: IncomingRequest,
  { bearer: capability, address } = onThisConnection(incoming.req),
): Promise<void> {
  const { req, res } = incoming;
  const { installation, path } = await findEndpoint(endpoints, incoming);
  const { appOrigin } = installation.assignment;
  // Of every answer: with another Origin, or with one, it would be another.
  res.setHeader('Vary', 'Origin');
  if (req.headers.origin !== undefined) allowOrigin(res, appOrigin);
  if (isPreflight(req)) {
    answerPreflight(req, res);
    return;
  }
  let forwarded = false;
  const end = () => {
    // What has reached the workload is broken off, so that half an answer does not look whole.
    if (forwarded) res.destroy();
    else if (!res.writableEnded) sendProblem(res, unauthenticated().refusal, { close: true });
  };
  const release = await installation.clients.admit({ capability, address, end });
  res.once('close', release);
  if (res.closed) release();
  const gateway = await wake(endpoints, installation);
  if (res.destroyed || res.writableEnded) return;
  guardAnswer(res);
  forwarded = true;
  gateway.forwardInbound(incoming, path);
}

/** Connects a WebSocket to a backend; `client` as in {@link handleEndpoint}. @throws RefusalError */
export async function connectEndpoint(
  endpoints: Endpoints,
  incoming: IncomingUpgrade,
  { bearer, address } = onThisConnection(incoming.req),
): Promise<void> {
  const { req, socket, head } = incoming;
  const { installation, path } = await findEndpoint(endpoints, incoming);
  const offered = offeredProtocols(req);
  const capability = bearer ?? offered.capability;
  let forwarded = false;
  const end = () => {
    if (forwarded) socket.destroy();
    else endWithProblem(socket, unauthenticated().refusal);
  };
  const release = await installation.clients.admit({ capability, address, end });
  socket.once('close', release);
  if (socket.closed) release();
  const gateway = await wake(endpoints, installation);
  if (socket.destroyed || socket.writableEnded) return;
  forwarded = true;
  gateway.forwardUpgrade(
    {
      ...incoming,
      head: { ...head, forwarded: withProtocols(head.forwarded, offered.others) },
      ...(offered.client ? { fallbackProtocol: CLIENT_SUBPROTOCOL } : {}),
    },
    path,
  );
}

/** @throws RefusalError of {@link Installation.reach} */
export function wake({ onWake }: Pick<Endpoints, 'onWake'>, installation: Installation): Promise<RunningGateway> {
  if (installation.status().state === 'stopped' && installation.assignment.desired !== 'stopped') onWake();
  return installation.reach();
}

interface OfferedProtocols {
  readonly capability: string | undefined;
  /** Whether it accepts the platform's own. */
  readonly client: boolean;
  /** For the backend. */
  readonly others: readonly string[];
}

/** What is offered in the platform's names ends here. */
function offeredProtocols(req: IncomingMessage): OfferedProtocols {
  const offered = (req.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  const isBearer = (name: string) =>
    name.startsWith(BEARER_SUBPROTOCOL) && CAPABILITY.test(name.slice(BEARER_SUBPROTOCOL.length));
  const [bearer, ...more] = offered.filter(isBearer);
  return {
    capability: bearer === undefined || more.length > 0 ? undefined : bearer.slice(BEARER_SUBPROTOCOL.length),
    client: offered.includes(CLIENT_SUBPROTOCOL),
    others: offered.filter((name) => name !== '' && name !== CLIENT_SUBPROTOCOL && !isBearer(name)),
  };
}

/** The same fields with these subprotocols instead of those offered. */
function withProtocols(forwarded: readonly string[], protocols: readonly string[]): string[] {
  const kept: string[] = [];
  for (let index = 0; index + 1 < forwarded.length; index += 2) {
    const [name = '', value = ''] = forwarded.slice(index, index + 2);
    if (name.toLowerCase() !== 'sec-websocket-protocol') kept.push(name, value);
  }
  if (protocols.length > 0) kept.push('sec-websocket-protocol', protocols.join(', '));
  return kept;
}

function allowOrigin(res: ServerResponse, appOrigin: string): void {
  res.setHeader('Access-Control-Allow-Origin', appOrigin);
  // Without credentials mode, `*` stands for every header; cookies are never part of it.
  res.setHeader('Access-Control-Expose-Headers', '*');
}

function isPreflight(req: IncomingMessage): boolean {
  return (
    req.method === 'OPTIONS' &&
    req.headers.origin !== undefined &&
    req.headers['access-control-request-method'] !== undefined
  );
}

/** A preflight carries no capability; the answer contains only what every page of the app may know. */
function answerPreflight(req: IncomingMessage, res: ServerResponse): void {
  const method = req.headers['access-control-request-method'] ?? '';
  const headers = req.headers['access-control-request-headers'] ?? '';
  if (METHOD.test(method)) res.setHeader('Access-Control-Allow-Methods', method);
  if (HEADER_LIST.test(headers)) res.setHeader('Access-Control-Allow-Headers', headers);
  res.setHeader('Access-Control-Max-Age', PREFLIGHT_SECONDS);
  res.setHeader('Vary', 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers');
  res.writeHead(204).end();
}
