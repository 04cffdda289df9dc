// What every answer of an Ingress has, whoever gives it and whatever carries it: an id of its request; CONNECT is refused
// on each of its ports, and plain HTTP leads to the port of https that clients reach.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect as connectHttp2 } from 'node:http2';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { text } from 'node:stream/consumers';
import { before, type TestContext, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { handshake } from '../../http/test-support/handshakes.ts';
import { openRaw } from '../../http/test-support/raw-exchange.ts';
import { newAuthority, type TestAuthority, writePair } from '../test-support/certificates.ts';
import { HOSTNAME, startUnderTest, type UnderTest } from '../test-support/ingress-under-test.ts';
import { answerOf, ask } from '../test-support/tls-front-under-test.ts';

const DOMAIN = 'public.platform.localhost';
const ID = /^x-request-id: [\w-]{36}\r$/im;
const CONNECT = 'CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: elsewhere.example:443\r\n\r\n';
let authority: TestAuthority;
before(async () => {
  authority = await newAuthority();
});

const head = (line: string, ...fields: string[]) => `${[line, ...fields, 'Connection: close'].join('\r\n')}\r\n\r\n`;

async function withTls(t: TestContext, publicPort?: number): Promise<UnderTest & { readonly plainPort: number }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'ingress-answers-'));
  await writePair(folder, `_.${DOMAIN}`, await authority.issue([`*.${DOMAIN}`]));
  const under = await startUnderTest({
    tls: {
      domain: DOMAIN,
      certificates: { kind: 'files', folder },
      plain: { host: '127.0.0.1', port: 0 },
      ...(publicPort === undefined ? {} : { publicPort }),
    },
  });
  t.after(async () => {
    await under.close();
    await rm(folder, { recursive: true });
  });
  const { plainPort } = under.ingress;
  assert.ok(plainPort !== null);
  return { ...under, plainPort };
}

/** Everything that one connection was answered, until the server ended it. */
async function exchange(port: number, bytes: string): Promise<string> {
  const connection = await openRaw(port, bytes);
  await connection.closed();
  return connection.received();
}

async function exchangeOverTls(port: number, bytes: string): Promise<string> {
  const servername = HOSTNAME;
  const socket = connectTls({ host: '127.0.0.1', port, servername, ca: authority.ca, ALPNProtocols: ['http/1.1'] });
  await once(socket, 'secureConnect');
  socket.write(bytes);
  return text(socket);
}

test('every answer has an X-Request-Id: of an app, of the Ingress, and to what is no request', async (t) => {
  const under = await startUnderTest();
  t.after(() => under.close());
  const own = `Host: ${HOSTNAME}`;
  for (const [status, bytes] of [
    [200, head('GET / HTTP/1.1', own)],
    [200, head('HEAD / HTTP/1.1', own)],
    [404, head('GET /nothing HTTP/1.1', own)],
    [404, head('OPTIONS / HTTP/1.1', own)],
    [421, head('GET / HTTP/1.1', 'Host: elsewhere.example')],
    [400, head('GET /feed/%2e%2e/x HTTP/1.1', own)],
    [400, head('GET / HTTP/1.1')],
    [400, 'no request\r\n\r\n'],
    [405, head('TRACE / HTTP/1.1', own)],
    [405, CONNECT],
    [431, head(`GET /${'a'.repeat(40_000)} HTTP/1.1`, own)],
    [400, `${['GET /chat HTTP/1.1', own, ...handshake().slice(0, -1)].join('\r\n')}\r\n\r\n`],
  ] as const) {
    const received = await exchange(under.port, bytes);
    assert.match(received, new RegExp(`^HTTP/1\\.1 ${status} `), bytes.slice(0, 80));
    assert.match(received, ID, bytes.slice(0, 80));
    if (status === 405) assert.match(received, /^allow: GET, HEAD, [A-Z, ]+\r$/im);
  }
});

test('CONNECT is refused on every port of an Ingress that ends TLS, over HTTP/1.1 and HTTP/2', async (t) => {
  const { port, plainPort, node } = await withTls(t);
  for (const received of [await exchange(plainPort, CONNECT), await exchangeOverTls(port, CONNECT)]) {
    assert.match(received, /^HTTP\/1\.1 405 [\s\S]*"code":"method_not_allowed"/);
    assert.match(received, ID);
    assert.match(received, /^allow: GET, HEAD, [A-Z, ]+\r$/im);
  }
  const createConnection = () =>
    connectTls({ host: '127.0.0.1', port, servername: HOSTNAME, ca: authority.ca, ALPNProtocols: ['h2'] });
  const session = connectHttp2(`https://${HOSTNAME}`, { createConnection });
  t.after(() => session.destroy());
  session.on('error', () => undefined);
  await once(session, 'connect');
  const tunnel = session.request({ ':method': 'CONNECT', ':authority': 'elsewhere.example:443' });
  const { status, body, headers } = await answerOf(tunnel);
  assert.deepEqual([status, JSON.parse(body).code], [405, 'method_not_allowed']);
  assert.match(String(headers['x-request-id']), /^[\w-]{36}$/);
  assert.match(String(headers.allow), /^GET, HEAD, /);
  assert.equal((await ask(session, { ':authority': HOSTNAME })).status, 200, 'and the connection serves on');
  assert.equal(node.sockets.size, 1, 'nothing of a tunnel reached the node');
});

test('plain HTTP leads to https, on its own port or the one that clients reach', async (t) => {
  const location = async ({ plainPort }: { readonly plainPort: number }, line: string, host = HOSTNAME) => {
    const received = await exchange(plainPort, head(`${line} HTTP/1.1`, `Host: ${host}`));
    assert.match(received, /^HTTP\/1\.1 308 /);
    assert.match(received, ID);
    return /^location: (.*)\r$/im.exec(received)?.[1];
  };
  const direct = await withTls(t);
  assert.equal(await location(direct, 'GET /feed/a?b=%2F'), `https://${HOSTNAME}:${direct.port}/feed/a?b=%2F`);
  const forwarded = await withTls(t, 8443);
  assert.equal(await location(forwarded, 'GET /feed/a', `${HOSTNAME}:80`), `https://${HOSTNAME}:8443/feed/a`);
  assert.equal(await location(forwarded, 'HEAD /nothing'), `https://${HOSTNAME}:8443/nothing`);
  const usual = await withTls(t, 443);
  assert.equal(await location(usual, 'GET /'), `https://${HOSTNAME}/`);
  const elsewhere = await exchange(usual.plainPort, head('GET / HTTP/1.1', 'Host: evil.example'));
  assert.match(elsewhere, /^HTTP\/1\.1 421 /, 'it leads nowhere else');
});
