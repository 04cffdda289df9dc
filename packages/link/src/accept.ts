// The accepting side of links: TLS 1.3 in front of an HTTP server that is there already, under a key of its own.
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:tls';
import type { LinkKey } from './key.ts';

export interface LinkListener {
  readonly port: number;
  /** Takes no new connections and ends those that are open. */
  close(): Promise<void>;
}

const HANDSHAKE_MILLISECONDS = 10_000;
const CONNECTIONS_AT_MOST = 1_024;

/**
 * Lets `server` answer over TLS as well. It sees the connections as its own: its time limits and closing apply.
 *
 * @throws Error when the address cannot be bound
 */
export async function acceptLinks(
  server: Server,
  options: { readonly key: LinkKey; readonly host: string; readonly port: number },
): Promise<LinkListener> {
  // Most machines are alone and never need one.
  const { certificateOf } = await import('./certificate.ts');
  const sockets = new Set<Socket>();
  const listener = createServer({
    ...(await certificateOf(options.key)),
    minVersion: 'TLSv1.3',
    ALPNProtocols: ['http/1.1'],
    handshakeTimeout: HANDSHAKE_MILLISECONDS,
  });
  listener.maxConnections = CONNECTIONS_AT_MOST;
  listener.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  listener.on('secureConnection', (socket) => server.emit('connection', socket));
  // Who does not speak TLS, or not ours, is nobody's business but its own.
  listener.on('tlsClientError', (_error, socket) => socket.destroy());
  listener.listen(options.port, options.host);
  await once(listener, 'listening');
  return {
    port: (listener.address() as AddressInfo).port,
    async close() {
      const closed = once(listener, 'close');
      listener.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
