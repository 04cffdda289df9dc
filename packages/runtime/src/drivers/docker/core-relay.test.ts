// The way from a Gateway's container to a core on another machine: plain HTTP into the socket, TLS with both keys
// beyond.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { acceptLinks, keyFromSeed, type LinkListener, linkCertificate, linkPeer } from '@platform/link';
import { Pool } from 'undici';
import { openCoreRelay } from './core-relay.ts';

const [core, node] = [keyFromSeed(Buffer.alloc(32, 1)), keyFromSeed(Buffer.alloc(32, 2))];
const HOST = 'shell.platform.example:8787';
let folder: string;
let server: http.Server;
let listener: LinkListener;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'platform-relay-'));
  server = http.createServer(async (request, response) => {
    let size = 0;
    for await (const chunk of request) size += (chunk as Buffer).length;
    response.end(`${linkPeer(request.socket)?.known} ${request.headers.host} ${size}`);
  });
  const isKnown = (key: Buffer) => key.equals(node.publicKey);
  listener = await acceptLinks(server, { key: core, host: '127.0.0.1', port: 0, isKnown });
});
after(async () => {
  server.closeAllConnections();
  await listener.close();
  await rm(folder, { recursive: true, force: true });
});

async function ask(link: Parameters<typeof openCoreRelay>[1], coreOrigin: string | null): Promise<string> {
  const socketPath = join(folder, 'core.sock');
  const relay = await openCoreRelay(socketPath, link);
  if (coreOrigin !== null) relay.leadTo(coreOrigin);
  const pool = new Pool(`http://${HOST}`, { connect: { socketPath } });
  try {
    const answer = await pool.request({ method: 'POST', path: '/v1/services/x', body: Buffer.alloc(1_000_000) });
    return await answer.body.text();
  } finally {
    await pool.destroy();
    await relay.close();
  }
}

test('core sees the key of the node, and the request as the Gateway sent it', async () => {
  const link = { host: HOST, key: core.publicKey, certificate: await linkCertificate(node) };
  assert.equal(await ask(link, `https://127.0.0.1:${listener.port}`), `true ${HOST} 1000000`);
});

test('a core with another key receives nothing, and the connection of the Gateway ends', async () => {
  const link = { host: HOST, key: node.publicKey, certificate: await linkCertificate(node) };
  await assert.rejects(ask(link, `https://127.0.0.1:${listener.port}`));
});

test('before it is known where core is, connections end', async () => {
  await assert.rejects(ask(undefined, null));
});
