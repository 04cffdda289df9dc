// Accepts connections faster. Node accepts one of a listening socket in each turn of its event loop, so on a busy process
// a few hundred new connections of one client keep everybody else's waiting for seconds, and what does not fit into the
// kernel's queue meanwhile is dropped and tried again after one second, then two. Several sockets on the same port are
// accepted from in the same turn, and have a queue each; the kernel spreads connections over them.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { takeSocket } from './kept-sockets.ts';

/** With the server's own. */
export const SOCKETS = 32;
/** Elsewhere than on Linux, ports cannot be shared so. */
const isOffered = process.platform === 'linux';

export interface Place {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
}

/**
 * What to give to the server's own `listen`, before `listenFast`: a socket that the supervisor keeps, if there is one.
 *
 * @throws Error `EADDRINUSE` for a port that is taken, also by a process of the same user that would share it
 */
export async function placeToListen({ host, port }: Place) {
  if (!isOffered) return { host, port };
  const handle = takeSocket({ host, port });
  if (handle !== undefined) return { host, port, handle };
  if (port !== 0) {
    const trial = createServer().listen({ host, port });
    await once(trial, 'listening');
    trial.close();
    await once(trial, 'close');
  }
  return { host, port, backlog: 4_096, reusePort: true };
}

/** Listens on more sockets where `server` listens by now. @returns what closes them, to be called before it is closed */
export async function listenFast(server: Server): Promise<{ close(): void }> {
  const { address: host, port } = server.address() as AddressInfo;
  const more = isOffered ? Array.from({ length: SOCKETS - 1 }, () => socketFor(server)) : [];
  // Their connections belong to the server, which ends them.
  const close = (): void => {
    for (const one of more) one.close();
  };
  try {
    for (const one of more) {
      const handle = takeSocket({ host, port });
      one.listen(handle === undefined ? { host, port, backlog: 4_096, reusePort: true } : { handle });
      await once(one, 'listening');
      one.on('error', (error) => server.emit('error', error));
    }
  } catch (error) {
    close();
    throw error;
  }
  return { close };
}

function socketFor(server: Server) {
  return createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket));
}
