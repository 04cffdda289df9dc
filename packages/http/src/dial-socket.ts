// Dialing for a process without network access: it sends a request over a Unix socket that only it can reach, and the
// server behind it connects. One JSON line each way, then the bytes of the connection; the client speaks TLS through
// it.
import { once } from 'node:events';
import { chmodSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { BlockedAddressError, type Dialer, type DialTarget, TooManyDialsError } from './dialer.ts';
import { joinSockets } from './join-sockets.ts';

export interface DialServerOptions {
  /** Path of the Unix socket. Access to the file is permission to dial. */
  readonly path: string;
  readonly dialer: Dialer;
  /**
   * Private origins that may be dialed until `permit` names others. Origins that a client allows count only if they are
   * listed here.
   */
  readonly privateOrigins: readonly string[];
  /** Concurrent connections, including those being established. Default 256. */
  readonly mostOpen?: number;
  /** Idle limit in milliseconds, in either direction, after which a connection ends. Default 900,000. */
  readonly idle?: number;
}

export interface DialServer {
  /** Connections open now, those being made included. */
  open(): number;
  /** Replaces the private origins that may be dialed, and ends connections that relied on one that is gone. */
  permit(privateOrigins: readonly string[]): void;
  /** Ends all of them. */
  close(): Promise<void>;
}

type Answer =
  | { readonly kind: 'connected' }
  | { readonly kind: 'blocked' | 'busy' | 'failed'; readonly reason: string };

const MOST_OPEN = 256;
const IDLE_MS = 15 * 60_000;
/** Time limit for the client's request line. */
const ASK_MS = 5_000;
/** Time limit for the server's answer, longer than a Dialer takes. */
const ANSWER_MS = 15_000;
const LONGEST_LINE = 16 * 1024;
const ANYONE_IN_ITS_FOLDER = 0o666;

/** Serves dial requests at the Unix socket `path`. @throws Error when the socket cannot be created */
export async function serveDials(options: DialServerOptions): Promise<DialServer> {
  const { path, mostOpen = MOST_OPEN } = options;
  /** Each with the private origins that its client allowed and may. */
  const open = new Map<Socket, readonly string[]>();
  let permitted: ReadonlySet<string> = new Set(options.privateOrigins);
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    if (open.size >= mostOpen) {
      finish(socket, { kind: 'busy', reason: 'Too many connections are open.' });
      return;
    }
    open.set(socket, []);
    socket.on('close', () => open.delete(socket));
    const allowed = (origins: readonly string[]): readonly string[] => {
      const known = origins.filter((origin) => permitted.has(origin));
      if (!socket.destroyed) open.set(socket, known);
      return known;
    };
    answer(socket, options, allowed).catch((error: unknown) => finish(socket, refusalOf(error)));
  });
  rmSync(path, { force: true });
  server.listen(path);
  await once(server, 'listening');
  chmodSync(path, ANYONE_IN_ITS_FOLDER);
  return {
    open: () => open.size,
    permit(privateOrigins) {
      permitted = new Set(privateOrigins);
      for (const [socket, origins] of open) if (!origins.every((origin) => permitted.has(origin))) socket.destroy();
    },
    async close() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      for (const socket of open.keys()) socket.destroy();
      await closed;
    },
  };
}

/** A Dialer that requests every connection at the Unix socket `path`. Throws the same errors as a local one. */
export function dialerAt(path: string): Dialer {
  return {
    async connect({ host, port, allow }, signal) {
      const limit = AbortSignal.timeout(ANSWER_MS);
      const ended = signal === undefined ? limit : AbortSignal.any([signal, limit]);
      const socket = connect(path);
      try {
        await once(socket, 'connect', { signal: ended });
        socket.write(`${JSON.stringify({ host, port, allow } satisfies DialTarget)}\n`);
        const given = JSON.parse(await readLine(socket, ended)) as Answer;
        if (given.kind === 'connected') return socket;
        if (given.kind === 'blocked') throw new BlockedAddressError(given.reason);
        if (given.kind === 'busy') throw new TooManyDialsError(given.reason);
        throw new Error(`The connection could not be opened: ${given.reason}`);
      } catch (error) {
        socket.on('error', () => undefined).destroy();
        throw ended.aborted ? ended.reason : error;
      }
    },
  };
}

/** @param allowed Returns those of a client's private origins that may be dialed, and remembers that it relies on them. */
async function answer(
  socket: Socket,
  { dialer, idle = IDLE_MS }: DialServerOptions,
  allowed: (origins: readonly string[]) => readonly string[],
): Promise<void> {
  const request = readTarget(await readLine(socket, AbortSignal.timeout(ASK_MS)));
  const allow = request.allow === 'public' ? [] : allowed(request.allow);
  const waiting = whileThere(socket);
  const target = await dialer.connect({ ...request, allow }, waiting.signal);
  waiting.stop();
  target.allowHalfOpen = true;
  if (socket.destroyed) {
    target.destroy();
    return;
  }
  send(socket, { kind: 'connected' });
  joinSockets(socket, target, { idle });
}

/** A signal that aborts when the client disconnects before it has its answer. */
function whileThere(socket: Socket): { readonly signal: AbortSignal; stop(): void } {
  const gone = new AbortController();
  const leave = (): void => gone.abort(new Error('The caller disconnected.'));
  // A socket reports its end only while it is read.
  const look = (): void => {
    if (socket.readableLength === 0) socket.read();
  };
  socket.on('readable', look).on('end', leave).on('close', leave);
  return { signal: gone.signal, stop: () => void socket.off('readable', look).off('end', leave).off('close', leave) };
}

function readTarget(line: string): DialTarget {
  const value: unknown = JSON.parse(line);
  if (typeof value !== 'object' || value === null) throw new Error('The request is not an object.');
  const { host, port, allow } = value as Partial<Record<keyof DialTarget, unknown>>;
  if (typeof host !== 'string' || typeof port !== 'number') throw new Error('The request names no host and port.');
  if (allow === 'public') return { host, port, allow };
  if (!Array.isArray(allow) || !allow.every((origin) => typeof origin === 'string' && URL.canParse(origin)))
    throw new Error('The request does not say what is allowed.');
  return { host, port, allow };
}

function refusalOf(error: unknown): Answer {
  const reason = error instanceof Error ? error.message : String(error);
  if (error instanceof BlockedAddressError) return { kind: 'blocked', reason };
  if (error instanceof TooManyDialsError) return { kind: 'busy', reason };
  return { kind: 'failed', reason };
}

function send(socket: Socket, message: Answer): void {
  socket.write(`${JSON.stringify(message)}\n`);
}

/** Ends the connection whatever else the asking side still sends. */
function finish(socket: Socket, message: Answer): void {
  if (socket.destroyed) return;
  socket.end(`${JSON.stringify(message)}\n`, () => socket.destroy());
}

/** The first line; what follows it stays to be read. @throws Error when it is too long, or does not come */
async function readLine(socket: Socket, signal: AbortSignal): Promise<string> {
  let read = Buffer.alloc(0);
  for (;;) {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) {
      await moreOf(socket, signal);
      continue;
    }
    read = Buffer.concat([read, chunk]);
    const end = read.indexOf('\n');
    if (end >= 0) {
      if (end + 1 < read.length) socket.unshift(read.subarray(end + 1));
      return read.subarray(0, end).toString('utf8');
    }
    if (read.length > LONGEST_LINE) throw new Error('The line is too long.');
  }
}

function moreOf(socket: Socket, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (failure: Error | null): void => {
      socket.off('readable', more).off('end', ended).off('close', ended);
      signal.removeEventListener('abort', late);
      if (failure === null) resolve();
      else reject(failure);
    };
    const more = (): void => settle(null);
    const ended = (): void => settle(new Error('The connection ended before its first line.'));
    const late = (): void => settle(new Error('The first line did not come in time.'));
    socket.on('readable', more).on('end', ended).on('close', ended);
    signal.addEventListener('abort', late);
    if (signal.aborted) late();
    else if (socket.readableEnded || socket.destroyed) ended();
  });
}
