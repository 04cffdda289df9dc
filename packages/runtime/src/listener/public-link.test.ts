// The public side of a node on another machine: over TLS, for the Ingresses whose keys core has named, and for nobody else.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { after, before, test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { fetchOverLink, keyFromSeed, type LinkKey, linkCertificate, publicKeyText } from '@platform/link';
import type { Installation } from '../lifecycle/installation.ts';
import { openPublicSide, type PublicSide } from './public.ts';

const HOSTNAME = 'far--aaaabbbbccccddddeeee.public.platform.localhost';
const CREDENTIAL = 'pni_of-the-far-node-0123456789';
const nodeKey = keyFromSeed(Buffer.alloc(32, 1));
const ingress = keyFromSeed(Buffer.alloc(32, 2));
const stranger = keyFromSeed(Buffer.alloc(32, 3));
let side: PublicSide;
const arrived: string[] = [];

/** Stands in for an installation that runs. */
const installation = {
  assignment: { gateway: { revision: 1, public: { hostname: HOSTNAME, routes: ['GET:/*'] } } },
  gateway: {
    forwardPublic({ req, res }: { req: { url?: string }; res: import('node:http').ServerResponse }) {
      arrived.push(req.url ?? '');
      if (req.url === '/endless') res.writeHead(200).write('begun');
      else res.end('served');
    },
  },
} as unknown as Installation;

before(async () => {
  const quiet = () => undefined;
  side = await openPublicSide({
    over: { host: '127.0.0.1', port: 0, key: nodeKey },
    credential: CREDENTIAL,
    find: () => installation,
    onWake: quiet,
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  });
  await side.admit([publicKeyText(ingress.publicKey)]);
});
after(() => side.close(0));

const port = () => Number(new URL(side.registration.url).port);

async function call(key: LinkKey, authorization = `Bearer ${CREDENTIAL}`): Promise<number> {
  const answer = await fetchOverLink(`${side.registration.url}/a`, {
    key: nodeKey.publicKey,
    certificate: await linkCertificate(key),
    method: 'GET',
    host: HOSTNAME,
    headers: { authorization },
    signal: AbortSignal.timeout(20_000),
  });
  await answer.text();
  return answer.status;
}

/** A connection that proves this key, or none, and asks at once; what came back by its end. */
async function open(key: LinkKey | null, path: string): Promise<{ socket: TLSSocket; received(): string }> {
  const certificate = key === null ? {} : await linkCertificate(key);
  const socket = connect({ ...certificate, host: '127.0.0.1', port: port(), rejectUnauthorized: false });
  let text = '';
  socket.on('error', () => undefined);
  socket.on('data', (bytes: Buffer) => {
    text += bytes.toString('latin1');
  });
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${HOSTNAME}\r\nAuthorization: Bearer ${CREDENTIAL}\r\n\r\n`);
  return { socket, received: () => text };
}

const closed = async (socket: TLSSocket) => void (socket.closed || (await once(socket, 'close')));

test('is an https origin, and serves an Ingress that proves its key and presents the credential', async () => {
  assert.match(side.registration.url, /^https:\/\/127\.0\.0\.1:\d+$/);
  assert.equal(await call(ingress), 200);
  assert.equal(await call(ingress, 'Bearer pni_another'), 401);
});

test('ends the connection of any other key, of none, and of who speaks no TLS, without a word', async () => {
  arrived.length = 0;
  for (const key of [stranger, nodeKey, null]) {
    const { socket, received } = await open(key, '/a');
    await closed(socket);
    assert.equal(received(), '');
  }
  const plain = connectTcp({ host: '127.0.0.1', port: port() });
  let said = '';
  plain.on('data', (bytes: Buffer) => {
    said += bytes.toString('latin1');
  });
  plain.on('error', () => undefined);
  plain.write(`GET /a HTTP/1.1\r\nHost: ${HOSTNAME}\r\nAuthorization: Bearer ${CREDENTIAL}\r\n\r\n`);
  await once(plain, 'close');
  assert.doesNotMatch(said, /HTTP/);
  assert.deepEqual(arrived, []);
});

test('ends what an Ingress has under way when its key is named no more', async () => {
  const { socket, received } = await open(ingress, '/endless');
  while (!received().includes('begun')) await once(socket, 'data');
  await side.admit([publicKeyText(stranger.publicKey)]);
  await closed(socket);
  await assert.rejects(call(ingress));
  assert.equal(await call(stranger), 200);
  await side.admit([publicKeyText(ingress.publicKey)]);
});
