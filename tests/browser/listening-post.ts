// A place on loopback that no frame has business with: it notes every connection and datagram that gets there.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** As a page is told where to go; `stranger.localhost` belongs to no site of the platform. */
export interface Target {
  /** `http://stranger.localhost:<port>` */
  readonly http: string;
  /** `stranger.localhost:<port>` */
  readonly host: string;
  /** `127.0.0.1:<port>` for datagrams. */
  readonly udp: string;
}

export interface ListeningPost extends Target {
  /** What got here, in order: `connection`, `GET /…`, `upgrade`, `datagram`. */
  readonly arrivals: readonly string[];
  close(): Promise<void>;
}

export async function openListeningPost(): Promise<ListeningPost> {
  const arrivals: string[] = [];
  const server = createServer((request, response) => {
    arrivals.push(`${request.method} ${request.url}`);
    response.writeHead(200, { 'access-control-allow-origin': '*', 'content-type': 'text/html' }).end('<p>stranger');
  });
  server.on('connection', () => arrivals.push('connection'));
  server.on('upgrade', (_, socket) => {
    arrivals.push('upgrade');
    socket.destroy();
  });
  // Bytes that are no HTTP, such as a TURN client's over TCP.
  server.on('clientError', (_, socket) => socket.destroy());
  server.listen(0, '127.0.0.1');
  const datagrams = createSocket('udp4');
  datagrams.on('message', () => arrivals.push('datagram'));
  datagrams.bind(0, '127.0.0.1');
  await Promise.all([once(server, 'listening'), once(datagrams, 'listening')]);
  const { port } = server.address() as AddressInfo;
  const host = `stranger.localhost:${port}`;
  return {
    arrivals,
    host,
    http: `http://${host}`,
    udp: `127.0.0.1:${datagrams.address().port}`,
    async close() {
      datagrams.close();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
