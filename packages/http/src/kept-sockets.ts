// Sockets that the supervisor binds and keeps, for a part to listen on: they stay in the kernel while the part is restarted, and
// connections that come meanwhile wait in their queues instead of being refused (docs/decisions/kept-sockets.md).
import net from 'node:net';
import { getSystemErrorName } from 'node:util';
import type { Place } from './listen-fast.ts';

/** A socket of Node that is bound and does not accept: what cluster hands to its workers. It can be sent over a channel. */
export interface BoundSocket {
  readonly fd: number;
  close(): void;
}

/** UV_TCP_REUSEPORT of libuv. */
const REUSE_PORT = 2;

type CreateServerHandle = (
  host: string,
  port: number,
  family: number,
  fd: undefined,
  flags: number,
) => BoundSocket | number;
/** What cluster binds with: `listen` of a server would accept in this process. */
const { _createServerHandle: createServerHandle } = net as unknown as {
  readonly _createServerHandle: CreateServerHandle;
};

/**
 * None where they cannot be kept: for a name in the place of an address, and elsewhere than on Linux.
 *
 * @throws Error `EADDRINUSE` when another program has the port
 */
export function bindSockets({ host, port }: Place, count: number): BoundSocket[] {
  const family = net.isIP(host);
  if (family === 0 || port === 0 || process.platform !== 'linux') return [];
  const bound: BoundSocket[] = [];
  for (let index = 0; index < count; index += 1) {
    const socket = createServerHandle(host, port, family, undefined, REUSE_PORT);
    if (typeof socket === 'number') {
      for (const one of bound) one.close();
      const code = getSystemErrorName(socket);
      throw Object.assign(new Error(`bind ${code} ${host}:${port}`), { code, port, address: host });
    }
    bound.push(socket);
  }
  return bound;
}

const received = new Map<string, BoundSocket[]>();

/** A socket that came from the supervisor, for the first that listens there. */
export function receiveSocket({ host, port }: Place, socket: BoundSocket): void {
  const key = `${host} ${port}`;
  received.set(key, [...(received.get(key) ?? []), socket]);
}

/** The next one for this place, if there is one. */
export function takeSocket({ host, port }: Place): BoundSocket | undefined {
  return received.get(`${host} ${port}`)?.shift();
}
