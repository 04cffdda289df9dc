// A client that sends exact bytes over a connection and splits what comes back into answers, for tests of HTTP parsing.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

export interface RawConnection {
  readonly socket: Socket;
  /** Everything received so far, as latin1. */
  received(): string;
  /** Final answers received completely so far. */
  answers(): RawAnswer[];
  isClosed(): boolean;
  /** Resolves once `condition` holds or the connection is closed. */
  until(condition: () => boolean): Promise<void>;
  halfClose(): void;
  closed(): Promise<void>;
}

/** Where a server of a test listens: a port of 127.0.0.1, or a Unix socket. */
export type RawTarget = number | { readonly path: string };

export async function openRaw(to: RawTarget, bytes: Uint8Array | string): Promise<RawConnection> {
  const socket = connect({ ...(typeof to === 'number' ? { port: to, host: '127.0.0.1' } : to), allowHalfOpen: true });
  const isHead = Buffer.from(bytes).toString('latin1', 0, 5) === 'HEAD ';
  let received = '';
  let closed = false;
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
  });
  // A connection may end with a reset here; the tests judge the answers.
  socket.on('error', () => undefined);
  socket.on('end', () => socket.end());
  const whenClosed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      closed = true;
      resolve();
    });
  });
  await once(socket, 'connect');
  socket.write(bytes);
  return {
    socket,
    received: () => received,
    answers: () => splitAnswers(received, isHead),
    isClosed: () => closed,
    async until(condition) {
      while (!closed && !condition()) {
        await Promise.race([new Promise((resolve) => socket.once('data', resolve)), whenClosed]);
      }
    },
    halfClose: () => void socket.end(),
    closed: () => whenClosed,
  };
}

/** Splits final answers; answers without a length are taken to run to the end of what was received. */
function splitAnswers(received: string, isHead: boolean): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = received;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    const line = /^HTTP\/1\.1 (\d{3})/.exec(rest);
    if (end === -1 || line === null) return answers;
    const head = rest.slice(0, end);
    const status = Number(line[1]);
    rest = rest.slice(end + 4);
    if (status < 200) continue;
    const length = /\r\ncontent-length: *(\d+)/i.exec(head);
    let body: string;
    if (isHead) body = '';
    else if (/\r\ntransfer-encoding: *chunked/i.test(head)) {
      const chunked = readChunked(rest);
      if (chunked === null) return answers;
      body = chunked.body;
      rest = chunked.rest;
    } else {
      const bytes = length === null ? rest.length : Number(length[1]);
      if (rest.length < bytes) return answers;
      body = rest.slice(0, bytes);
      rest = rest.slice(bytes);
    }
    answers.push({ status, head, body });
  }
}

function readChunked(text: string): { body: string; rest: string } | null {
  let body = '';
  let rest = text;
  for (;;) {
    const size = /^([0-9a-f]+)\r\n/i.exec(rest);
    if (size === null) return null;
    const length = Number.parseInt(size[1] ?? '', 16);
    const start = size[0].length;
    if (rest.length < start + length + 2) return null;
    body += rest.slice(start, start + length);
    rest = rest.slice(start + length + 2);
    if (length === 0) return { body, rest };
  }
}
