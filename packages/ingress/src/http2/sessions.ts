// The front of HTTP/2: takes connections whose handshake agreed on it, and hands their requests to the handler of the
// strict HTTP/1.1 server, by the same rules. Frames are nghttp2's, in Node; this adds the limits.

import { type IncomingHttpHeaders, performServerHandshake, type ServerHttp2Session } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { Refusal } from '@platform/contract';
import { MiB, sizeText } from '@platform/contract/sizes';
import {
  type Abandonable,
  type AcceptedRequest,
  acceptRequest,
  defaultServerLimits,
  endFaulty,
  gatherWrites,
  hold,
  OFFERED_METHODS,
  requireReading,
  requireTransportSecurity,
  type ServerLimits,
  type StrictServerOptions,
  sendProblem,
  setTransportFields,
  UNKNOWN_EXPECTATION,
} from '@platform/http';
import { Http2Request } from './request.ts';
import { Http2Response } from './response.ts';
import { watchSession } from './session-watch.ts';
import { countSmallFrames } from './small-frames.ts';

const { METHODS } = process.getBuiltinModule('node:http');

export interface Http2Limits
  extends Pick<ServerLimits, 'headBytes' | 'headFields' | 'headMilliseconds' | 'keepAliveMilliseconds' | 'reading'> {
  /** Requests that one connection may have under way. */
  readonly streams: number;
  /** Requests that a client may cancel at once, and then in each second: cancelling costs it nothing. */
  readonly resets: { readonly burst: number; readonly rate: number };
  /** PING and SETTINGS of a client in ten seconds: each is answered. */
  readonly controls: number;
}

export interface Http2Front {
  /** Takes a connection over. */
  accept(socket: TLSSocket): void;
  /** Ends connections once the requests on them are answered. */
  drain(): void;
  /** Breaks off those that are open. */
  end(): void;
}

export const defaultHttp2Limits: Http2Limits = {
  headBytes: defaultServerLimits.headBytes,
  headFields: defaultServerLimits.headFields,
  headMilliseconds: defaultServerLimits.headMilliseconds,
  keepAliveMilliseconds: defaultServerLimits.keepAliveMilliseconds,
  reading: defaultServerLimits.reading,
  streams: 100,
  resets: { burst: 200, rate: 20 },
  controls: 100,
};

/** What a stream, and a connection, may have arrived of bodies that nobody reads. */
const STREAM_WINDOW = 256 * 1024;
const CONNECTION_WINDOW = MiB;
/** MiB that Node may hold for one connection, beyond which it takes no more requests: what waits of a hundred answers. */
const SESSION_MEMORY = 8;
/** Browsers hold fewer for one site, and send each as a field. */
const COOKIES = 200;
const KNOWN_METHODS = new Set(METHODS);

/** @param options as those of the HTTP/1.1 server; WebSockets are not offered over HTTP/2 (RFC 8441), so clients use that */
export function serveHttp2(options: StrictServerOptions, limitOptions: Partial<Http2Limits> = {}): Http2Front {
  const limits: Http2Limits = { ...defaultHttp2Limits, ...limitOptions };
  const sessions = new Set<ServerHttp2Session>();
  const smallFrames = countSmallFrames();

  function accept(socket: TLSSocket): void {
    if (options.admits?.(socket) === false) {
      socket.destroy();
      return;
    }
    // A client that has said all it will say gets no more answers: nobody would end its connection.
    socket.allowHalfOpen = false;
    if (options.strictTransport === true) requireTransportSecurity(socket);
    requireReading(socket, limits.reading);
    const session = performServerHandshake(socket, {
      settings: {
        enablePush: false,
        initialWindowSize: STREAM_WINDOW,
        maxConcurrentStreams: limits.streams,
        maxHeaderListSize: limits.headBytes,
      },
      maxSessionMemory: SESSION_MEMORY,
      // One more is read, so that the excess is seen rather than cut off; with them come four pseudo-fields, and cookies.
      maxHeaderListPairs: limits.headFields + 5 + COOKIES,
      streamResetBurst: limits.resets.burst,
      streamResetRate: limits.resets.rate,
      maxSessionRejectedStreams: 10,
      maxSessionInvalidFrames: 100,
      // Fields that a workload answers twice pass as over HTTP/1.1.
      strictSingleValueFields: false,
    });
    session.setLocalWindowSize(CONNECTION_WINDOW);
    sessions.add(session);
    const watch = watchSession(session, socket, limits);
    const countFrames = smallFrames.of(session, socket.remoteAddress);
    session.on('stream', (stream, headers, _flags, fields: string[]) => {
      gatherWrites(stream);
      const incoming = new Http2Request(stream, headers, fields, socket);
      if (!stream.endAfterHeaders) countFrames(stream);
      const outgoing = new Http2Response(incoming, stream);
      watch.add(outgoing);
      receive(incoming, outgoing, headers);
    });
    // What ends a session is the client's fault or leave; its streams close with it.
    session.on('error', () => session.destroy());
    session.on('close', () => sessions.delete(session));
  }

  function receive(incoming: Http2Request, outgoing: Http2Response, headers: IncomingHttpHeaders): void {
    const res = outgoing.asServerResponse();
    const connection = incoming.socket;
    let work: Abandonable | null | undefined = null;
    options.onBegin?.();
    res.on('close', () => {
      work?.abandon();
      options.onEnd?.();
    });
    if (options.strictTransport === true) setTransportFields(res, connection);
    try {
      const reading = read(incoming, headers);
      if ('code' in reading) {
        options.onRefused?.(reading, connection, incoming.asIncomingMessage());
        work = hold(options.paceRefusals?.(connection, 1) ?? 0, () => void sendProblem(res, reading));
        return;
      }
      const expectsContinue = headers.expect !== undefined;
      work = options.onRequest({ ...reading, res, expectsContinue });
    } catch (error) {
      endFaulty(res);
      options.onFault(error);
    }
  }

  /** The request as a handler may see it; or why it is refused. */
  function read(incoming: Http2Request, headers: IncomingHttpHeaders): AcceptedRequest | Refusal {
    if (incoming.method === 'CONNECT')
      return {
        code: 'method_not_allowed',
        detail: 'CONNECT is not offered: this is not a proxy.',
        allow: OFFERED_METHODS,
      };
    // Node holds a client to its settings only once that has confirmed them.
    if (incoming.headBytes > limits.headBytes)
      return { code: 'head_too_large', detail: `A head has at most ${sizeText(limits.headBytes)}.` };
    // The parser of HTTP/1.1 knows no others.
    if (!KNOWN_METHODS.has(incoming.method)) return { code: 'invalid_request', detail: 'The method is not known.' };
    if (headers[':scheme'] !== 'https')
      return { code: 'invalid_request', detail: 'On this connection the :scheme is https.' };
    if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue') return UNKNOWN_EXPECTATION;
    return acceptRequest(incoming.asIncomingMessage(), options, limits, incoming.socket);
  }

  return {
    accept,
    drain() {
      for (const session of sessions) session.close();
    },
    end() {
      for (const session of sessions) session.destroy();
    },
  };
}
