// The whole Ingress behind its own certificates: public requests over HTTP/2 and WebSockets over HTTP/1.1 reach the node as
// over plain HTTP, and the client counts as one of https.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect as connectHttp2 } from 'node:http2';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { before, type TestContext, test } from 'node:test';
import { connect } from 'node:tls';
import { switching } from '../../../http/test-support/handshakes.ts';
import { newAuthority, type TestAuthority, writePair } from '../../test-support/certificates.ts';
import { HOSTNAME, startUnderTest, type UnderTest } from '../../test-support/ingress-under-test.ts';
import { answerOf, ask, CLIENT_MEMORY } from '../../test-support/tls-front-under-test.ts';

const DOMAIN = 'public.platform.localhost';
let authority: TestAuthority;
before(async () => {
  authority = await newAuthority();
});

async function started(t: TestContext): Promise<UnderTest> {
  const folder = await mkdtemp(path.join(tmpdir(), 'ingress-tls-'));
  await writePair(folder, `_.${DOMAIN}`, await authority.issue([`*.${DOMAIN}`]));
  const under = await startUnderTest({
    tls: { domain: DOMAIN, certificates: { kind: 'files', folder }, plain: { host: '127.0.0.1', port: 0 } },
  });
  t.after(async () => {
    await under.close();
    await rm(folder, { recursive: true });
  });
  return under;
}

function tls(t: TestContext, { port }: UnderTest, protocol: string) {
  const socket = connect({
    port,
    host: '127.0.0.1',
    servername: HOSTNAME,
    ca: authority.ca,
    ALPNProtocols: [protocol],
  });
  t.after(() => socket.destroy());
  return socket;
}

async function http2(t: TestContext, under: UnderTest) {
  const session = connectHttp2(`https://${HOSTNAME}`, {
    createConnection: () => tls(t, under, 'h2'),
    maxSessionMemory: CLIENT_MEMORY,
  });
  session.on('error', () => undefined);
  t.after(() => session.destroy());
  await once(session, 'connect');
  return session;
}

test('a request over HTTP/2 reaches the node with its body, host and client, and its answer comes back', async (t) => {
  const under = await started(t);
  const seen: unknown[] = [];
  under.node.handle = (req, res) => {
    let length = 0;
    req.on('data', (part: Buffer) => {
      length += part.length;
    });
    req.on('end', () => {
      const { host, cookie, authorization } = req.headers;
      const client = [req.headers['platform-client-address'], req.headers['platform-client-protocol']];
      seen.push({
        method: req.method,
        url: req.url,
        host,
        cookie,
        client,
        length,
        isNode: authorization?.slice(0, 11),
      });
      res.writeHead(201, { 'x-answer': 'yes', connection: 'close' });
      res.end('made');
    });
  };
  const session = await http2(t, under);
  const asked = {
    ':method': 'POST',
    ':path': '/hooks/x?y=1',
    ':authority': HOSTNAME,
    cookie: 'a=b',
    authorization: 'x',
  };
  const client = ['127.0.0.1', 'https'];
  for (const length of [0, 4, 100_000, 3_000_000]) {
    const answer = await ask(session, asked, 'x'.repeat(length));
    assert.deepEqual([answer.status, answer.body, answer.headers['x-answer']], [201, 'made', 'yes']);
    assert.equal(answer.headers['strict-transport-security'], 'max-age=31536000');
    const expected = { method: 'POST', url: '/hooks/x?y=1', host: HOSTNAME, cookie: undefined, client };
    assert.deepEqual(seen.pop(), { ...expected, length, isNode: 'Bearer pni_' });
  }
  assert.equal((await ask(session, { ...asked, 'content-length': '4' }, 'four')).status, 201);
});

test('over HTTP/2 routes, hosts and limits are those of HTTP/1.1', async (t) => {
  const under = await started(t);
  const session = await http2(t, under);
  const status = async (headers: object, body: string | null = null) =>
    (await ask(session, { ':authority': HOSTNAME, ...headers }, body)).status;
  assert.equal(await status({}), 200);
  assert.equal(await status({ ':method': 'HEAD' }), 200);
  assert.equal(await status({ ':path': '/undeclared' }), 404);
  assert.equal(await status({ ':path': '/chat' }), 404, 'a WebSocket is none over HTTP/2');
  assert.equal(await status({ ':authority': `unknown--x.${DOMAIN}` }), 421);
  assert.equal(await status({ ':path': '/feed/%2e%2e/x' }), 400);
  const large = { ':method': 'POST', ':path': '/hooks/x' };
  const announced = { ':authority': HOSTNAME, ...large, 'content-length': String(11 * 1024 * 1024) };
  const { status: refused, reset } = await answerOf(session.request(announced, { endStream: false }));
  assert.deepEqual([refused, reset], [413, 0], 'the rest is not wanted');
  under.node.handle = (req, res) => void req.resume().on('end', () => res.end('ok'));
  assert.equal(await status(large, 'x'.repeat(11 * 1024 * 1024)), 413);
  assert.equal(await status({}), 200, 'and the connection serves on');
});

test('a WebSocket opens over HTTP/1.1 of the same port', async (t) => {
  const under = await started(t);
  under.node.server.on('upgrade', (req, socket) => {
    socket.write(switching(req));
    socket.pipe(socket);
  });
  const socket = tls(t, under, 'http/1.1');
  socket.write(
    `GET /chat HTTP/1.1\r\nHost: ${HOSTNAME}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  const [head] = await once(socket, 'data');
  assert.match(String(head), /^HTTP\/1\.1 101 [\s\S]*strict-transport-security: max-age=31536000/i);
});

test('it says how its certificates are, and ends with requests under way answered', async (t) => {
  const under = await started(t);
  const { certificates } = under.ingress.state();
  assert.deepEqual([certificates?.served, certificates?.problems, certificates?.failedHandshakes], [1, 0, 0]);
  assert.ok((certificates?.expiresIn ?? 0) > 80_000);
  const session = await http2(t, under);
  const held = Promise.withResolvers<void>();
  under.node.handle = (_req, res) => {
    held.resolve();
    setImmediate(() => res.end('late'));
  };
  const answer = ask(session, { ':authority': HOSTNAME });
  await held.promise;
  const stopped = under.ingress.stop();
  assert.equal((await answer).body, 'late');
  await stopped;
});
