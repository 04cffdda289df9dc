// A relay of iroh for tests: carries datagrams between endpoints over WebSockets (protocol `iroh-relay-v2`, as in iroh 1.0).
// It believes each endpoint its key, where a real one has it sign a challenge; the endpoints prove their keys to each other.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

export interface IrohRelay {
  readonly url: string;
  /** Datagrams carried so far. */
  carried(): number;
  close(): Promise<void>;
}

const PROTOCOL = 'iroh-relay-v2';
const KEY_BYTES = 32;
/** The first byte of each message. */
const FRAME = {
  challenge: 0,
  auth: 1,
  confirmed: 2,
  toPeer: 4,
  manyToPeer: 5,
  fromPeer: 6,
  manyFromPeer: 7,
  ping: 9,
  pong: 10,
} as const;

export async function startIrohRelay(host: string, port = 0): Promise<IrohRelay> {
  const clients = new Map<string, WebSocket>();
  let carried = 0;
  // Endpoints measure how far away it is by plain requests.
  const server = createServer((_request, response) => response.end());
  const relay = new WebSocketServer({ server, path: '/relay', handleProtocols: () => PROTOCOL });

  relay.on('connection', (socket) => {
    let own: Buffer | undefined;
    socket.on('error', () => socket.terminate());
    socket.on('close', () => {
      if (own !== undefined && clients.get(nameOf(own)) === socket) clients.delete(nameOf(own));
    });
    socket.on('message', (message: Buffer) => {
      const [kind, content] = [message[0], message.subarray(1)];
      if (own === undefined) {
        if (kind !== FRAME.auth) {
          socket.terminate();
          return;
        }
        own = Buffer.from(content.subarray(0, KEY_BYTES));
        clients.set(nameOf(own), socket);
        socket.send(frame(FRAME.confirmed));
      } else if (kind === FRAME.ping) socket.send(frame(FRAME.pong, content));
      else if (kind === FRAME.toPeer || kind === FRAME.manyToPeer) {
        carried += 1;
        const arrives = kind === FRAME.toPeer ? FRAME.fromPeer : FRAME.manyFromPeer;
        clients.get(nameOf(content.subarray(0, KEY_BYTES)))?.send(frame(arrives, own, content.subarray(KEY_BYTES)));
      }
    });
    socket.send(frame(FRAME.challenge, randomBytes(16)));
  });

  server.listen(port, host);
  await once(server, 'listening');
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}/`,
    carried: () => carried,
    async close() {
      for (const socket of relay.clients) socket.terminate();
      relay.close();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function frame(kind: number, ...parts: readonly Uint8Array[]): Buffer {
  return Buffer.concat([Buffer.of(kind), ...parts]);
}

function nameOf(key: Uint8Array): string {
  return Buffer.from(key).toString('base64url');
}
