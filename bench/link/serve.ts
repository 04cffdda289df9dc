// One end of the link bench in a process of its own: answers GET with 1 KiB, or with as many bytes as the path names, over
// each carrier and over plain TLS. Says where on standard output.
import { createServer, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { acceptLinks, IrohEndpoint, irohAddressText, keyFromSeed, linkCertificate } from '@platform/link';

const HOST = '127.0.0.1';
const key = keyFromSeed(Buffer.alloc(32, 1));
const kibibyte = Buffer.alloc(1_024, 'x');
const piece = Buffer.alloc(64 * 1_024, 'x');

function answer(request: { readonly url?: string | undefined }, response: ServerResponse): void {
  const bytes = Number(request.url?.slice(1));
  if (bytes === 0) {
    response.end(kibibyte);
    return;
  }
  let left = bytes;
  const more = (): void => {
    while (left > 0) {
      left -= piece.length;
      if (!response.write(piece)) {
        response.once('drain', more);
        return;
      }
    }
    response.end();
  };
  more();
}

const server = createServer({ keepAliveTimeout: 0 }, answer);
const link = await acceptLinks(server, { key, host: HOST, port: 0, isKnown: () => true });
const plain = createTlsServer({ ...(await linkCertificate(key)), minVersion: 'TLSv1.3', keepAliveTimeout: 0 }, answer);
await new Promise<void>((resolve) => plain.listen(0, HOST, resolve));
const endpoint = await IrohEndpoint.open({ key, listen: { host: HOST, port: 0 } });
endpoint.offer({ name: 'bench', server, isKnown: () => true });
const direct = [`${HOST}:${endpoint.port}`];
const places = {
  plain: `https://${HOST}:${(plain.address() as AddressInfo).port}`,
  link: `https://${HOST}:${link.port}`,
  iroh: irohAddressText({ key: key.publicKey, service: 'bench', direct }),
};
process.stdout.write(`${JSON.stringify(places)}\n`);
