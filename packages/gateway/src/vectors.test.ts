// The vectors against a whole Gateway: requests of a workload without its credential are never forwarded, those with it
// arrive unchanged, and answers of core and of the workload pass only if they are valid.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { METHODS, type Server } from 'node:http';
import { createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { CLIENT_ADDRESS, CLIENT_PROTOCOL } from '@platform/contract';
import type { AcceptedRequest } from '@platform/http';
import { portOf } from '../../http/test-support/port-of.ts';
import { openRaw } from '../../http/test-support/raw-exchange.ts';
import {
  headerValues,
  type RecordedRequest,
  type RecordingUpstream,
  startRecordingUpstream,
} from '../../http/test-support/recording-upstream.ts';
import { testPathVectors, testRequestVectors } from '../../http/test-support/request-vectors.ts';
import {
  type HostileUpstream,
  startHostileUpstream,
  testResponseVectors,
} from '../../http/test-support/response-vectors.ts';
import {
  GATEWAY_CREDENTIAL,
  type GatewayUnderTest,
  openPublicDoor,
  startGatewayUnderTest,
} from '../test-support/gateway-under-test.ts';
import type { RunningGateway } from './gateway.ts';

const HOST = 'gw.example.test';
/** Open for every request. */
const PUBLIC = {
  revision: 1,
  public: { hostname: HOST, routes: METHODS.map((method) => `${method}:/*`) },
};
const AUTHORIZATION = `Authorization: Bearer ${GATEWAY_CREDENTIAL}`;

describe('a Gateway in front of core', () => {
  let core: RecordingUpstream;
  let tested: GatewayUnderTest;
  /** Taken in turn: each one slows down who is refused more than 20 times a second. */
  let many: GatewayUnderTest[];
  let turn = 0;
  before(async () => {
    core = await startRecordingUpstream();
    many = await Promise.all(Array.from({ length: 16 }, () => startGatewayUnderTest(core.origin, { hosts: [HOST] })));
    tested = many[0] ?? assert.fail();
  });
  after(async () => {
    await Promise.all(many.map((one) => one.close()));
    await core.close();
  });
  testRequestVectors('Gateway without its credential', () => ({
    to: many[turn++ % many.length]?.port ?? 0,
    host: HOST,
    isServed: ({ status }) => status === 401,
    takeArrived: core.take,
    answersItself: true,
  }));
  test('Gateway without its credential: no vector has even begun at core', () => assert.equal(core.begun(), 0));
  testPathVectors('Gateway', () => ({
    to: tested.port,
    host: HOST,
    prefix: '/v1/services',
    fields: [AUTHORIZATION],
    isServed: ({ status }) => status === 200,
    takeArrived: core.take,
  }));
});

describe('a Gateway in front of a hostile core', () => {
  let core: HostileUpstream;
  let tested: GatewayUnderTest;
  before(async () => {
    core = await startHostileUpstream({ port: 0, host: '127.0.0.1' });
    tested = await startGatewayUnderTest(`http://127.0.0.1:${portOf(core.server)}`, { hosts: [HOST] });
  });
  after(async () => {
    await tested.close();
    core.server.close();
  });
  testResponseVectors('core service', () => ({
    to: tested.port,
    path: '/v1/services/x',
    fields: [`Host: ${HOST}`, AUTHORIZATION],
    upstream: core,
    dropped: ['x-secret', 'upgrade', 'set-cookie'],
  }));
});

describe('a Gateway in front of a hostile workload', () => {
  let workload: HostileUpstream;
  let tested: GatewayUnderTest;
  before(async () => {
    tested = await startGatewayUnderTest('http://127.0.0.1:9');
    workload = await startHostileUpstream({ path: tested.socketPath });
  });
  after(async () => {
    await tested.close();
    workload.server.close();
  });
  testResponseVectors('inbound side', () => ({
    to: tested.inboundPort,
    fields: ['Host: node.test'],
    upstream: workload,
    dropped: ['x-secret', 'upgrade', 'set-cookie', 'service-worker-allowed', 'clear-site-data'],
  }));
});

describe('a Gateway in front of a workload that the internet reaches', () => {
  let workload: RecordingUpstream;
  let tested: GatewayUnderTest;
  let door: Server;
  before(async () => {
    tested = await startGatewayUnderTest('http://127.0.0.1:9', { policy: PUBLIC });
    workload = await startRecordingUpstream(undefined, { path: tested.socketPath });
    door = openPublicDoor(stated(tested.gateway));
    door.listen(0, '127.0.0.1');
    await once(door, 'listening');
  });
  after(async () => {
    door.close();
    door.closeAllConnections();
    await tested.close();
    await workload.close();
  });
  const front = () => ({
    to: portOf(door),
    host: HOST,
    isServed: ({ status }: { readonly status: number }) => status === 200,
    takeArrived: () => workload.take().map(withoutOwnFields),
    carriesTo: HOST,
  });
  const handshake = 'a WebSocket handshake without version and key is refused (RFC 6455 4.2.1)';
  testRequestVectors('public side', front, {
    refused: { 'connection.md:545': handshake, 'connection.md:756': handshake },
  });
  testPathVectors('public side', front);
});

describe('a Gateway in front of a hostile workload that the internet reaches', () => {
  let workload: HostileUpstream;
  let tested: GatewayUnderTest;
  let door: Server;
  before(async () => {
    tested = await startGatewayUnderTest('http://127.0.0.1:9', { policy: PUBLIC });
    workload = await startHostileUpstream({ path: tested.socketPath });
    door = openPublicDoor(stated(tested.gateway));
    door.listen(0, '127.0.0.1');
    await once(door, 'listening');
  });
  after(async () => {
    door.close();
    door.closeAllConnections();
    await tested.close();
    workload.server.close();
  });
  testResponseVectors('public side', () => ({
    to: portOf(door),
    fields: [`Host: ${HOST}`],
    upstream: workload,
    dropped: ['x-secret', 'upgrade', 'set-cookie', 'clear-site-data'],
  }));
});

test('bytes that a workload sends on an idle connection are discarded with the connection', async () => {
  const chatty = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood');
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil');
    });
  });
  const tested = await startGatewayUnderTest('http://127.0.0.1:9');
  chatty.listen(tested.socketPath);
  await once(chatty, 'listening');
  for (let round = 0; round < 5; round += 1) {
    const visitor = await openRaw(tested.inboundPort, 'GET / HTTP/1.1\r\nHost: n\r\nConnection: close\r\n\r\n');
    await visitor.closed();
    assert.equal(visitor.answers()[0]?.body, 'good');
  }
  await tested.close();
  chatty.close();
});

/** Names a client for every request, as an Ingress does: the vectors know of none. */
function stated(gateway: RunningGateway): Pick<RunningGateway, 'forwardPublic' | 'forwardPublicUpgrade'> {
  const name = ({ req }: AcceptedRequest) =>
    Object.assign(req.headers, { [CLIENT_ADDRESS]: '192.0.2.7', [CLIENT_PROTOCOL]: 'https' });
  return {
    forwardPublic(incoming) {
      name(incoming);
      gateway.forwardPublic(incoming);
    },
    forwardPublicUpgrade(incoming) {
      name(incoming);
      gateway.forwardPublicUpgrade(incoming);
    },
  };
}

/** What arrived, without the fields that the Gateway states: exactly one of each, so nothing of a client under their names. */
function withoutOwnFields(request: RecordedRequest): RecordedRequest {
  const own: Readonly<Record<string, string>> = {
    forwarded: `for=192.0.2.7;host=${HOST};proto=https`,
    'x-forwarded-for': '192.0.2.7',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': HOST,
    'platform-public': '1',
  };
  for (const [name, value] of Object.entries(own)) assert.deepEqual(headerValues(request, name), [value]);
  const rawHeaders = request.rawHeaders.filter((_field, index, all) => own[nameAt(all, index)] === undefined);
  return { ...request, rawHeaders };
}

/** The name of the field that this entry of a raw list is part of. */
function nameAt(rawHeaders: readonly string[], index: number): string {
  return rawHeaders[index - (index % 2)]?.toLowerCase() ?? '';
}
