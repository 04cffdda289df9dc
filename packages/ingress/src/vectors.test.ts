// The vectors against an Ingress: requests with a node behind it that records what arrives, answers of a hostile node, and
// handshakes of WebSockets. Core is a stand-in.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { METHODS } from 'node:http';
import type { Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { type Fields, handshake, switching, testHandshakeVectors } from '../../http/test-support/handshakes.ts';
import { portOf } from '../../http/test-support/port-of.ts';
import { openRaw, type RawConnection } from '../../http/test-support/raw-exchange.ts';
import { record } from '../../http/test-support/recording-upstream.ts';
import { testPathVectors, testRequestVectors } from '../../http/test-support/request-vectors.ts';
import {
  type HostileUpstream,
  startHostileUpstream,
  testResponseVectors,
} from '../../http/test-support/response-vectors.ts';
import { HOSTNAME, routeOf, startUnderTest, type UnderTest } from '../test-support/ingress-under-test.ts';

const ALL = METHODS.map((method) => `${method}:/*`);
/** No request of these tests comes through one; refusals of clients behind proxies are not held back. */
const trustedProxies = ['192.0.2.1'];

describe('an Ingress in front of a node', () => {
  let tested: UnderTest;
  const { handle, take } = record();
  before(async () => {
    tested = await startUnderTest({
      trustedProxies,
      lines: (node) => [
        { kind: 'nodes', items: [node], gone: [] },
        { kind: 'routes', items: [routeOf(ALL)], gone: [] },
      ],
    });
    tested.node.handle = handle;
  });
  after(() => tested.close());
  const front = () => ({
    to: tested.port,
    host: HOSTNAME,
    isServed: ({ status }: { status: number }) => status === 200,
    takeArrived: take,
    carriesTo: HOSTNAME,
  });
  testRequestVectors('Ingress', front);
  testPathVectors('Ingress', front);
});

describe('an Ingress in front of a hostile node', () => {
  let tested: UnderTest;
  let hostile: HostileUpstream;
  before(async () => {
    hostile = await startHostileUpstream({ port: 0, host: '127.0.0.1' });
    tested = await startUnderTest({
      trustedProxies,
      lines: (node) => [
        { kind: 'nodes', items: [{ ...node, url: `http://127.0.0.1:${portOf(hostile.server)}` }], gone: [] },
        { kind: 'routes', items: [routeOf(ALL)], gone: [] },
      ],
    });
  });
  after(async () => {
    await tested.close();
    hostile.server.close();
  });
  testResponseVectors('Ingress', () => ({
    to: tested.port,
    fields: [`Host: ${HOSTNAME}`],
    upstream: hostile,
    dropped: ['x-secret', 'upgrade', 'set-cookie'],
  }));
});

/** What the vectors expect of a server that takes cookies, or serves pages beside its WebSockets. */
const OTHERWISE: Readonly<Record<string, readonly [number, string]>> = {
  'handshake/upgrade-missing': [404, 'nothing but a handshake passes a WS route'],
  'handshake/origin-foreign': [101, 'whose pages may connect is up to the app, which is told the origin'],
  'handshake/origin-missing-with-cookie': [101, 'no cookie arrives, and native clients send no Origin'],
  'handshake/revoked-session': [101, 'no cookie arrives: the grant is what is revoked'],
};

describe('a handshake through an Ingress', () => {
  let tested: UnderTest;
  before(async () => {
    tested = await startUnderTest({
      lines: (node) => [
        { kind: 'nodes', items: [node], gone: [] },
        { kind: 'routes', items: [routeOf(['WS:/ws'])], gone: [] },
      ],
    });
    tested.node.server.on('upgrade', (req, socket: Socket) => {
      socket.on('error', () => undefined);
      socket.write(switching(req));
      socket.pipe(socket);
    });
  });
  after(() => tested.close());

  function connect(change: Fields, more = ''): Promise<RawConnection> {
    const fields = handshake({ Host: HOSTNAME, Origin: `http://${HOSTNAME}`, ...change });
    return openRaw(tested.port, `GET /ws HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n${more}`);
  }

  testHandshakeVectors(connect, OTHERWISE);

  test('is followed by every byte as it was sent, both ways, those that came with the head among them', async () => {
    const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => index % 251));
    const connection = await connect({}, 'with the head');
    await connection.until(() => connection.received().endsWith('with the head'));
    const before = connection.received().length;
    connection.socket.write(bytes);
    await connection.until(() => connection.received().length === before + bytes.length);
    assert.equal(connection.received().slice(before), bytes.toString('latin1'));
    connection.halfClose();
    await Promise.race([once(connection.socket, 'close'), connection.closed()]);
  });
});
