// The strict HTTP/1.1 server that every front of the platform is: only well-formed messages reach a handler. Parsing is
// Node's (llhttp, strict); this adds the rules that an origin server needs and the parser leaves open (RFC 9112), the
// limits, and one behaviour on broken input.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { limits as contractLimits, type Refusal } from '@platform/contract';
import {
  type AcceptedRequest,
  type AcceptOptions,
  acceptRequest,
  OFFERED_METHODS,
  UNKNOWN_EXPECTATION,
} from './accept-request.ts';
import { countPerAddress } from './connection-count.ts';
import { endLingering, endReading } from './end-response.ts';
import { endFaulty } from './fault.ts';
import { gatherPieces, gatherWrites, type PacedReading, paceReading } from './gather.ts';
import { endWithHeadTooLarge, headTooLarge, isOfCookies } from './head-too-large.ts';
import { type Abandonable, hold } from './hold.ts';
import {
  afterAll,
  beginWaiting,
  type Connection,
  type Expectation,
  mayBegin,
  newConnection,
  type Pending,
} from './pipeline.ts';
import { endWithProblem, sendProblem } from './problem.ts';
import { hasBody } from './read-body.ts';
import { MAX_HEADER_FIELDS } from './request-head.ts';
import { type ReadingRate, requireReading } from './slow-reader.ts';
import { requireTransportSecurity, setTransportFields } from './transport-security.ts';
import { closeUnlessContinued, endUnread } from './unfinished-request.ts';
import { handshakeRefusal, isWebSocketUpgrade } from './web-socket.ts';

const { createServer } = process.getBuiltinModule('node:http');

/** An accepted request and its response. */
export interface IncomingRequest extends AcceptedRequest {
  readonly res: ServerResponse;
  /** The sender waits for `100 Continue` before it sends the body (RFC 9110 section 10.1.1). */
  readonly expectsContinue: boolean;
}

/** A valid WebSocket handshake. Nothing has been written to `socket`. */
export interface IncomingUpgrade extends AcceptedRequest {
  readonly socket: Socket;
  /** Bytes of the new protocol that came with the head. */
  readonly first: Buffer;
  /** The subprotocol of the answer where the upstream names none. Default: none. */
  readonly fallbackProtocol?: string;
}

export interface StrictServerOptions extends AcceptOptions {
  /** Takes over an accepted request. What it returns is abandoned when the response closes. */
  onRequest(incoming: IncomingRequest): Abandonable | null | undefined;
  /** Handling a request failed with an internal error; the request has been ended. */
  onFault(error: unknown): void;
  /**
   * Takes over a valid WebSocket handshake, on whatever path. Default: `Upgrade` is ignored and the request served (RFC 9110
   * section 7.8).
   */
  onUpgrade?(incoming: IncomingUpgrade): void;
  /**
   * Whether a path has a WebSocket: a faulty handshake is refused there, and elsewhere served as a plain request. Default:
   * every path has.
   */
  hasWebSocket?(req: IncomingMessage): boolean;
  /**
   * Browsers reach this front: one whose cookies make its requests too large gets the order to delete them. Default: a head that
   * is too large gets a problem document alone.
   */
  readonly browsers?: true;
  /**
   * This front is reached over https: every answer says so (RFC 6797), also to requests that are refused and to bytes that
   * are no request. Default: false.
   */
  readonly strictTransport?: boolean;
  /** Called once for every request, including refused ones. */
  onBegin?(): void;
  onEnd?(): void;
  /** Whether to keep a new connection. Default: all within the limits. */
  admits?(socket: Socket): boolean;
  /**
   * Counts requests that are refused before a handler gets them. @returns milliseconds to hold the refusal back (`Pace`).
   * Default: none
   */
  paceRefusals?(socket: Duplex, refusals: number): number;
  /**
   * Observes a refusal that no handler gives, before it is sent.
   *
   * @param req `null` for bytes that are no request
   */
  onRefused?(refusal: Refusal, socket: Duplex, req: IncomingMessage | null): void;
  readonly limits?: Partial<ServerLimits>;
}

export interface ServerLimits {
  /** Connections at a time; one over it is closed without an answer. */
  readonly connections: number;
  /** Of them from one address (`clientNetwork`: one /64 of IPv6), but for the loopback interface. */
  readonly connectionsPerAddress: number;
  /**
   * Requests that one connection may have under way: pipelined ones are parsed as fast as they arrive, answered or not.
   * One over it ends the connection, with those that have no answer yet.
   */
  readonly pipelinedRequests: number;
  /** Bytes of a request's head. */
  readonly headBytes: number;
  /** Fields of a request's head. */
  readonly headFields: number;
  /** Milliseconds to a complete head. */
  readonly headMilliseconds: number;
  /** Milliseconds between two looks for heads and requests that take too long, which end so much later at most. */
  readonly lookMilliseconds: number;
  /** Milliseconds to a complete request, body included; 0 where bodies are timed by their readers. */
  readonly requestMilliseconds: number;
  /** Milliseconds that a connection may wait for its next request; 0 for any time. */
  readonly keepAliveMilliseconds: number;
  /** How fast clients take what waits for them. */
  readonly reading: ReadingRate;
}

export const defaultServerLimits: ServerLimits = {
  connections: 1_024,
  connectionsPerAddress: Number.POSITIVE_INFINITY,
  pipelinedRequests: 32,
  headBytes: 16 * 1024,
  headFields: MAX_HEADER_FIELDS,
  headMilliseconds: 20_000,
  lookMilliseconds: 30_000,
  requestMilliseconds: 0,
  keepAliveMilliseconds: 65_000,
  reading: { bytesPerSecond: contractLimits.answerRate.value, milliseconds: 300_000 },
};

/** Creates a server, not yet listening. `Date` is not sent unless the handler sets `res.sendDate`. */
export function createStrictServer(options: StrictServerOptions): Server {
  const limits = { ...defaultServerLimits, ...options.limits };
  const connections = new WeakMap<Duplex, Connection>();
  const pace = (socket: Duplex, refusals = 1) => options.paceRefusals?.(socket, refusals) ?? 0;

  function receive(req: IncomingMessage, res: ServerResponse, expectation: Expectation): void {
    const connection = connections.get(req.socket) ?? newConnection();
    if (connection.ending) return;
    const { pending } = connection;
    if (pending.length >= limits.pipelinedRequests) {
      connection.ending = true;
      connection.broken = true;
      cutOff(req.socket, pace(req.socket, pending.length));
      return;
    }
    options.onBegin?.();
    const own: Pending = { res, expectation, isWaiting: false, work: null };
    pending.push(own);
    connection.unread = null;
    let chunks: PacedReading | null = null;
    res.on('close', () => {
      pending.splice(pending.indexOf(own), 1);
      if (pending.length === 0 && !req.complete) {
        connection.unread = req;
        // What nobody reads is parsed all the same, at full speed.
        endUnread(req, chunks?.wasHeld() === true ? 0 : limits.headMilliseconds);
      }
      own.work?.abandon();
      options.onEnd?.();
      if (pending.length > 0) beginWaiting(connection, (next) => begin(connection, next));
    });
    res.sendDate = false;
    if (options.strictTransport === true) setTransportFields(res, req.socket);
    if (hasBody(req)) gatherPieces(req);
    if (req.headers['transfer-encoding'] !== undefined) chunks = paceReading(req);
    // Of a declared length too, the records of TLS are pieces of whatever size their sender chose.
    else if (hasBody(req) && req.socket instanceof TLSSocket) chunks = paceReading(req, undefined, false);
    if (expectation === 'continue') closeUnlessContinued(res);
    if (mayBegin(connection, own)) begin(connection, own);
    else own.isWaiting = true;
  }

  function begin(connection: Connection, own: Pending): void {
    const { res, expectation } = own;
    const { req } = res;
    try {
      const reading = expectation === 'other' ? UNKNOWN_EXPECTATION : acceptRequest(req, options, limits);
      if ('code' in reading || req.headers.upgrade !== undefined) {
        // Behind an Upgrade that is ignored the parser drops what came with it in one packet.
        connection.ending = true;
        res.shouldKeepAlive = false;
      }
      if ('code' in reading) options.onRefused?.(reading, req.socket, req);
      if ('code' in reading) own.work = hold(pace(req.socket), () => refuse(res, reading));
      else own.work = options.onRequest({ ...reading, res, expectsContinue: expectation === 'continue' });
    } catch (error) {
      endFaulty(res);
      options.onFault(error);
    }
  }

  const server = createServer(
    {
      maxHeaderSize: limits.headBytes,
      headersTimeout: limits.headMilliseconds,
      connectionsCheckingInterval: limits.lookMilliseconds,
      requestTimeout: limits.requestMilliseconds,
      keepAliveTimeout: limits.keepAliveMilliseconds,
      // The absence of Host is refused with our own document, and Host is needed by HTTP/1.0 requests as well.
      requireHostHeader: false,
      optimizeEmptyRequests: true,
      // While an earlier request waits for its answer, the connection cannot become another protocol's.
      shouldUpgradeCallback: (req) => {
        if (options.onUpgrade === undefined || !isWebSocketUpgrade(req)) return false;
        if (handshakeRefusal(req) !== null && options.hasWebSocket?.(req) === false) return false;
        const connection = connections.get(req.socket);
        return connection?.pending.length === 0 && !connection.ending;
      },
    },
    (req, res) => receive(req, res, 'none'),
  );
  // One more is read, so that the excess is seen rather than cut off.
  server.maxHeadersCount = limits.headFields + 1;
  const perAddress = countPerAddress(limits.connectionsPerAddress);
  let open = 0;
  /** Also those of further sockets (listen-fast.ts), which Node's own limit would not count. */
  const within = (socket: Socket): boolean => {
    open += 1;
    socket.once('close', () => {
      open -= 1;
    });
    return perAddress(socket) && open <= limits.connections;
  };
  server.on('connection', (socket) => {
    connections.set(socket, newConnection());
    if (options.strictTransport === true) requireTransportSecurity(socket);
    // A link that hands over a connection, over TLS or as a stream of another carrier, has already counted it for its peer.
    const overLink = socket instanceof TLSSocket || !(socket instanceof Socket);
    const counted = overLink || within(socket);
    if (!counted || options.admits?.(socket) === false) {
      socket.destroy();
      return;
    }
    gatherWrites(socket);
    requireReading(socket, limits.reading);
  });
  server.on('checkContinue', (req, res) => receive(req, res, 'continue'));
  server.on('checkExpectation', (req, res) => receive(req, res, 'other'));
  server.on('connect', (req, socket: Duplex) => {
    socket.on('error', () => socket.destroy());
    // Its own answer comes behind those that are still awaited, unless one of them ends the connection.
    const refusal: Refusal = {
      code: 'method_not_allowed',
      detail: 'CONNECT is not offered: this is not a proxy.',
      allow: OFFERED_METHODS,
    };
    options.onRefused?.(refusal, socket, req);
    hold(pace(socket), () => afterAll(connections.get(socket)?.pending ?? [], () => endWithProblem(socket, refusal)));
  });
  server.on('upgrade', (req: IncomingMessage, socket: Socket, first: Buffer) => {
    socket.on('error', () => socket.destroy());
    try {
      const reading = acceptRequest(req, options, limits);
      const refusal = 'code' in reading ? reading : handshakeRefusal(req);
      if (refusal !== null) options.onRefused?.(refusal, socket, req);
      if (refusal !== null) hold(pace(socket), () => endWithProblem(socket, refusal));
      else if (!('code' in reading)) options.onUpgrade?.({ ...reading, socket, first });
    } catch (error) {
      socket.destroy();
      options.onFault(error);
    }
  });
  server.on('clientError', (error: Error & { code?: string; rawPacket?: Buffer }, socket: Duplex) => {
    const connection = connections.get(socket);
    if (connection === undefined || connection.broken) return;
    connection.broken = true;
    // What arrived late has waited long enough, and nobody waits for the answer on a lost connection.
    const isOver = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' || error.code === 'ECONNRESET';
    const milliseconds = isOver ? 0 : pace(socket);
    // Nothing more of it is read meanwhile.
    if (milliseconds > 0) socket.pause();
    hold(milliseconds, () => {
      try {
        if (milliseconds > 0) socket.resume();
        refuseBroken(error, socket, connection, { ...options, headBytes: limits.headBytes });
      } catch (fault) {
        socket.destroy();
        options.onFault(fault);
      }
    });
  });
  return server;
}

/**
 * Gives a connection to a server that does not listen itself, such as one whose TLS has ended here. Node starts the time
 * limits of heads with listening.
 */
export function handOver(server: Server, connection: Socket): void {
  if (!server.listening && !timed.has(server)) {
    timed.add(server);
    server.emit('listening');
  }
  server.emit('connection', connection);
}

const timed = new WeakSet<Server>();

/**
 * Ends a connection, after `milliseconds` in which nothing more is read, with what its parser still holds: one read may contain well over a thousand short requests,
 * and parsing those of a few hundred connections takes seconds. Node has no public way to stop its parser within a read;
 * 2 in place of the next request is how Node itself stops it for an upgrade.
 */
function cutOff(socket: Socket, milliseconds: number): void {
  const parser: unknown = Reflect.get(socket, 'parser');
  if (typeof parser === 'object' && parser !== null) Reflect.set(parser, 'onIncoming', () => 2);
  if (milliseconds > 0) socket.pause();
  hold(milliseconds, () => socket.destroy());
}

/** A message that breaks these rules may be an attempt at request smuggling, so its connection ends with it. */
function refuse(res: ServerResponse, refusal: Refusal): void {
  sendProblem(res, refusal, { close: true });
}

/**
 * Ends a connection whose bytes cannot be parsed. Every request on it gets exactly one answer, in order: complete ones
 * theirs, also when it is still awaited, and the broken one the refusal, unless it has been answered or its answer had
 * begun.
 */
function refuseBroken(
  { code, rawPacket }: { readonly code?: string; readonly rawPacket?: Buffer },
  socket: Duplex,
  { pending, unread }: Connection,
  {
    browsers,
    onRefused,
    headBytes,
  }: Pick<StrictServerOptions, 'browsers' | 'onRefused'> & Pick<ServerLimits, 'headBytes'>,
): void {
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  if (unread !== null && !unread.complete) {
    socket.end(() => socket.destroy());
    return;
  }
  const refusal = refusalOf(code, headBytes);
  onRefused?.(refusal, socket, null);
  const last = pending.at(-1);
  const isBroken = last !== undefined && !last.res.req.complete;
  if (!isBroken) {
    // The bytes after the last request are one that has no response object.
    afterAll(pending, () => {
      const hasCookies = refusal.code === 'head_too_large' && isOfCookies(rawPacket, headBytes);
      if (browsers === true && hasCookies) endWithHeadTooLarge(socket, refusal, rawPacket);
      else endWithProblem(socket, refusal);
    });
    return;
  }
  const { res, work } = last;
  last.isWaiting = false;
  work?.abandon();
  endReading(res);
  if (!res.headersSent) {
    // Node sends it after the answers before it, and then ends the connection.
    sendProblem(res, refusal, { close: true });
    endLingering(res);
  } else if (endLingering(res) || res.writableEnded) afterAll([last], () => socket.end(() => socket.destroy()));
  // Half of an answer is out, or will be: it must not look complete.
  else afterAll(pending.slice(0, -1), () => socket.destroy());
}

function refusalOf(code: string | undefined, headBytes: number): Refusal {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return headTooLarge(headBytes);
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return { code: 'payload_too_large', detail: 'The extensions of a chunk are too large.' };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { code: 'invalid_request', detail: 'The request did not arrive in time.' };
    default:
      return { code: 'invalid_request', detail: 'The bytes are not a valid HTTP/1.1 request.' };
  }
}
