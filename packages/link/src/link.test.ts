// A link stands between two parts that proved the expected keys, and between no others.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { connect } from 'node:tls';
import { buildConnector, Pool } from 'undici';
import {
  acceptLinks,
  fetchOverLink,
  keyFromSeed,
  type LinkCertificate,
  type LinkListener,
  type LinkRequest,
  linkCertificate,
  linkConnector,
  loadOrMakeKey,
  publicKeyText,
  readPublicKey,
  signText,
  verifyText,
} from './link.ts';

const ours = keyFromSeed(Buffer.alloc(32, 1));
const other = keyFromSeed(Buffer.alloc(32, 2));
/** Who connects. */
const mate = keyFromSeed(Buffer.alloc(32, 3));
const isKnown = (key: Buffer): boolean => key.equals(mate.publicKey);
let certificate: LinkCertificate;
const requests: string[] = [];
let server: http.Server;
let listener: LinkListener;
let origin: string;

before(async () => {
  certificate = await linkCertificate(mate);
  server = http.createServer((request, response) => {
    requests.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`);
    response.end('x'.repeat(100));
  });
  listener = await acceptLinks(server, { key: ours, isKnown, host: '127.0.0.1', port: 0 });
  origin = `https://127.0.0.1:${listener.port}`;
});

after(async () => {
  await listener.close();
  server.closeAllConnections();
});

function call(more: Partial<LinkRequest> = {}): Promise<Response> {
  const signal = AbortSignal.timeout(20_000);
  const headers = { authorization: 'Bearer secret' };
  return fetchOverLink(`${origin}/a?b`, { key: ours.publicKey, certificate, method: 'POST', headers, signal, ...more });
}

test('a request reaches the part that holds the key', async () => {
  const answer = await call();
  assert.deepEqual([answer.status, (await answer.text()).length], [200, 100]);
  assert.equal(requests.at(-1), 'POST /a?b Bearer secret');
});

test('a server with another key receives nothing, not even the request', async () => {
  const before = requests.length;
  await assert.rejects(call({ key: other.publicKey }), /does not hold the key/);
  const pool = new Pool('https://some.name', {
    connect: linkConnector(buildConnector, { origin, certificate, key: other.publicKey }),
  });
  await assert.rejects(pool.request({ path: '/', method: 'GET' }), /does not hold the key/);
  await pool.destroy();
  assert.equal(requests.length, before);
});

test('a pool under any name reaches the part that holds the key, again and again', async () => {
  const pool = new Pool('https://some.name', {
    connect: linkConnector(buildConnector, { origin, certificate, key: ours.publicKey }),
  });
  for (const reset of [false, true, false]) {
    const { statusCode, body } = await pool.request({ path: '/pooled', method: 'GET', reset });
    await body.dump();
    assert.equal(statusCode, 200);
  }
  await pool.destroy();
});

test('without an expected key a self-signed certificate is refused', async () => {
  const pool = new Pool('https://some.name', { connect: linkConnector(buildConnector, { origin }) });
  await assert.rejects(pool.request({ path: '/', method: 'GET' }), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  await pool.destroy();
});

test('nothing older than TLS 1.3 is spoken', async () => {
  const socket = connect({ port: listener.port, rejectUnauthorized: false, maxVersion: 'TLSv1.2' });
  await assert.rejects(new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject)));
});

test('an aborted request is given up, while it is made and while it is answered', async () => {
  const asked = new AbortController();
  const asking = call({ signal: asked.signal });
  asked.abort();
  await assert.rejects(asking, { name: 'AbortError' });
  const slow = http.createServer((_request, response) => void response.write('begun'));
  const endless = await acceptLinks(slow, { key: ours, isKnown, host: '127.0.0.1', port: 0 });
  const heardEnough = new AbortController();
  const { signal } = heardEnough;
  const options = { key: ours.publicKey, certificate, method: 'GET', headers: {}, signal };
  const answer = await fetchOverLink(`https://127.0.0.1:${endless.port}/`, options);
  heardEnough.abort();
  await assert.rejects(answer.text());
  await endless.close();
});

test('a key file is made once, for its owner only', () => {
  const folder = mkdtempSync(join(tmpdir(), 'platform-link-'));
  try {
    const file = join(folder, 'node', 'node.key');
    const made = loadOrMakeKey(file);
    assert.deepEqual(loadOrMakeKey(file).publicKey, made.publicKey);
    assert.equal(statSync(file).mode & 0o777, 0o600);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a signature holds for its text and its key', () => {
  const signature = signText(ours, 'purpose/v1\nnonce');
  assert.ok(verifyText(ours.publicKey, 'purpose/v1\nnonce', signature));
  assert.ok(!verifyText(ours.publicKey, 'purpose/v1\nnoncE', signature));
  assert.ok(!verifyText(other.publicKey, 'purpose/v1\nnonce', signature));
  assert.ok(!verifyText(ours.publicKey, 'purpose/v1\nnonce', 'AAAA'));
});

test('a public key is 43 characters of base64url, or none', () => {
  const text = publicKeyText(ours.publicKey);
  assert.equal(text.length, 43);
  assert.deepEqual(readPublicKey(text), ours.publicKey);
  for (const wrong of ['', 'A', `${text}A`, text.slice(1), `${text.slice(0, -1)}=`])
    assert.equal(readPublicKey(wrong), null);
});
