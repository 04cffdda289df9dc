// The vectors against a whole Gateway: requests of a workload without its credential are never forwarded, those with it
// arrive unchanged, and answers of core and of the workload pass only if they are valid.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { portOf } from '../../http/test-support/port-of.ts';
import { openRaw } from '../../http/test-support/raw-exchange.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../../http/test-support/recording-upstream.ts';
import { testPathVectors, testRequestVectors } from '../../http/test-support/request-vectors.ts';
import {
  type HostileUpstream,
  startHostileUpstream,
  testResponseVectors,
} from '../../http/test-support/response-vectors.ts';
import {
  GATEWAY_CREDENTIAL,
  type GatewayUnderTest,
  startGatewayUnderTest,
} from '../test-support/gateway-under-test.ts';

const HOST = 'gw.example.test';
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
