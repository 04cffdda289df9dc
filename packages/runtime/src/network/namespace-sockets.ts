// UDP sockets that live in the network of a workload and are held by the Runtime.
import { spawn } from 'node:child_process';
import dgram from 'node:dgram';
import { fileURLToPath } from 'node:url';

const MAKER = fileURLToPath(new URL('socket-maker.mjs', import.meta.url));
const LIMIT_MILLISECONDS = 10_000;

export interface SocketPlace {
  /** A path that leads to the network namespace, e.g. `/proc/<pid>/fd/<n>`. */
  readonly namespace: string;
  /** IPv4 address there to which they are bound. */
  readonly address: string;
}

/**
 * Makes bound sockets in a network namespace.
 * @throws Error when not all could be made
 */
export function makeSocketsIn(
  nsenter: string,
  { namespace, address }: SocketPlace,
  count: number,
): Promise<dgram.Socket[]> {
  return new Promise((resolve, reject) => {
    const sockets: dgram.Socket[] = [];
    const child = spawn(nsenter, [`--net=${namespace}`, '--', process.execPath, MAKER, String(count), address], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      env: {},
      serialization: 'json',
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MILLISECONDS);
    child.on('message', (_message, handle) => {
      if (handle instanceof dgram.Socket) sockets.push(handle);
    });
    child.once('error', reject);
    child.once('close', () => {
      clearTimeout(timer);
      if (sockets.length === count) return resolve(sockets);
      for (const socket of sockets) socket.close();
      reject(new Error(`${sockets.length} of ${count} sockets could be made in the network of the workload`));
    });
  });
}
