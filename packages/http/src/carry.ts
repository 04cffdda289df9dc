// Carries one request to an upstream and its answer back, streaming both ways with back-pressure. This is the hot path:
// one object per request, no promises, small bodies in one write (bench/gateway measures it).
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { type Duplex, PassThrough } from 'node:stream';
import { type Refusal, sizeText } from '@platform/contract';
import { Pile } from '@platform/contract/pile';
import type { Dispatcher } from 'undici';
import { type Arrival, defaultArrival } from './arrival.ts';
import { endResponse, flushHead } from './end-response.ts';
import { gatherPieces, isHeldBack } from './gather.ts';
import type { Abandonable } from './hold.ts';
import { sendProblem } from './problem.ts';
import type { ResponseFilter } from './response-head.ts';
import type { IncomingRequest } from './server.ts';
import { UpstreamProtocolError } from './status-lines.ts';

export interface Upstream {
  /** For the log: which side failed, e.g. `core`. */
  readonly name: string;
  readonly dispatcher: Dispatcher;
  /** Path and query sent to the upstream. */
  readonly path: string;
  /** The complete header list, name, value, name, value …, without framing and without `host`, which the pool sends. */
  readonly headers: string[];
  readonly filterResponse: ResponseFilter;
  /** Milliseconds from the sent request to the head of the answer. Bodies have no time limit. */
  readonly headersTimeout: number;
  /** Called once when the upstream failed or was too slow, with the request id that the caller gets. */
  onFailure(failure: UpstreamFailure): void;
}

export interface Carrying {
  readonly upstream: Upstream;
  /** A body that has been read already, sent instead of the request's own. Default: the request's, as it arrives. */
  readonly body?: Buffer;
  /** Observes the answer as it passes, without changing or delaying it. */
  readonly tap?: Tap;
  /** Changes the body of an answer as it passes; `null` for an answer that passes as it is. */
  readonly rewrite?: (status: number, headers: IncomingHttpHeaders) => Rewrite | null;
  /** Milliseconds for the whole exchange, after which it fails with `upstream_timeout`. Default: no limit. */
  readonly deadline?: number;
  /** How fast the request's body has to arrive. Default: `defaultArrival`. */
  readonly arrival?: Arrival;
  /** Writes a refusal, such as 502 `upstream_failed`, and returns its request id. Default: a problem document. */
  readonly refuse?: (res: ServerResponse, refusal: Refusal) => string;
}

/** Gets each piece of a body and returns what is sent in its place, if anything. */
export interface Rewrite {
  chunk(bytes: Buffer): Buffer | null;
  /** After the last piece of a whole body. */
  end(): Buffer | null;
}

export interface Tap {
  /** The request is being written to a connection that stands: from here on the upstream may have acted on it. */
  sent?(): void;
  /** The final status and the fields as the upstream sent them, lower case. It may abort the exchange. */
  head?(status: number, headers: IncomingHttpHeaders): void;
  /** Bytes of the body, still encoded as the head says. */
  chunk?(bytes: Buffer): void;
  /** Called exactly once, also when there was no answer. */
  end?(how: ExchangeEnd): void;
}

/** `complete`: the whole answer passed. `abandoned`: the caller left or the exchange was aborted. */
export type ExchangeEnd = 'complete' | 'abandoned' | 'failed';

/** An exchange under way. */
export interface Carried extends Abandonable {
  /**
   * Aborts the exchange: answers with the refusal, or cuts off an answer that has begun, with what a slow caller has not
   * taken of it yet. No effect once the caller has everything.
   */
  abort(refusal: Refusal): void;
}

export interface UpstreamFailure {
  readonly upstream: Upstream['name'];
  readonly code: 'upstream_failed' | 'upstream_timeout';
  readonly method: string;
  /** Without query, which may hold secrets. */
  readonly path: string;
  /** `null` when the answer had begun and could only be aborted. */
  readonly requestId: string | null;
  /** An error code of Node or undici, never a message. */
  readonly reason: string;
}

/**
 * A body whose length is declared and at most this travels in one write; a longer one is streamed at once. A chunked
 * one is held until it is complete, larger than this, or older than `HELD_MS`, so that a small one travels with its
 * length, and one that turns out to be malformed not at all.
 */
const HELD_BYTES = 64 * 1024;
const HELD_MS = 25;

const NO_CONTENT = 204;

const TIMEOUTS = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT']);

/**
 * Starts the exchange. In every case the response ends or its connection is destroyed; nothing is retried. The owner of
 * the response calls `abandon` when the response closes.
 */
export function carry(incoming: IncomingRequest, carrying: Carrying): Carried {
  const exchange = new Exchange(incoming, carrying);
  exchange.start();
  return exchange;
}

/** A protocol upgrade that the caller requests and the upstream may accept. */
export interface Upgrade {
  readonly protocol: string;
  /** Whether a 101 with these fields is the answer to the request; any other fails. */
  accepts(headers: IncomingHttpHeaders): boolean;
  /** The upstream answered 101: its connection carries the other protocol from here on. The exchange is over. */
  switched(headers: IncomingHttpHeaders, upstream: Duplex): void;
}

export class Exchange implements Dispatcher.DispatchHandler, Carried {
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  readonly #incoming: IncomingRequest;
  readonly #upstream: Upstream;
  readonly #carrying: Carrying;
  readonly #upgrade: Upgrade | null;
  #deadline: NodeJS.Timeout | null = null;
  /** Of a body that has not arrived as a whole. */
  #arrival: NodeJS.Timeout | null = null;
  #controller: Dispatcher.DispatchController | null = null;
  /** The response has ended or was answered elsewhere; the upstream's events no longer matter. */
  #over = false;
  #headWritten = false;
  #expectedBytes = -1;
  /** A body that arrived whole with its head, kept for the single write at the end. */
  #wholeBody: Buffer | null = null;
  #rewrite: Rewrite | null = null;

  constructor(incoming: IncomingRequest, carrying: Carrying, upgrade: Upgrade | null = null) {
    this.#incoming = incoming;
    this.#req = incoming.req;
    this.#res = incoming.res;
    this.#upstream = carrying.upstream;
    this.#carrying = carrying;
    this.#upgrade = upgrade;
  }

  start(): void {
    const { deadline, body } = this.#carrying;
    if (deadline !== undefined) this.#deadline = setTimeout(() => this.#fail('UND_ERR_BODY_TIMEOUT'), deadline);
    if (body !== undefined) {
      this.#dispatch(body);
      return;
    }
    const { head, expectsContinue } = this.#incoming;
    const length = head.chunked ? -1 : (head.contentLength ?? 0);
    if (length === 0) {
      this.#dispatch(null);
      return;
    }
    if (expectsContinue) this.#res.writeContinue();
    if (length > HELD_BYTES) this.#stream(null);
    else if (length > 0) this.#collect(length);
    else this.#hold();
  }

  abandon(): void {
    if (!this.#finish('abandoned')) return;
    this.#controller?.abort(new Error('the caller is gone'));
  }

  abort(refusal: Refusal): void {
    if (!this.#finish('abandoned')) {
      if (this.#headWritten && !this.#res.writableFinished) this.#res.destroy();
      return;
    }
    this.#controller?.abort(new Error('aborted'));
    this.#refuse(refusal);
  }

  /** @returns false when it was over already */
  #finish(how: ExchangeEnd): boolean {
    if (this.#over) return false;
    this.#over = true;
    if (this.#deadline !== null) clearTimeout(this.#deadline);
    this.#endArrival();
    this.#carrying.tap?.end?.(how);
    return true;
  }

  /**
   * @returns the id of the request, or `null` where the answer had begun and was aborted, so as not to look complete
   */
  #refuse(refusal: Refusal): string | null {
    const { refuse = sendProblem } = this.#carrying;
    if (!this.#headWritten) return refuse(this.#res, refusal);
    this.#res.destroy();
    return null;
  }

  /** Waits for a short body of declared length; mostly it is in the packet of the head. */
  #collect(length: number): void {
    const pile = new Pile();
    this.#arrival = setTimeout(() => this.#endLate(), this.#limits.shortMilliseconds);
    this.#req.on('data', (part: Buffer) => {
      const isWhole = part.length === length;
      if (!isWhole) pile.add(part);
      if (!isWhole && pile.length < length) return;
      this.#endArrival();
      this.#dispatch(isWhole ? part : pile.take());
    });
  }

  get #limits(): Arrival {
    return this.#carrying.arrival ?? defaultArrival;
  }

  /** Ends an exchange of which the body comes too slowly. */
  #endLate(): void {
    const { shortMilliseconds, bytesPerSecond } = this.#limits;
    const least = `within ${shortMilliseconds / 1_000} s, or at least ${sizeText(bytesPerSecond)} each second where it is long`;
    this.abort({ code: 'invalid_request', detail: `The body did not arrive: all of it is due ${least}.` });
  }

  #endArrival(): void {
    if (this.#arrival !== null) clearTimeout(this.#arrival);
    this.#arrival = null;
  }

  #watchArrival(): void {
    const req = this.#req;
    const { bytesPerSecond, milliseconds } = this.#limits;
    let arrived = 0;
    let wasHeldBack = false;
    req.on('data', (part: Buffer) => {
      arrived += part.length;
      wasHeldBack ||= req.isPaused() || isHeldBack(req);
    });
    req.once('end', () => this.#endArrival());
    this.#arrival = setInterval(() => {
      const isSlow = arrived * 1_000 < bytesPerSecond * milliseconds;
      const isHeld = req.isPaused() || isHeldBack(req) || req.readableLength > 0;
      if (isSlow && !wasHeldBack && !isHeld) this.#endLate();
      arrived = 0;
      wasHeldBack = false;
    }, milliseconds);
  }

  #hold(): void {
    const req = this.#req;
    const pile = new Pile();
    const onData = (part: Buffer): void => {
      pile.add(part);
      if (pile.length > HELD_BYTES) stream();
    };
    const onEnd = (): void => {
      release();
      this.#dispatch(pile.take());
    };
    const release = (): void => {
      clearTimeout(timer);
      req.off('data', onData).off('end', onEnd);
      this.#res.off('close', release);
    };
    const stream = (): void => {
      release();
      this.#stream(pile.take());
    };
    const timer = setTimeout(stream, HELD_MS);
    req.on('data', onData).on('end', onEnd);
    this.#res.on('close', release);
  }

  #stream(begun: Buffer | null): void {
    if (this.#over) return;
    // A stream of our own stands between: undici destroys the body it is given, and with `req` would go the answer.
    const body = new PassThrough({ highWaterMark: HELD_BYTES });
    gatherPieces(body);
    if (begun !== null && begun.length > 0) body.write(begun);
    this.#req.pipe(body);
    this.#watchArrival();
    this.#dispatch(body);
  }

  #dispatch(body: Buffer | PassThrough | null): void {
    if (this.#over) return;
    const { contentLength } = this.#incoming.head;
    const { dispatcher, path, headers, headersTimeout } = this.#upstream;
    if (body instanceof PassThrough && contentLength !== null) headers.push('content-length', String(contentLength));
    try {
      const upgrade = this.#upgrade?.protocol ?? null;
      dispatcher.dispatch({ path, method: this.#req.method ?? 'GET', headers, body, headersTimeout, upgrade }, this);
    } catch (error) {
      // Often called by an event of a body, where it would be uncaught.
      this.onResponseError(null, error instanceof Error ? error : new Error('not an error'));
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#over) controller.abort(new Error('the caller is gone'));
    else this.#carrying.tap?.sent?.();
  }

  onRequestUpgrade(
    _controller: Dispatcher.DispatchController,
    _status: number,
    headers: IncomingHttpHeaders,
    upstream: Duplex,
  ): void {
    if (this.#upgrade?.accepts(headers) !== true) {
      upstream.destroy();
      this.#fail('ERR_UPSTREAM_PROTOCOL');
    } else if (!this.#finish('complete')) upstream.destroy();
    else this.#upgrade.switched(headers, upstream);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (this.#over) return;
    if (status < 200) {
      // The caller did not request a tunnel; other interim answers concern this connection only.
      if (status === 101) controller.abort(new UpstreamProtocolError('unrequested upgrade'));
      return;
    }
    const coding = headers['transfer-encoding'];
    if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
      // The body would pass still encoded, under headers that no longer say so.
      controller.abort(new UpstreamProtocolError('unknown transfer coding'));
      return;
    }
    this.#carrying.tap?.head?.(status, headers);
    // By that it may have been aborted.
    if (this.#over) return;
    this.#rewrite = this.#carrying.rewrite?.(status, headers) ?? null;
    // A body that is changed has another length, which is not known yet; 204 has no body, and may not state its length
    // (RFC 9110 section 8.6): a client that believed it would take the next answer for that body.
    const isSized = this.#rewrite === null && status !== NO_CONTENT;
    const fields = isSized ? headers : { ...headers, 'content-length': undefined };
    this.#res.statusCode = status;
    const passed = this.#upstream.filterResponse(fields, this.#res);
    this.#res.writeHead(status, passed);
    this.#headWritten = true;
    this.#expectedBytes = fields['content-length'] === undefined ? -1 : Number(fields['content-length']);
    // A head that declares a body waits for its first bytes, to leave with them; any other leaves at once (SSE).
    if (this.#expectedBytes < 0) flushHead(this.#res);
  }

  onResponseData(controller: Dispatcher.DispatchController, bytes: Buffer): void {
    if (this.#over) return;
    this.#carrying.tap?.chunk?.(bytes);
    const chunk = this.#rewrite === null ? bytes : this.#rewrite.chunk(bytes);
    if (chunk === null) return;
    if (chunk.length === this.#expectedBytes) {
      this.#wholeBody = chunk;
      return;
    }
    if (!this.#res.write(chunk)) {
      controller.pause();
      this.#res.once('drain', () => controller.resume());
    }
  }

  /** Trailers stop here: nothing the platform speaks needs them, and they arrive after every check. */
  onResponseEnd(): void {
    if (this.#finish('complete')) endResponse(this.#res, this.#wholeBody ?? this.#rewrite?.end() ?? null);
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.#fail(reasonOf(error));
  }

  #fail(reason: string): void {
    if (!this.#finish('failed')) return;
    this.#controller?.abort(new Error('the exchange failed'));
    const code = TIMEOUTS.has(reason) ? 'upstream_timeout' : 'upstream_failed';
    this.#upstream.onFailure({
      upstream: this.#upstream.name,
      code,
      method: this.#req.method ?? '',
      path: this.#upstream.path.split('?', 1)[0] ?? '',
      requestId: this.#refuse({ code }),
      reason,
    });
  }
}

function reasonOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
