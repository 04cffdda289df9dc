// The strict HTTP/1.1 front of the Gateway: only well-formed messages for our own host reach the router. Parsing is
// Node's (llhttp, strict); this adds the rules that an origin server needs and the parser leaves open.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { checkRequestTarget, type Refusal } from '@platform/contract';
import { endWithProblem, sendProblem } from '@platform/http';
import type { DescriptorShare } from './descriptor-budget.ts';
import { endFaulty } from './fault.ts';
import { MAX_HEADER_FIELDS, type RequestHead, readRequestHead } from './request-head.ts';

const { createServer } = process.getBuiltinModule('node:http');

/** One accepted request on its way through the Gateway. */
export interface IncomingRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly head: RequestHead;
  /** Path as sent, without query, free of everything that `checkRequestTarget` refuses. */
  readonly path: string;
  /** `?…` as sent, or empty. */
  readonly query: string;
  /** The sender waits for `100 Continue` before it sends the body (RFC 9110 section 10.1.1). */
  readonly expectsContinue: boolean;
}

/** Something that still works on a request and can be told to leave its response alone. */
export interface Abandonable {
  /** The response is closed or answered elsewhere: stop the work upstream and write no more. Harmless when done. */
  abandon(): void;
}

export interface ListenerOptions {
  /** Whether the `Host` (lower case, with port) is one of ours. */
  isOwnHost(host: string): boolean;
  /** Takes over an accepted request; `null` when it has been answered already. */
  onRequest(incoming: IncomingRequest): Abandonable | null;
  /** Once for every request, refused ones included. */
  onBegin(): void;
  onEnd(): void;
  /** A request could not be handled by a mistake of ours; it has been ended. */
  onFault(error: unknown): void;
  /** Counts its connections; one that is over the share is closed. */
  readonly share: DescriptorShare;
}

const LARGEST_HEAD = 16 * 1024;
const HEAD_TIMEOUT_MS = 20_000;
const REQUEST_TIMEOUT_MS = 300_000;
/**
 * Idle connections live as long as their peer, which is on this machine, so its end is always seen: a timer per request
 * would guard against nothing. They cost memory in a process that serves every installation of the node.
 */
const KEEP_ALIVE_FOR_EVER = 0;
/** Fewer where the process may have few descriptors open. */
const CONNECTIONS_AT_MOST = 1_024;

/** Bodies of refused requests up to this size are read and thrown away, so that the connection can serve the next. */
const DISCARDED_BODY = 64 * 1024;

/** Absolute form, RFC 9112 section 3.2.2: authority, then an optional path and query. */
const ABSOLUTE_FORM = /^http:\/\/([^/?#]*)([/?].*)?$/i;

/** A request whose response is not over yet. */
interface Pending {
  readonly res: ServerResponse;
  work: Abandonable | null;
}

/**
 * What is under way on one connection, in order. Kept per connection on purpose: one collection of all requests, ever
 * growing and shrinking, leaves old tables behind that keep dead requests alive through every young collection, which
 * cost a sixth of the throughput.
 */
interface Connection {
  readonly pending: Pending[];
  broken: boolean;
}

/** A listener that is not yet listening. */
export function createListener(options: ListenerOptions): Server {
  const connections = new WeakMap<Duplex, Connection>();

  function receive(req: IncomingMessage, res: ServerResponse, expectsContinue: boolean): void {
    options.onBegin();
    const pending = connections.get(req.socket)?.pending ?? [];
    const own: Pending = { res, work: null };
    pending.push(own);
    res.on('close', () => {
      pending.splice(pending.indexOf(own), 1);
      own.work?.abandon();
      options.onEnd();
    });
    res.sendDate = false;
    try {
      const incoming = accept(req, res, options, expectsContinue);
      if (incoming !== null) own.work = options.onRequest(incoming);
    } catch (error) {
      endFaulty(res);
      options.onFault(error);
    }
  }

  const server = createServer(
    {
      maxHeaderSize: LARGEST_HEAD,
      headersTimeout: HEAD_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_FOR_EVER,
      // The absence of Host is refused with our own document, and Host is needed by HTTP/1.0 requests as well.
      requireHostHeader: false,
      optimizeEmptyRequests: true,
    },
    (req, res) => receive(req, res, false),
  );
  server.maxHeadersCount = MAX_HEADER_FIELDS + 1;
  server.maxConnections = CONNECTIONS_AT_MOST;
  server.on('connection', (socket) => {
    connections.set(socket, { pending: [], broken: false });
    options.share.begin();
    socket.once('close', options.share.end);
    if (options.share.isOver()) socket.destroy();
  });
  server.on('checkContinue', (req, res) => receive(req, res, true));
  server.on('checkExpectation', (_req: IncomingMessage, res: ServerResponse) => {
    refuse(res, { code: 'invalid_request', detail: 'Only the expectation 100-continue can be met.' });
  });
  server.on('connect', (_req, socket: Duplex) => {
    endWithProblem(socket, { code: 'method_not_allowed', detail: 'The Gateway is not a proxy.' });
  });
  server.on('clientError', (error: Error & { code?: string }, socket: Duplex) => {
    const connection = connections.get(socket);
    if (connection === undefined || connection.broken) return;
    connection.broken = true;
    try {
      refuseBroken(error.code, socket, connection.pending);
    } catch (fault) {
      socket.destroy();
      options.onFault(fault);
    }
  });
  return server;
}

/** The request as the router may see it, or `null` after refusing it. */
function accept(
  req: IncomingMessage,
  res: ServerResponse,
  options: ListenerOptions,
  expectsContinue: boolean,
): IncomingRequest | null {
  if (req.httpVersionMajor !== 1 || req.httpVersionMinor > 1) {
    return refuse(res, { code: 'invalid_request', detail: 'Use HTTP/1.1.' });
  }
  if (req.method === 'TRACE') {
    return refuse(res, { code: 'method_not_allowed', detail: 'TRACE is not offered here.' });
  }
  const reading = readRequestHead(req);
  if (!reading.ok) return refuse(res, reading.refusal);
  const { head } = reading;
  if (!options.isOwnHost(head.host) && !options.isOwnHost(head.host.toLowerCase())) {
    return refuse(res, { code: 'unknown_host' });
  }
  const origin = originForm(req.url ?? '', head.host);
  const target = origin === null ? null : checkRequestTarget(origin);
  if (target === null) return refuse(res, { code: 'unknown_host', detail: 'The target names another host.' });
  if (!target.ok) return refuse(res, { code: 'invalid_path' });
  return { req, res, head, path: target.path, query: target.query, expectsContinue };
}

/** The target in origin form; `null` when it is absolute and names anything but `host`. */
function originForm(target: string, host: string): string | null {
  if (target.startsWith('/')) return target;
  const absolute = ABSOLUTE_FORM.exec(target);
  if (absolute === null) return target;
  if (absolute[1]?.toLowerCase() !== host.toLowerCase()) return null;
  const rest = absolute[2] ?? '/';
  return rest.startsWith('?') ? `/${rest}` : rest;
}

/** A message that breaks these rules may be an attempt to desynchronise, so its connection ends with it. */
function refuse(res: ServerResponse, refusal: Refusal): null {
  sendProblem(res, refusal, 'close-connection');
  return null;
}

/** Whether the rest of a refused request's body is small enough to be read and thrown away. */
export function canDiscardBody(head: RequestHead): boolean {
  return !head.chunked && (head.contentLength ?? 0) <= DISCARDED_BODY;
}

/**
 * Ends a connection whose bytes cannot be parsed. Answers of earlier, complete requests on it are delivered first;
 * a request whose own body broke is given up upstream and gets the refusal.
 */
function refuseBroken(code: string | undefined, socket: Duplex, pending: readonly Pending[]): void {
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const refusal = refusalOf(code);
  for (const { res, work } of pending) if (!res.req.complete) work?.abandon();
  if (pending.some(({ res }) => res.headersSent)) {
    // Bytes of an answer are already out: nothing that could be written now would be read as a refusal.
    socket.destroy();
    return;
  }
  const answerable = pending.filter(({ res }) => res.req.complete);
  let waiting = answerable.length;
  if (waiting === 0) {
    endWithProblem(socket, refusal);
    return;
  }
  for (const { res } of answerable) {
    res.once('close', () => {
      waiting -= 1;
      if (waiting === 0) endWithProblem(socket, refusal);
    });
  }
}

function refusalOf(code: string | undefined): Refusal {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return { code: 'payload_too_large', detail: 'The head of the request is too large.' };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { code: 'invalid_request', detail: 'The request did not arrive in time.' };
    default:
      return { code: 'invalid_request', detail: 'The bytes are not a valid HTTP/1.1 request.' };
  }
}
