// One iroh connection between two keys: its streams, whichever side opens them, and whether the other side still answers.
import { setTimeout as delay } from 'node:timers/promises';
import { type Connection, numbersOf } from './native.ts';
import { IrohSocket } from './socket.ts';

export interface ConnectionOptions {
  /** Takes a stream that the other side opened. Default: it may open none. */
  readonly onStream?: ((socket: IrohSocket) => void) | undefined;
  /** Streams that the other side may have open. */
  readonly streams: number;
  /** Bytes that may wait here in all streams. */
  readonly windowBytes: number;
}

const PING = [0];
const PONG = [1];
const BEAT_MILLISECONDS = 1_000;
/** Beats without an answer after which no new stream is begun on the connection. */
const DOUBTFUL_BEATS = 2;
const DEAD_BEATS = 4;
const PROBE_MILLISECONDS = 100;
/** One-way streams: each announces the early end of a stream. */
const ABORTS = 128n;
const LONGEST_ABORT = 100;
/** Announced before the stream itself arrived. */
const EARLY_ABORTS = 256;

export class IrohConnection {
  /** Of the other side, 32 bytes. */
  readonly key: Buffer;
  readonly closed: Promise<void>;
  readonly #native: Connection;
  readonly #streams = new Map<string, IrohSocket>();
  readonly #early = new Set<string>();
  readonly #beat: NodeJS.Timeout;
  #missed = 0;
  #isClosed = false;

  constructor(native: Connection, { onStream, streams, windowBytes }: ConnectionOptions) {
    this.#native = native;
    this.key = Buffer.from(native.remoteId().toBytes());
    native.setMaxConcurrentBiStreams(BigInt(onStream === undefined ? 0 : streams));
    native.setMaxConcurrentUniStreams(ABORTS);
    native.setReceiveWindow(BigInt(windowBytes));
    this.#beat = setInterval(() => this.#look(), BEAT_MILLISECONDS).unref();
    this.closed = native.closed().then(
      () => this.#end(),
      () => this.#end(),
    );
    this.#repeat(() => this.#takePing());
    this.#repeat(() => this.#takeAbort());
    if (onStream !== undefined) this.#repeat(() => this.#takeStream(onStream));
  }

  /** Whether it is worth beginning something on it. */
  get answers(): boolean {
    return !this.#isClosed && this.#missed < DOUBTFUL_BEATS;
  }

  /** Streams that are open. */
  get size(): number {
    return this.#streams.size;
  }

  /** @throws Error when the connection has ended */
  async open(): Promise<IrohSocket> {
    const { send, recv } = await this.#native.openBi();
    return this.#join(await send.id(), { send, recv });
  }

  /**
   * Resolves once a packet of the other side has arrived: its endpoint acknowledges a datagram by itself.
   *
   * @throws Error when none does before `signal` fires
   */
  async probe(signal: AbortSignal): Promise<void> {
    const received = () => this.#native.stats().udpRxDatagrams;
    const before = received();
    while (received() === before) {
      if (this.#isClosed) throw new Error('the connection has ended');
      // Again each time: one may get lost.
      this.#native.sendDatagram(PING);
      await delay(PROBE_MILLISECONDS, undefined, { signal });
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#native.close(0n, []);
    this.#end();
  }

  #join(id: string, { send, recv }: Pick<Awaited<ReturnType<Connection['openBi']>>, 'send' | 'recv'>): IrohSocket {
    const { address, port } = this.#remote();
    const socket = new IrohSocket({
      send,
      recv,
      remoteAddress: address,
      remotePort: port,
      onHeard: () => this.#heard(),
      onAbort: () => void this.#announceAbort(id).catch(() => undefined),
    });
    this.#streams.set(id, socket);
    // It may fail before anybody uses it; who does sees it close.
    socket.on('error', () => undefined);
    socket.once('close', () => this.#streams.delete(id));
    if (this.#early.delete(id) || this.#isClosed) socket.abortedByPeer();
    return socket;
  }

  async #takeStream(onStream: (socket: IrohSocket) => void): Promise<void> {
    const stream = await this.#native.acceptBi();
    const { send, recv } = stream;
    onStream(this.#join(await recv.id(), { send, recv }));
  }

  async #takeAbort(): Promise<void> {
    const stream = await this.#native.acceptUni();
    const id = Buffer.from(await stream.readToEnd(LONGEST_ABORT)).toString('latin1');
    this.#heard();
    const socket = this.#streams.get(id);
    if (socket !== undefined) socket.abortedByPeer();
    else if (this.#early.size < EARLY_ABORTS) this.#early.add(id);
  }

  async #announceAbort(id: string): Promise<void> {
    if (this.#isClosed) return;
    const stream = await this.#native.openUni();
    await stream.writeAll(numbersOf(Buffer.from(id, 'latin1')));
    await stream.finish();
  }

  async #takePing(): Promise<void> {
    const [kind] = await this.#native.readDatagram();
    this.#heard();
    if (kind === PING[0]) this.#native.sendDatagram(PONG);
  }

  #heard(): void {
    this.#missed = 0;
  }

  #look(): void {
    this.#missed += 1;
    if (this.#missed > DEAD_BEATS) {
      this.close();
      return;
    }
    try {
      this.#native.sendDatagram(PING);
    } catch {
      // It is ending; `closed` says so.
    }
  }

  /** Until it fails, which it does when the connection has ended. */
  #repeat(step: () => Promise<void>): void {
    const run = async (): Promise<void> => {
      while (!this.#isClosed) await step();
    };
    run().catch(() => this.close());
  }

  #end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#beat);
    for (const socket of this.#streams.values()) socket.abortedByPeer();
  }

  #remote(): { readonly address: string; readonly port: number } {
    const path = this.#native.paths().find(({ isSelected }) => isSelected);
    const place = path?.isIp === true ? path.remoteAddr : '';
    const colon = place.lastIndexOf(':');
    return {
      address: place.slice(0, Math.max(colon, 0)).replace(/^\[|\]$/g, ''),
      port: Number(place.slice(colon + 1)),
    };
  }
}
