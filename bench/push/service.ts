// The push service of the bench, in a process of its own: real TLS and HTTP, and it counts.
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { newPushCertificate } from '../../tests/support/push-service.ts';

const { cert, key } = await newPushCertificate();
let expected = 0;
let taken = 0;
let first = 0;
const server = createServer({ cert, key, keepAliveTimeout: 60_000 }, (request, response) => {
  request.resume();
  request.on('end', () => {
    response.writeHead(201);
    response.end();
    taken += 1;
    if (taken === 1) first = performance.now();
    if (taken === expected) process.send?.({ milliseconds: performance.now() - first });
  });
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
process.on('message', (count) => {
  expected = Number(count);
  taken = 0;
});
process.on('disconnect', () => process.exit());
process.send?.({ origin: `https://127.0.0.1:${port}`, ca: cert });
