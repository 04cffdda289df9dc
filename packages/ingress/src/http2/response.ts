// The answer on a stream of HTTP/2, for handlers that write answers of HTTP/1.1. Node's own compatible response sends one
// frame more for each answer, and fails where HTTP/1.1 drops a body that must not be.
import { EventEmitter } from 'node:events';
import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { constants, type ServerHttp2Stream } from 'node:http2';
import type { ReadingProgress } from '@platform/http';
import type { Http2Request } from './request.ts';

type Fields = OutgoingHttpHeaders | readonly OutgoingHttpHeader[];

/** HTTP/2 has none of these (RFC 9113 section 8.2.2). */
const OF_CONNECTIONS = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade']);

/** `sendDate` is one of Node's options that its types lack. */
const HEAD_ALONE = { endStream: false, sendDate: false };
const HEAD_AND_END = { endStream: true, sendDate: false };

/** For the client to take that the rest of its request is refused. */
const LEAVE_MILLISECONDS = 2_000;

/** What handlers use of Node's `ServerResponse`. */
export class Http2Response extends EventEmitter {
  readonly req: Http2Request;
  statusCode = 200;
  /** Of HTTP/1.1: whether the connection stays. Here it does. */
  shouldKeepAlive = true;
  /** Of HTTP/1.1 too: no `Date` of ours is sent. */
  sendDate = false;
  writableEnded = false;
  readonly #stream: ServerHttp2Stream;
  readonly #fields: NodeJS.Dict<OutgoingHttpHeader> = {};
  #given = 0;

  constructor(req: Http2Request, stream: ServerHttp2Stream) {
    super();
    this.req = req;
    this.#stream = stream;
    stream.on('drain', () => this.emit('drain'));
    stream.once('finish', () => this.emit('finish'));
    stream.once('close', () => this.emit('close'));
    // The stream closes with it, which is what handlers wait for.
    stream.on('error', () => undefined);
  }

  get headersSent(): boolean {
    return this.#stream.headersSent;
  }

  get destroyed(): boolean {
    return this.#stream.destroyed || this.#stream.closed;
  }

  get writable(): boolean {
    return !this.writableEnded && !this.destroyed;
  }

  get writableFinished(): boolean {
    return this.#stream.writableFinished;
  }

  get writableLength(): number {
    return this.#stream.writableLength;
  }

  get socket(): Http2Request['socket'] | null {
    return this.destroyed ? null : this.req.socket;
  }

  /** Bytes of the body that were written, and those that have left: a client may keep its window closed. */
  progress(): ReadingProgress {
    return { given: this.#given, taken: this.#given - (this.#stream.bufferSize ?? 0) };
  }

  getHeader(name: string): OutgoingHttpHeader | undefined {
    return this.#fields[name.toLowerCase()];
  }

  hasHeader(name: string): boolean {
    return this.getHeader(name) !== undefined;
  }

  setHeader(name: string, value: OutgoingHttpHeader): this {
    this.#fields[name.toLowerCase()] = value;
    return this;
  }

  removeHeader(name: string): void {
    delete this.#fields[name.toLowerCase()];
  }

  /** @param fields an object, or name, value, name, value …; those set before stay unless they are named here */
  writeHead(status: number, fields: Fields = {}): this {
    this.#respond(status, fields, HEAD_ALONE);
    return this;
  }

  flushHeaders(): void {
    this.writeHead(this.statusCode);
  }

  writeContinue(): void {
    if (!this.destroyed && !this.headersSent) this.#stream.additionalHeaders({ ':status': 100 });
  }

  /** @returns false while the client's window is closed; then `drain` follows */
  write(chunk: string | Uint8Array, encoding: BufferEncoding = 'utf8'): boolean {
    if (this.writableEnded || this.destroyed) return true;
    this.flushHeaders();
    // After HEAD, 204, 205 and 304 the stream ends with its head; HTTP/1.1 drops such a body as well.
    if (this.#stream.writableEnded) return true;
    this.#given += typeof chunk === 'string' ? Buffer.byteLength(chunk, encoding) : chunk.length;
    return this.#stream.write(chunk, encoding);
  }

  end(chunk?: string | Uint8Array | null, encoding?: BufferEncoding): this {
    if (this.writableEnded) return this;
    const hasBody = chunk !== undefined && chunk !== null;
    if (!hasBody) this.#respond(this.statusCode, {}, HEAD_AND_END);
    else this.write(chunk, encoding);
    this.writableEnded = true;
    if (this.destroyed) return this;
    if (this.#stream.writableFinished) this.#refuseRest();
    else this.#stream.once('finish', () => this.#refuseRest());
    this.#stream.end();
    return this;
  }

  /** Ends the stream as broken: what was sent of the answer must not look complete. */
  destroy(): this {
    if (!this.destroyed) this.#stream.destroy(new Error('the answer broke off'));
    return this;
  }

  /** For the handlers of requests, which know this interface. */
  asServerResponse(): ServerResponse {
    return this as unknown as ServerResponse;
  }

  #respond(status: number, fields: Fields, options: typeof HEAD_ALONE): void {
    if (this.destroyed || this.headersSent) return;
    this.statusCode = status;
    const given: NodeJS.Dict<OutgoingHttpHeader> = {};
    for (const [name, value] of isList(fields) ? pairsOf(fields) : Object.entries(fields)) add(given, name, value);
    const all = { ...this.#fields, ...given };
    for (const name of Object.keys(all)) if (OF_CONNECTIONS.has(name)) delete all[name];
    this.#stream.respond({ ...all, ':status': status }, options);
  }

  /** The rest of a request that has its answer already is not wanted (RFC 9113 section 8.1). */
  #refuseRest(): void {
    if (this.req.complete || this.destroyed) return;
    this.#stream.close(constants.NGHTTP2_NO_ERROR);
    this.#stream.resume();
    // Node may have stopped reading the connection, and never learn that its client is gone.
    const late = setTimeout(() => this.#stream.destroy(), LEAVE_MILLISECONDS);
    this.#stream.once('close', () => clearTimeout(late));
  }
}

function isList(fields: Fields): fields is readonly OutgoingHttpHeader[] {
  return Array.isArray(fields);
}

function pairsOf(fields: readonly OutgoingHttpHeader[]): [string, OutgoingHttpHeader][] {
  const pairs: [string, OutgoingHttpHeader][] = [];
  for (let index = 0; index + 1 < fields.length; index += 2)
    pairs.push([String(fields[index]), fields[index + 1] ?? '']);
  return pairs;
}

/** A name that comes again stands for one field more. */
function add(fields: NodeJS.Dict<OutgoingHttpHeader>, name: string, value: OutgoingHttpHeader | undefined): void {
  if (value === undefined) return;
  const key = name.toLowerCase();
  const former = fields[key];
  if (former === undefined) fields[key] = value;
  else fields[key] = [former, value].flat().map(String);
}
