// Clients over TLS: which certificate they get, which hosts they may ask for on their connection, and what stays when a
// certificate is exchanged.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { until } from '../../../../tests/support/wait.ts';
import { ask, type FrontUnderTest, HOST, openFrontUnderTest } from '../../test-support/tls-front-under-test.ts';

const get = (host: string): string => `GET /x HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;

async function textOf(socket: TLSSocket): Promise<string> {
  let text = '';
  socket.setEncoding('latin1').on('data', (part: string) => {
    text += part;
  });
  socket.on('error', () => undefined);
  await once(socket, 'close');
  return text;
}

/** What a client gets over HTTP/1.1. */
async function exchange({ tls }: FrontUnderTest, bytes: string, options: ConnectionOptions = {}): Promise<string> {
  const socket = tls(options);
  socket.on('error', () => undefined);
  socket.write(bytes);
  return textOf(socket);
}

async function connected({ tls }: FrontUnderTest, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = tls(options);
  await once(socket, 'secureConnect');
  return socket;
}

const refusedBy = (under: FrontUnderTest, options: ConnectionOptions): Promise<unknown> =>
  assert.rejects(connected(under, options), (error: Error & { code?: string }) =>
    /^(?:ERR_SSL_|ECONNRESET)/.test(error.code ?? ''),
  );

test('a client agrees on HTTP/2 where it can, else it is HTTP/1.1', async (t) => {
  const under = await openFrontUnderTest(t);
  const agreed = async (ALPNProtocols: string[]) => {
    const socket = await connected(under, { ALPNProtocols });
    socket.destroy();
    return socket.alpnProtocol;
  };
  assert.equal(await agreed(['http/1.1', 'h2']), 'h2');
  assert.equal(await agreed(['http/1.1']), 'http/1.1');
  assert.match(await exchange(under, get(HOST)), /^HTTP\/1\.1 200 /);
  await refusedBy(under, { ALPNProtocols: ['acme-tls/1'] });
});

test('a certificate that cannot be looked up fails the handshake, and is reported', async (t) => {
  const under = await openFrontUnderTest(t);
  const fault = new Error('not found out');
  under.certificates.current = () => {
    throw fault;
  };
  await refusedBy(under, {});
  assert.deepEqual(under.faults, [fault]);
});

test('a client that names no host, or one without a certificate, gets no certificate', async (t) => {
  const under = await openFrontUnderTest(t);
  await refusedBy(under, { servername: '' });
  await refusedBy(under, { servername: 'unknown.test' });
  await refusedBy(under, { servername: 'b.a.example.org' });
  assert.equal((await connected(under, { servername: 'B.EXAMPLE.org' })).authorized, true);
  assert.equal(under.front.failedHandshakes, 3);
});

test('TLS 1.2 is the least, and no renegotiation', async (t) => {
  const under = await openFrontUnderTest(t);
  await refusedBy(under, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' });
  await refusedBy(under, { maxVersion: 'TLSv1.2', ciphers: 'AES128-GCM-SHA256' });
  const socket = await connected(under, { maxVersion: 'TLSv1.2', ALPNProtocols: ['http/1.1'] });
  assert.equal(socket.getProtocol(), 'TLSv1.2');
  socket.on('error', () => undefined).resume();
  const closed = new Promise((resolve) => socket.on('close', resolve));
  socket.renegotiate({}, () => assert.fail('renegotiated'));
  await closed;
});

test('a host is served on any connection whose certificate names it, and 421 on another', async (t) => {
  const under = await openFrontUnderTest(t);
  const status = async (servername: string, host: string) =>
    Number(/^HTTP\/1\.1 (\d+)/.exec(await exchange(under, get(host), { servername }))?.[1]);
  assert.equal(await status(HOST, HOST), 200);
  assert.equal(await status(HOST, `${HOST.toUpperCase()}:443`), 200);
  assert.equal(await status(HOST, 'b.example.org'), 200, 'the wildcard names it as well');
  assert.equal(await status(HOST, 'elsewhere.test'), 421);
  assert.equal(await status('elsewhere.test', HOST), 421);
  assert.equal(await status(HOST, 'c.b.example.org'), 421);

  const session = await under.http2();
  assert.equal((await ask(session)).status, 200);
  assert.equal((await ask(session, { ':authority': 'b.example.org' })).status, 200);
  assert.equal((await ask(session, { ':authority': 'elsewhere.test' })).status, 421);
});

test('a target in absolute form names the scheme and host that it is sent to', async (t) => {
  const under = await openFrontUnderTest(t);
  const status = async (target: string) => {
    const bytes = `GET ${target} HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`;
    return Number(/^HTTP\/1\.1 (\d+)/.exec(await exchange(under, bytes))?.[1]);
  };
  assert.equal(await status(`https://${HOST}/x`), 200);
  assert.equal(await status(`http://${HOST}/x`), 421);
  assert.equal(await status('https://b.example.org/x'), 421);
});

test('every answer demands TLS for a year, also refusals and answers to bytes that are no request', async (t) => {
  const under = await openFrontUnderTest(t);
  for (const bytes of [get(HOST), get('elsewhere.test'), 'garbage\r\n\r\n', 'TRACE / HTTP/1.1\r\nHost: a\r\n\r\n'])
    assert.match(await exchange(under, bytes), /\r\nstrict-transport-security: max-age=31536000\r\n/i, bytes);
  const session = await under.http2();
  for (const headers of [{}, { ':authority': 'elsewhere.test' }, { ':method': 'TRACE' }, { ':path': '/%2e%2e/x' }])
    assert.equal((await ask(session, headers)).headers['strict-transport-security'], 'max-age=31536000');
});

test('a new certificate is for new connections, and drops none that is open', async (t) => {
  const under = await openFrontUnderTest(t);
  const session = await under.http2();
  const kept = await connected(under, { ALPNProtocols: ['http/1.1'] });
  const former = kept.getPeerX509Certificate()?.fingerprint256;
  under.certificates.set('*.example.org', await under.authority.issue(['*.example.org']));
  const fresh = await connected(under);
  assert.notEqual(fresh.getPeerX509Certificate()?.fingerprint256, former);
  kept.write(get(HOST));
  assert.match(await textOf(kept), /^HTTP\/1\.1 200 /);
  assert.equal((await ask(session)).status, 200);
});

for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
  test(`a session of ${version} is resumed, and serves the hosts of the certificate of its own name`, async (t) => {
    const under = await openFrontUnderTest(t);
    const first = under.tls({ ALPNProtocols: ['http/1.1'], maxVersion: version });
    const session = once(first, 'session');
    first.write(get(HOST));
    await textOf(first);
    const [ticket] = await session;
    const again = await connected(under, { ALPNProtocols: ['http/1.1'], maxVersion: version, session: ticket });
    assert.equal(again.isSessionReused(), true);
    again.write(get('b.example.org'));
    assert.match(await textOf(again), /^HTTP\/1\.1 200 /);

    // What it proved for one name says nothing of another; of one of TLS 1.2 the name is not known.
    if (version === 'TLSv1.2') return;
    const other = under.tls({
      ...{ ALPNProtocols: ['http/1.1'], maxVersion: version, session: ticket },
      ...{ servername: 'elsewhere.test', rejectUnauthorized: false },
    });
    other.write(get(HOST));
    assert.doesNotMatch(await textOf(other), /^HTTP\/1\.1 200 /);
  });
}

test('a client that is slow with its handshake or with its head is cut off', async (t) => {
  const ofHead = await openFrontUnderTest(t, { server: { limits: { headMilliseconds: 200, lookMilliseconds: 100 } } });
  const slow = await connected(ofHead, { ALPNProtocols: ['http/1.1'] });
  slow.write('GET / HTTP/1.1\r\n');
  assert.match(await textOf(slow), /^HTTP\/1\.1 400 [\s\S]*did not arrive in time/);
  const ofHandshake = await openFrontUnderTest(t, { limits: { tls: { handshakeMilliseconds: 200 } } });
  const silent = connect(ofHandshake.front.port, '127.0.0.1');
  silent.resume();
  await once(silent, 'close');
});

test('a client that leaves in its handshake holds no place', async (t) => {
  const under = await openFrontUnderTest(t, { limits: { tls: { handshakeMilliseconds: 600_000 } } });
  const leaving = under.tls();
  leaving.on('error', () => undefined);
  // It has what it needs, and the last word of its handshake is never sent.
  await once(leaving, 'secureConnect');
  leaving.destroy();
  await until('the connection to end', () => under.front.connections === 0);
  assert.equal(under.front.failedHandshakes, 1);
});

test('plain HTTP on the port of TLS gets no answer', async (t) => {
  const under = await openFrontUnderTest(t);
  const plain = connect(under.front.port, '127.0.0.1');
  let bytes = 0;
  plain.on('data', (part) => {
    // An alert of TLS may come.
    bytes += part.length;
    assert.notEqual(part.toString('latin1', 0, 4), 'HTTP');
  });
  plain.on('error', () => undefined);
  plain.write(get(HOST));
  await once(plain, 'close');
  assert.ok(bytes <= 7);
});

test('connections beyond the limit are closed, and those of ended clients count no longer', async (t: TestContext) => {
  const under = await openFrontUnderTest(t, { limits: { tls: { connections: 2 } } });
  const first = await connected(under);
  const second = await connected(under);
  await refusedBy(under, {});
  first.destroy();
  second.destroy();
  await Promise.all([once(first, 'close'), once(second, 'close')]);
  while (under.front.connections > 0) await new Promise((resolve) => setImmediate(resolve));
  assert.match(await exchange(under, get(HOST)), /^HTTP\/1\.1 200 /);
});
