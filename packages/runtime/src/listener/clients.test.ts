// Clients of a real backend through the node: what a capability opens, and that what was begun with it ends with it.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Assignment } from '@platform/contract';
import { until } from '../../../../tests/support/wait.ts';
import { handshake, SWITCHING } from '../../../http/test-support/handshakes.ts';
import { openRaw, type RawConnection } from '../../../http/test-support/raw-exchange.ts';
import { capabilityFor, makeAssignment } from '../../test-support/core-double.ts';
import { NODE_HOST, request, startTestNode, type TestNode } from '../../test-support/node.ts';

const BACKEND = `
  const http = process.getBuiltinModule('node:http');
  const server = http.createServer((req, res) => {
    if (req.url === '/own') return res.end(process.env.PLATFORM_APP_CAPABILITY);
    if (req.url !== '/stream') return res.end('plain');
    res.write('begun');
    res.on('close', () => console.log('the stream was left'));
  });
  server.on('upgrade', (req, socket) => {
    socket.write(${SWITCHING} + 'hello');
    socket.resume().on('end', () => console.log('the WebSocket was left'));
    socket.on('error', () => {});
  });
  server.listen(Number(process.env.PORT));
`;

describe('a client of a backend', () => {
  let node: TestNode;
  let hash: string;
  let one: Assignment;

  before(async () => {
    node = await startTestNode();
    hash = await node.core.publish({ 'index.mjs': BACKEND });
  });
  after(() => node.close());
  beforeEach(async () => {
    one = makeAssignment(hash);
    node.core.assign([one]);
    await known(one);
  });

  const known = (assignment: Assignment) =>
    until(
      'the assignment',
      async () => (await node.core.control('GET', `/installations/${assignment.installationId}/status`)).status === 200,
    );

  const ask = (path: string, capability: string) =>
    request(node.runtime.listenerPort, `/e/${one.endpointId}${path}`, {
      headers: { authorization: `Bearer ${capability}` },
    });

  /** A long answer that has begun. */
  async function openStream(capability: string): Promise<{ readonly broken: Promise<boolean> }> {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const broken = new Promise<boolean>((resolve) => {
      const sent = http.get(
        {
          host: '127.0.0.1',
          port: node.runtime.listenerPort,
          path: `/e/${one.endpointId}/stream`,
          headers: { host: NODE_HOST, authorization: `Bearer ${capability}` },
          agent: false,
        },
        (answer) => {
          answer.once('data', () => begin());
          answer.once('end', () => resolve(false));
          answer.once('error', () => resolve(true));
        },
      );
      sent.once('error', () => resolve(true));
    });
    await begun;
    return { broken };
  }

  async function openSocket(capability: string): Promise<RawConnection> {
    const fields = [
      `GET /e/${one.endpointId}/chat HTTP/1.1`,
      ...handshake({ Host: NODE_HOST, Authorization: `Bearer ${capability}` }),
    ];
    const connection = await openRaw(node.runtime.listenerPort, `${fields.join('\r\n')}\r\n\r\n`);
    await connection.until(() => connection.received().endsWith('hello'));
    return connection;
  }

  const ended = (text: string) =>
    until(text, async () =>
      (await node.core.logs(one.installationId)).items.some(({ line }) => line === `the ${text} was left`),
    );

  test('that is native sends no Origin, and is let in by its capability alone', async () => {
    assert.equal((await ask('/', capabilityFor(one))).text, 'plain');
    const answer = await ask('/', `pdc_${'A'.repeat(43)}`);
    assert.deepEqual([answer.status, JSON.parse(answer.text).code], [401, 'unauthenticated']);
    assert.equal(answer.headers['www-authenticate'], 'Bearer');
  });

  test('is cut off from its stream and its WebSocket when its capability ends', async () => {
    const capability = capabilityFor(one);
    const [stream, socket] = [await openStream(capability), await openSocket(capability)];
    node.core.endCapability(capability);
    node.core.assign([{ ...one, clientsRevision: 1 }]);
    assert.equal(await stream.broken, true);
    await socket.closed();
    assert.equal((await ask('/', capability)).status, 401);
    await Promise.all([ended('stream'), ended('WebSocket')]);
  });

  test('goes on when the capability of another one ends', async () => {
    const socket = await openSocket(capabilityFor(one));
    const asked = node.core.questions.length;
    node.core.assign([{ ...one, clientsRevision: 1 }]);
    await until('the question', () => node.core.questions.length > asked);
    assert.equal((await ask('/', capabilityFor(one))).status, 200);
    assert.equal(socket.socket.destroyed, false);
    socket.socket.destroy();
  });

  test('is cut off at the end of the time of its capability', async () => {
    const capability = capabilityFor(one);
    const socket = await openSocket(capability);
    node.core.endCapability(capability);
    node.clock.advance(12 * 3_600_000);
    await socket.closed();
    assert.equal((await ask('/', capability)).status, 401);
  });

  test('is cut off when the account is paused, and when the app is removed', async () => {
    const paused = await openStream(capabilityFor(one));
    node.core.assign([{ ...one, desired: 'stopped', paused: true }]);
    assert.equal(await paused.broken, true);
    node.core.assign([one]);
    await until('the end of the pause', async () => (await ask('/', capabilityFor(one))).status === 200);
    const removed = await openStream(capabilityFor(one));
    node.core.assign([]);
    assert.equal(await removed.broken, true);
  });

  test('may present the capability of the backend itself, as long as core says so', async () => {
    const own = (await ask('/own', capabilityFor(one))).text;
    assert.match(own, /^pdc_[\w-]{43}$/);
    assert.notEqual(own, capabilityFor(one));
    assert.equal((await ask('/', own)).text, 'plain');
    const socket = await openSocket(own);
    node.core.endCapability(own);
    await node.core.control('POST', `/installations/${one.installationId}/stop`);
    await socket.closed();
    const next = (await ask('/own', capabilityFor(one))).text;
    assert.notEqual(next, own);
    assert.equal((await ask('/', own)).status, 401);
    assert.equal((await ask('/', next)).status, 200);
  });

  test('waits for core no longer than core needs, and is told to come again when core is away', async () => {
    node.core.answerQuestions(503);
    const answer = await ask('/', capabilityFor(one));
    node.core.answerQuestions(200);
    assert.deepEqual([answer.status, JSON.parse(answer.text).code], [503, 'workload_unavailable']);
    assert.equal(answer.headers['retry-after'], '1');
    assert.equal((await ask('/', capabilityFor(one))).status, 200);
  });

  test('leaves its capability in no log', async () => {
    const capability = capabilityFor(one);
    await ask('/', capability);
    await ask('/', `pdc_${'B'.repeat(43)}`);
    const logged = node.logged.join('\n') + JSON.stringify(await node.core.logs(one.installationId));
    for (const secret of [capability, 'B'.repeat(43)]) assert.ok(!logged.includes(secret));
  });
});
