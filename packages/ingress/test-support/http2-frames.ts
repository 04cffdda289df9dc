// Frames of HTTP/2 as a hostile client writes them (RFC 9113 section 4, RFC 7541): anything goes. Fields are literals that
// no table keeps.
import { once } from 'node:events';
import type { TLSSocket } from 'node:tls';

export const FRAMES = {
  data: 0,
  headers: 1,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
};
export const FLAGS = { ack: 1, endStream: 1, endHeaders: 4 };
const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

export function frame(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A block of fields; `[name, value]` each. */
export function fieldBlock(fields: readonly (readonly [string, string])[]): Buffer {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.of(0), text(name), text(value)]));
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  if (bytes.length < 127) return Buffer.concat([Buffer.of(bytes.length), bytes]);
  const length: number[] = [127];
  let rest = bytes.length - 127;
  for (; rest >= 128; rest = Math.floor(rest / 128)) length.push((rest % 128) + 128);
  length.push(rest);
  return Buffer.concat([Buffer.from(length), bytes]);
}

export function headersFrame(
  stream: number,
  fields: readonly (readonly [string, string])[],
  flags = FLAGS.endHeaders + FLAGS.endStream,
): Buffer {
  return frame(FRAMES.headers, flags, stream, fieldBlock(fields));
}

export interface ReceivedFrame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

export interface RawHttp2 {
  readonly socket: TLSSocket;
  readonly received: readonly ReceivedFrame[];
  send(...frames: readonly Uint8Array[]): void;
  /** Resolves with the first frame that fits, or with `null` when the connection ends without one. */
  next(fits: (frame: ReceivedFrame) => boolean): Promise<ReceivedFrame | null>;
  /** How the server ended this stream: the code of its RST_STREAM, or `head` for an answer. `null`: the connection ended. */
  outcome(stream: number): Promise<number | 'head' | null>;
  closed(): Promise<void>;
  readonly isClosed: boolean;
}

/** Speaks the preface and the settings; acknowledges nothing. */
export async function openRawHttp2(socket: TLSSocket): Promise<RawHttp2> {
  await once(socket, 'secureConnect');
  const received: ReceivedFrame[] = [];
  let rest = Buffer.alloc(0);
  let isClosed = false;
  socket.on('error', () => undefined);
  socket.on('close', () => {
    isClosed = true;
    socket.emit('frames');
  });
  socket.on('data', (bytes: Buffer) => {
    rest = Buffer.concat([rest, bytes]);
    while (rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3)) {
      const end = 9 + rest.readUIntBE(0, 3);
      received.push({
        type: rest.readUInt8(3),
        flags: rest.readUInt8(4),
        stream: rest.readUInt32BE(5),
        payload: Buffer.from(rest.subarray(9, end)),
      });
      rest = rest.subarray(end);
    }
    socket.emit('frames');
  });
  socket.write(Buffer.concat([Buffer.from(PREFACE), frame(FRAMES.settings, 0, 0)]));
  const next = async (fits: (frame: ReceivedFrame) => boolean): Promise<ReceivedFrame | null> => {
    for (;;) {
      const found = received.find(fits);
      if (found !== undefined || isClosed) return found ?? null;
      await once(socket, 'frames');
    }
  };
  return {
    socket,
    received,
    send: (...frames) => void socket.write(Buffer.concat(frames)),
    next,
    async outcome(stream) {
      const end = await next(
        ({ type, stream: of }) => of === stream && (type === FRAMES.rstStream || type === FRAMES.headers),
      );
      if (end === null) return null;
      return end.type === FRAMES.headers ? 'head' : end.payload.readUInt32BE(0);
    },
    async closed() {
      if (!isClosed) await once(socket, 'close');
    },
    get isClosed() {
      return isClosed;
    },
  };
}

/** Sends until the connection ends, waiting for what was sent to leave. */
export async function flood(raw: RawHttp2, piece: (turn: number) => Uint8Array, turns: number): Promise<number> {
  for (let turn = 0; turn < turns; turn += 1) {
    if (raw.isClosed || raw.socket.destroyed || raw.socket.readableEnded) return turn;
    if (!raw.socket.write(piece(turn)))
      await Promise.race([new Promise((resolve) => raw.socket.once('drain', resolve)), raw.closed()]);
    else await new Promise((resolve) => setImmediate(resolve));
  }
  return turns;
}
