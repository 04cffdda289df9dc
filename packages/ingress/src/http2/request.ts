// A request of HTTP/2 as HTTP/1.1 would put it (RFC 9113 section 8.3.1, RFC 9112): one list of fields with Host, a body of
// unknown length as chunked. Whatever judges and carries requests reads that form, so a request means the same in both.
import type { IncomingMessage } from 'node:http';
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { gatherPieces } from '@platform/http';

/** Colon, space and the end of a line. */
const FIELD_BYTES = 4;

/** What handlers use of Node's `IncomingMessage`. */
export class Http2Request extends Readable {
  readonly httpVersion = '1.1';
  readonly httpVersionMajor = 1;
  readonly httpVersionMinor = 1;
  readonly method: string;
  url: string;
  readonly rawHeaders: string[];
  readonly headers: NodeJS.Dict<string | string[]>;
  /** The connection, which carries other requests as well. */
  readonly socket: TLSSocket;
  /** Bytes of the head as HTTP/1.1 would have sent it, whatever it took on the way. */
  readonly headBytes: number;
  /** Bytes of the body that have arrived. */
  bytesArrived = 0;
  readonly #stream: ServerHttp2Stream;
  #isRead = false;

  /** @param fields as they were sent, name, value, name, value …, the pseudo-fields first */
  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, fields: readonly string[], socket: TLSSocket) {
    super();
    this.#stream = stream;
    this.socket = socket;
    this.method = headers[':method'] ?? '';
    this.url = headers[':path'] ?? '';
    const authority = headers[':authority'];
    const hasUnknownLength = !stream.endAfterHeaders && headers['content-length'] === undefined;
    this.headers = { ...headers };
    this.rawHeaders = authority === undefined ? [] : ['host', authority];
    let headBytes = 0;
    for (let index = 0; index + 1 < fields.length; index += 2) {
      const name = fields[index] ?? '';
      const value = fields[index + 1] ?? '';
      headBytes += name.length + value.length + FIELD_BYTES;
      if (name.startsWith(':')) delete this.headers[name];
      else if (name !== 'cookie' && (name !== 'host' || !isSame(value, authority))) this.rawHeaders.push(name, value);
    }
    this.headBytes = headBytes;
    // Browsers send each cookie as a field (RFC 9113 section 8.2.3); it counts as one.
    if (headers.cookie !== undefined) this.rawHeaders.push('cookie', headers.cookie);
    if (authority !== undefined) this.headers.host = authority;
    if (hasUnknownLength) {
      this.headers['transfer-encoding'] = 'chunked';
      this.rawHeaders.push('transfer-encoding', 'chunked');
    }
    if (stream.endAfterHeaders) this.push(null);
    else {
      gatherPieces(stream);
      gatherPieces(this);
    }
    // Its reader may have left meanwhile, and an error without a listener would end the process.
    this.on('error', () => undefined);
    stream.once('close', () => this.#endBroken());
  }

  /** Whether all of it has arrived. */
  get complete(): boolean {
    return this.#stream.endAfterHeaders || this.#stream.readableEnded;
  }

  override _read(): void {
    if (this.#isRead) {
      this.#stream.resume();
      return;
    }
    this.#isRead = true;
    this.#stream.on('data', (chunk: Buffer) => {
      this.bytesArrived += chunk.length;
      if (!this.push(chunk)) this.#stream.pause();
    });
    this.#stream.once('end', () => this.push(null));
  }

  /** For the handlers of requests, which know this interface. */
  asIncomingMessage(): IncomingMessage {
    return this as unknown as IncomingMessage;
  }

  /** As Node's: a reader gets an error. */
  #endBroken(): void {
    if (this.complete || this.destroyed) return;
    this.destroy(Object.assign(new Error('aborted'), { code: 'ECONNRESET' }));
  }
}

/** An intermediary may send Host beside `:authority`; then they must agree. */
function isSame(host: string, authority: string | undefined): boolean {
  return authority !== undefined && host.toLowerCase() === authority.toLowerCase();
}
