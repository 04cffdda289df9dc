// A forwarder on loopback that adds a credential, for programs that speak the Model Context Protocol and cannot send one. Of the tests
// alone: the platform has no such door.
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ForwarderOptions {
  /** Of core. */
  readonly port: number;
  /** By which core is called where the program calls the forwarder. */
  readonly host: string;
  readonly credential: string;
  /** Of the page that calls where the program says that a page of the forwarder does. Default: as the program sends it. */
  readonly origin?: string;
}

export interface Forwarder extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`. */
  readonly origin: string;
}

/** Whatever the program says of another host or origin goes on as it is. */
export async function startForwarder({ port, host, credential, origin }: ForwarderOptions): Promise<Forwarder> {
  let own = '';
  const server = createServer((incoming, answering) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${credential}` };
    const isOwn = headers.host === new URL(own).host;
    if (isOwn) headers.host = host;
    if (origin !== undefined && isOwn && (headers.origin ?? own) === own) headers.origin = origin;
    const { method = 'GET', url = '/' } = incoming;
    const outgoing = forward({ port, host: '127.0.0.1', method, path: url, headers }, (answer) => {
      answering.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(answering);
    });
    outgoing.on('error', () => answering.destroy());
    answering.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  own = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin: own,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
