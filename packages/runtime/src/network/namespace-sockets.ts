// UDP sockets that live in the network of a workload and are held by the Runtime.
import { spawn } from 'node:child_process';
import dgram from 'node:dgram';
import { fileURLToPath } from 'node:url';

const MAKER = fileURLToPath(new URL('socket-maker.mjs', import.meta.url));
const LIMIT_MILLISECONDS = 10_000;

/** Turns a command into one that runs in a network namespace. */
export type Enter = (command: readonly string[]) => readonly string[];

/**
 * Makes bound sockets in a network namespace.
 * @param address IPv4 address there to which they are bound
 * @throws Error when not all could be made
 */
export function makeSocketsIn(enter: Enter, address: string, count: number): Promise<dgram.Socket[]> {
  return new Promise((resolve, reject) => {
    const sockets: dgram.Socket[] = [];
    const [program = '', ...rest] = enter([process.execPath, MAKER, String(count), address]);
    const child = spawn(program, rest, {
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
