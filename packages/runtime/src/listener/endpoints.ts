// `/e/<endpoint id>/…`: how browsers and native clients reach the backend of an app on this node.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Installation } from '../lifecycle/installation.ts';
import { guardAnswer } from './answer-guard.ts';
import { bearerOf, sameCredential } from './bearer.ts';
import type { Exchange } from './http-server.ts';
import { sendProblem } from './problem.ts';

export interface Endpoints {
  /** Waits a moment for an app that was installed just now. */
  find(endpointId: string): Promise<Installation | undefined>;
  /** A request came to a backend that does not run. */
  onWake(): void;
}

const TARGET = /^\/e\/([A-Za-z0-9_-]{1,128})(\/.*)?$/;
const METHOD = /^[A-Z]{1,16}$/;
const HEADER_LIST = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+(?:\s*,\s*[A-Za-z0-9!#$%&'*+.^_`|~-]+)*$/;
const PREFLIGHT_SECONDS = 600;

/** Returns false when the path is not one of an endpoint. */
export async function handleEndpoint(endpoints: Endpoints, exchange: Exchange): Promise<boolean> {
  const match = TARGET.exec(exchange.path);
  if (match === null) return false;
  const { req, res, query } = exchange;
  const [, endpointId = '', path = '/'] = match;
  const installation = await endpoints.find(endpointId);
  if (installation === undefined) {
    sendProblem(res, { code: 'not_found' });
    return true;
  }
  const { appOrigin, dataPlaneCapability } = installation.assignment;
  const origins = req.headersDistinct.origin ?? [];
  if (origins.length > 1 || (origins[0] !== undefined && origins[0] !== appOrigin)) {
    sendProblem(res, { code: 'origin_not_allowed', detail: "This backend answers its own app's pages only." });
    return true;
  }
  if (origins.length === 1) allowOrigin(res, appOrigin);
  if (isPreflight(req)) {
    answerPreflight(req, res);
    return true;
  }
  if (!sameCredential(bearerOf(req), dataPlaneCapability)) {
    sendProblem(res, {
      code: 'unauthenticated',
      detail: 'Present the data-plane capability of the installation as Bearer.',
    });
    return true;
  }
  if (installation.status().state === 'stopped' && installation.assignment.desired !== 'stopped') endpoints.onWake();
  const gateway = await installation.reach();
  if (res.destroyed) return true;
  stripRequest(req);
  guardAnswer(res);
  gateway.forwardInbound(req, res, `${path}${query}`);
  return true;
}

function allowOrigin(res: ServerResponse, appOrigin: string): void {
  res.setHeader('Access-Control-Allow-Origin', appOrigin);
  // Without credentials mode, `*` stands for every header; cookies are never part of it.
  res.setHeader('Access-Control-Expose-Headers', '*');
  res.setHeader('Vary', 'Origin');
}

function isPreflight(req: IncomingMessage): boolean {
  return (
    req.method === 'OPTIONS' &&
    req.headers.origin !== undefined &&
    req.headers['access-control-request-method'] !== undefined
  );
}

/** A browser asks without the capability; the answer tells only what every page of the app may know. */
function answerPreflight(req: IncomingMessage, res: ServerResponse): void {
  const method = req.headers['access-control-request-method'] ?? '';
  const headers = req.headers['access-control-request-headers'] ?? '';
  if (METHOD.test(method)) res.setHeader('Access-Control-Allow-Methods', method);
  if (HEADER_LIST.test(headers)) res.setHeader('Access-Control-Allow-Headers', headers);
  res.setHeader('Access-Control-Max-Age', PREFLIGHT_SECONDS);
  res.setHeader('Vary', 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers');
  res.writeHead(204).end();
}

/** Credentials of the caller, and claims about the caller that only a trusted proxy may make. */
const STRIPPED = new Set([
  'authorization',
  'cookie',
  'cookie2',
  'proxy-authorization',
  'forwarded',
  'via',
  'x-real-ip',
  'x-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
]);
const STRIPPED_PREFIXES = ['x-forwarded-', 'x-platform-', 'platform-', 'proxy-', 'x-original-', 'x-rewrite-'];

/** Removes them from every view of the request, whichever the Gateway reads. */
function stripRequest(req: IncomingMessage): void {
  const drop = (name: string) => STRIPPED.has(name) || STRIPPED_PREFIXES.some((prefix) => name.startsWith(prefix));
  const kept: string[] = [];
  for (let index = 0; index + 1 < req.rawHeaders.length; index += 2) {
    const [name = '', value = ''] = req.rawHeaders.slice(index, index + 2);
    if (!drop(name.toLowerCase())) kept.push(name, value);
  }
  req.rawHeaders = kept;
  for (const name of Object.keys(req.headers)) if (drop(name)) delete req.headers[name];
  for (const name of Object.keys(req.headersDistinct)) if (drop(name)) delete req.headersDistinct[name];
}
