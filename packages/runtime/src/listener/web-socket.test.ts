// WebSockets through the node listener to a real backend: who may connect, that a stopped backend wakes, and what ends them.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Assignment } from '@platform/contract';
import { until } from '../../../../tests/support/wait.ts';
import { type Fields, handshake, SWITCHING, testHandshakeVectors } from '../../../http/test-support/handshakes.ts';
import { openRaw, type RawConnection } from '../../../http/test-support/raw-exchange.ts';
import { capabilityFor, makeAssignment } from '../../test-support/core-double.ts';
import { NODE_HOST, startTestNode, type TestNode } from '../../test-support/node.ts';

const BACKEND = `
  const http = process.getBuiltinModule('node:http');
  const server = http.createServer((req, res) => res.end('plain'));
  server.on('upgrade', (req, socket) => {
    const { authorization, 'sec-websocket-protocol': protocol } = req.headers;
    socket.write(${SWITCHING});
    socket.write(JSON.stringify({ url: req.url, authorization: authorization ?? null, protocol: protocol ?? null }) + '\\n');
    socket.pipe(socket);
  });
  server.listen(Number(process.env.PORT));
`;

/** What the vectors expect of a server that takes cookies or knows no other answer. */
const OTHERWISE: Readonly<Record<string, readonly [number, string]>> = {
  'handshake/upgrade-missing': [200, 'a plain request to the backend, which is its note'],
  'handshake/origin-missing-with-cookie': [
    101,
    'no cookie counts here, and native clients send no Origin (contract 3)',
  ],
  'handshake/revoked-session': [101, 'no cookie counts here: the capability is what is revoked'],
};

describe('a WebSocket to a backend', () => {
  let node: TestNode;
  let one: Assignment;
  let other: Assignment;

  before(async () => {
    node = await startTestNode();
    const hash = await node.core.publish({ 'index.mjs': BACKEND });
    one = makeAssignment(hash);
    other = makeAssignment(hash);
    node.core.assign([one, other]);
    await until(
      'the assignments',
      async () => (await node.core.control('GET', `/installations/${one.installationId}/status`)).status === 200,
    );
  });
  after(() => node.close());

  const state = async (): Promise<string> => (await node.core.status(one.installationId)).state;
  const bearer = (capability: string): string => `platform.bearer.${capability}`;

  /** A handshake in order but for these fields. */
  function connect(change: Fields = {}, more = ''): Promise<RawConnection> {
    const fields = handshake({ Host: NODE_HOST, Origin: one.appOrigin, ...change });
    const line = `GET /e/${one.endpointId}/chat?x=1 HTTP/1.1`;
    return openRaw(node.runtime.listenerPort, `${[line, ...fields].join('\r\n')}\r\n\r\n${more}`);
  }

  async function refusal(fields: Fields): Promise<[number | undefined, string]> {
    const connection = await connect(fields);
    await connection.closed();
    const [answer, ...rest] = connection.answers();
    assert.equal(rest.length, 0);
    return [answer?.status, JSON.parse(answer?.body ?? '{}').code];
  }

  test('is refused without exactly the right capability, or from another origin, and wakes nothing', async () => {
    const right = capabilityFor(one);
    const protocol = (...offered: string[]) => ({ 'Sec-WebSocket-Protocol': offered.join(', ') });
    assert.deepEqual(await refusal({}), [401, 'unauthenticated']);
    assert.deepEqual(await refusal({ Authorization: 'Bearer pdc_wrong' }), [401, 'unauthenticated']);
    assert.deepEqual(await refusal(protocol(bearer('pdc_wrong'))), [401, 'unauthenticated']);
    assert.deepEqual(await refusal(protocol(bearer(capabilityFor(other)))), [401, 'unauthenticated']);
    assert.deepEqual(await refusal(protocol(bearer(right), bearer('pdc_wrong'))), [401, 'unauthenticated']);
    assert.deepEqual(await refusal(protocol(bearer(right), bearer(right))), [401, 'unauthenticated']);
    assert.deepEqual(await refusal({ Origin: other.appOrigin, Authorization: `Bearer ${right}` }), [
      403,
      'origin_not_allowed',
    ]);
    assert.deepEqual(await refusal({ Origin: 'null', Authorization: `Bearer ${right}` }), [403, 'origin_not_allowed']);
    assert.deepEqual(await refusal({ 'Sec-WebSocket-Version': '8', Authorization: `Bearer ${right}` }), [
      400,
      'invalid_request',
    ]);
    assert.equal(await state(), 'stopped');
  });

  test('wakes a stopped backend, which sees neither the capability nor its subprotocol', async () => {
    const connection = await connect(
      { 'Sec-WebSocket-Protocol': `chat, ${bearer(capabilityFor(one))}` },
      'sent with the handshake',
    );
    await connection.until(() => connection.received().endsWith('sent with the handshake'));
    assert.match(connection.received(), /^HTTP\/1\.1 101 /);
    assert.ok(connection.received().includes('{"url":"/chat?x=1","authorization":null,"protocol":"chat"}'));
    assert.ok(!connection.received().includes(capabilityFor(one)));
    assert.equal(await state(), 'running');
    connection.socket.destroy();
  });

  test('of a browser gets an accepted subprotocol, although the backend knows none', async () => {
    const offered = { 'Sec-WebSocket-Protocol': `platform.client, ${bearer(capabilityFor(one))}` };
    const connection = await connect(offered, 'x');
    await connection.until(() => connection.received().endsWith('x'));
    const head = connection.received().split('\r\n\r\n')[0] ?? '';
    assert.deepEqual(/^sec-websocket-protocol: (.*)$/im.exec(head)?.[1], 'platform.client');
    assert.ok(connection.received().includes('"protocol":null'));
    connection.socket.destroy();
    const plain = await connect({ Authorization: `Bearer ${capabilityFor(one)}` }, 'x');
    await plain.until(() => plain.received().endsWith('x'));
    assert.doesNotMatch(plain.received(), /sec-websocket-protocol/i);
    plain.socket.destroy();
  });

  testHandshakeVectors((change) => connect({ Authorization: `Bearer ${capabilityFor(one)}`, ...change }), OTHERWISE);

  test('is refused while the account is paused', async () => {
    const authorization = { Authorization: `Bearer ${capabilityFor(one)}` };
    node.core.assign([{ ...one, desired: 'stopped', paused: true }, other]);
    await until('the pause', async () => (await state()) === 'stopped');
    assert.deepEqual(await refusal(authorization), [503, 'runtime_paused']);
    node.core.assign([one, other]);
    await until('its end', async () => {
      const connection = await connect(authorization);
      await connection.until(() => connection.received().includes('\r\n\r\n'));
      connection.socket.destroy();
      return connection.received().startsWith('HTTP/1.1 101');
    });
  });

  test('ends with its backend, and with the node', async () => {
    const authorization = { Authorization: `Bearer ${capabilityFor(one)}` };
    const first = await connect(authorization);
    await first.until(() => first.received().includes('"url"'));
    await node.core.control('POST', `/installations/${one.installationId}/stop`);
    await first.closed();
    const second = await connect(authorization);
    await second.until(() => second.received().includes('"url"'));
    await node.runtime.stop();
    await second.closed();
  });
});
