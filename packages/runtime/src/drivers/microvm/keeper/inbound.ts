// Connections from the Runtime to the workload: from the Unix socket to the bridge in the guest (guest/guest.mjs).
import net from 'node:net';
import type { BridgePorts } from '../places.ts';

/** Milliseconds that one attempt to reach the guest may take, and between two. */
const ATTEMPT = 500;
const PAUSE = 20;

export interface GuestBridge {
  readonly host: string;
  readonly ports: BridgePorts;
  /** Resolves when the guest accepts connections. */
  readonly ready: Promise<void>;
}

/**
 * The first connection is the Runtime's question whether the workload listens. It waits for the guest, which answers it
 * on a port of its own; later ones find the bridge there or fail at once.
 * @returns resolves when the workload has been found to listen
 */
export function relayInbound(server: net.Server, bridge: GuestBridge): Promise<void> {
  const listening = Promise.withResolvers<void>();
  let first = true;
  // A connection that could not be taken is the caller's failure, who tries again; the next one may be.
  server.on('error', () => undefined);
  // The handle was made elsewhere; without this a half-closed request would lose its answer.
  Object.assign(server, { allowHalfOpen: true });
  server.on('connection', (socket) => {
    socket.on('error', () => socket.destroy());
    if (first) void bridge.ready.then(() => ask(socket, bridge, listening.resolve));
    else join(socket, connect(bridge.host, bridge.ports.bridge));
    first = false;
  });
  return listening.promise;
}

/** Asks again until there is an answer: the guest may not listen yet, and its first packets may get lost. */
function ask(socket: net.Socket, bridge: GuestBridge, onListening: () => void): void {
  if (socket.destroyed) return;
  const target = connect(bridge.host, bridge.ports.question);
  let answered = false;
  const limit = setTimeout(() => target.destroy(), ATTEMPT);
  const forget = () => target.destroy();
  target.once('connect', () => clearTimeout(limit));
  target.once('data', (chunk) => {
    answered = true;
    socket.end(chunk);
    onListening();
  });
  socket.once('close', forget);
  target.once('close', () => {
    clearTimeout(limit);
    socket.off('close', forget);
    if (!answered) setTimeout(() => ask(socket, bridge, onListening), PAUSE);
  });
}

function connect(host: string, port: number): net.Socket {
  const target = net.connect({ host, port, allowHalfOpen: true, noDelay: true });
  target.on('error', () => target.destroy());
  return target;
}

function join(socket: net.Socket, target: net.Socket): void {
  socket.on('close', () => target.destroy());
  target.on('close', () => socket.destroy());
  socket.pipe(target);
  target.pipe(socket);
}
