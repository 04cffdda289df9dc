// One stream of an iroh connection as a socket, for servers and pools that know no other.
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { numbersOf, plainError, type RecvStream, type SendStream } from './native.ts';

export interface StreamParts {
  readonly send: SendStream;
  readonly recv: RecvStream;
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** Something arrived. */
  readonly onHeard: () => void;
  /** The stream ended before both sides had finished it; the other side does not notice by itself. */
  readonly onAbort: () => void;
}

const CHUNK_BYTES = 64 * 1024;
const RESET = 1n;

/**
 * A native call holds its half of the stream until it is done: `reset` waits for a write that waits for the reader at
 * the other end, and `stop` for a read that waits for bytes. So a stream that ends early is announced beside it
 * (`onAbort`), and each side then does what frees the other's call.
 */
export class IrohSocket extends Duplex {
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly remoteFamily: 'IPv4' | 'IPv6';
  /** As of a TLS socket: nobody on the way reads along. */
  readonly encrypted = true;
  readonly connecting = false;
  bytesRead = 0;
  timeout: number | undefined;
  readonly #parts: StreamParts;
  #sent = 0;
  #finished = false;
  #ended = false;
  #abortedByPeer = false;
  #idle: NodeJS.Timeout | undefined;

  constructor(parts: StreamParts) {
    super({ readableHighWaterMark: CHUNK_BYTES, writableHighWaterMark: CHUNK_BYTES });
    this.#parts = parts;
    this.remoteAddress = parts.remoteAddress;
    this.remotePort = parts.remotePort;
    this.remoteFamily = parts.remoteAddress.includes(':') ? 'IPv6' : 'IPv4';
  }

  /** As a socket of `node:net`: the members that HTTP uses are here. */
  asSocket(): Socket {
    return this as unknown as Socket;
  }

  /** Bytes given to it, those that wait included. */
  get bytesWritten(): number {
    return this.#sent + this.writableLength;
  }

  override _read(): void {
    this.#parts.recv.read(CHUNK_BYTES).then(
      (bytes) => {
        if (this.destroyed) return;
        this.#stir();
        if (bytes.length === 0) {
          this.#ended = true;
          this.push(null);
          return;
        }
        this.bytesRead += bytes.length;
        this.push(Buffer.from(bytes));
      },
      (error: unknown) => this.destroy(plainError(error, 'ECONNRESET')),
    );
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#send(bytesOf(chunk, encoding)).then(
      () => done(),
      (error: unknown) => done(plainError(error, 'EPIPE')),
    );
  }

  override _writev(
    chunks: { readonly chunk: Buffer | string; readonly encoding: BufferEncoding }[],
    done: (error?: Error | null) => void,
  ): void {
    this._write(Buffer.concat(chunks.map(({ chunk, encoding }) => bytesOf(chunk, encoding))), 'binary', done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#parts.send.finish().then(
      () => {
        this.#finished = true;
        done();
      },
      (error: unknown) => done(plainError(error, 'EPIPE')),
    );
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#idle);
    const { send, recv, onAbort } = this.#parts;
    // What was finished still arrives whole; the other side must not drop it.
    if (!this.#finished) {
      send.reset(RESET).catch(() => undefined);
      if (!this.#abortedByPeer) onAbort();
    }
    if (!this.#ended) recv.stop(RESET).catch(() => undefined);
    done(error);
  }

  /** The other side ended the stream early. */
  abortedByPeer(): void {
    this.#abortedByPeer = true;
    this.destroy(Object.assign(new Error('the other side ended the connection'), { code: 'ECONNRESET' }));
  }

  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  setTimeout(milliseconds: number, listener?: () => void): this {
    if (listener !== undefined) {
      if (milliseconds === 0) this.off('timeout', listener);
      else this.once('timeout', listener);
    }
    clearTimeout(this.#idle);
    this.timeout = milliseconds;
    this.#idle = milliseconds === 0 ? undefined : setTimeout(() => this.emit('timeout'), milliseconds).unref();
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  address(): object {
    return {};
  }

  async #send(bytes: Buffer): Promise<void> {
    for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
      const part = bytes.subarray(start, start + CHUNK_BYTES);
      await this.#parts.send.writeAll(numbersOf(part));
      this.#sent += part.length;
      this.#idle?.refresh();
    }
  }

  #stir(): void {
    this.#parts.onHeard();
    this.#idle?.refresh();
  }
}

function bytesOf(chunk: Buffer | string, encoding: BufferEncoding): Buffer {
  return typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk;
}
