// Inbound connections of a sandbox: a Unix socket that leads to the workload's PORT.
import { once } from 'node:events';
import { closeSync, fstatSync, openSync } from 'node:fs';
import net from 'node:net';

const O_PATH = 0o10000000;
const O_NOFOLLOW = 0o400000;

export interface InboundSocket {
  readonly server: net.Server;
  readonly path: string;
  discard(): void;
}

/**
 * A listening Unix socket for connections into the sandbox. Its path is private to the Runtime and vanishes when the
 * listener has been handed over; afterwards only the descriptor kept here leads to it. The workload has no name to
 * delete or replace, so it cannot lead the Runtime to another socket.
 */
export async function openInbound(path: string): Promise<InboundSocket> {
  const server = net.createServer((socket) => socket.destroy());
  server.listen(path);
  await once(server, 'listening');
  const descriptor = openSync(path, O_PATH | O_NOFOLLOW);
  if (!fstatSync(descriptor).isSocket()) {
    closeSync(descriptor);
    server.close();
    throw new Error('The inbound socket was replaced while it was made.');
  }
  let open = true;
  return {
    server,
    path: `/proc/self/fd/${descriptor}`,
    discard() {
      if (!open) return;
      open = false;
      server.close();
      closeSync(descriptor);
    },
  };
}

/** The bootstrap answers the first connection with one byte as soon as PORT accepts. */
export async function askWhetherListening(path: string, abort: AbortSignal): Promise<boolean> {
  if (abort.aborted) return false;
  const socket = net.connect(path);
  const stop = () => socket.destroy();
  abort.addEventListener('abort', stop, { once: true });
  try {
    return await new Promise<boolean>((resolve) => {
      socket.once('data', () => resolve(true));
      socket.once('error', () => resolve(false));
      socket.once('close', () => resolve(false));
    });
  } finally {
    abort.removeEventListener('abort', stop);
    socket.destroy();
  }
}
