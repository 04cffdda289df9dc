// The endpoint side of a node behind NAT with a real backend: reached at its public side, under the host that core chose, by
// the rules of its endpoint listener. The tests stand in for the Ingress.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Assignment, CLIENT_ADDRESS, CLIENT_AUTHORIZATION, CLIENT_PROTOCOL, limits } from '@platform/contract';
import { until } from '../../../../tests/support/wait.ts';
import { handshake, SWITCHING } from '../../../http/test-support/handshakes.ts';
import { openRaw } from '../../../http/test-support/raw-exchange.ts';
import { capabilityFor, makeAssignment } from '../../test-support/core-double.ts';
import { type Answer, type CallOptions, request, startTestNode, type TestNode } from '../../test-support/node.ts';

const HOST = 'node-019a0000-0000-7000-8000-000000000001.public.platform.localhost';
const BACKEND = `
  const http = process.getBuiltinModule('node:http');
  const server = http.createServer((req, res) => {
    res.setHeader('set-cookie', 'a=b');
    res.end(JSON.stringify({ url: req.url, headers: req.headers }));
  });
  server.on('upgrade', (req, socket) => {
    socket.write(${SWITCHING} + 'hello');
    socket.on('error', () => {}).resume();
  });
  server.listen(Number(process.env.PORT));
`;

describe('the endpoint side of a node behind NAT', () => {
  let node: TestNode;
  let hash: string;
  let one: Assignment;

  before(async () => {
    node = await startTestNode();
    hash = await node.core.publish({ 'index.mjs': BACKEND });
    one = makeAssignment(hash, { publicRoutes: ['GET:/*'] });
    await assign(HOST);
  });
  after(() => node.close());

  async function assign(host: string | undefined): Promise<void> {
    node.core.chooseEndpointHost(host);
    node.core.assign([one]);
    await until('the assignments', async () => {
      const { status } = await node.core.control('GET', `/installations/${one.installationId}/status`);
      return node.core.isFollowed() && status === 200;
    });
  }

  const port = () => Number(new URL(node.core.publicSide().url).port);
  const ofIngress = () => ({
    authorization: `Bearer ${node.core.publicSide().credential}`,
    [CLIENT_ADDRESS]: '192.0.2.7',
    [CLIENT_PROTOCOL]: 'https',
  });
  const ofClient = (capability = capabilityFor(one)) => ({ [CLIENT_AUTHORIZATION]: `Bearer ${capability}` });
  const endpoint = () => `/e/${one.endpointId}`;

  function ask(path: string, { headers, ...more }: CallOptions = {}): Promise<Answer> {
    return request(port(), path, { ...more, headers: { host: `${HOST}:8791`, ...ofIngress(), ...headers } });
  }
  const refusal = async (path: string, options: CallOptions) => {
    const { status, text } = await ask(path, options);
    return [status, JSON.parse(text).code];
  };

  test('answers a client with its capability, as the endpoint listener does', async () => {
    const origin = one.appOrigin;
    const { status, headers, text } = await ask(`${endpoint()}/a?b=1`, { headers: { ...ofClient(), origin } });
    assert.equal(status, 200);
    const direct = await node.call(one, '/a?b=1');
    const kept = ({ 'x-request-id': _id, date: _date, ...rest }: Answer['headers']) => rest;
    assert.deepEqual(kept(headers), kept(direct.headers));
    assert.deepEqual(JSON.parse(text), JSON.parse(direct.text));
    assert.equal(headers['access-control-allow-origin'], origin);
    assert.equal(headers['set-cookie'], undefined);
    assert.equal(JSON.parse(text).headers['platform-public'], undefined);
  });

  test('answers a preflight without one, and no page of another app', async () => {
    const preflight = { origin: one.appOrigin, 'access-control-request-method': 'PUT' };
    assert.equal((await ask(endpoint(), { method: 'OPTIONS', headers: preflight })).status, 204);
    const other = { ...ofClient(), origin: 'https://other.example' };
    assert.deepEqual(await refusal(endpoint(), { headers: other }), [403, 'origin_not_allowed']);
  });

  test('refuses a client without a valid capability, that of the Ingress included', async () => {
    const { authorization } = ofIngress();
    for (const wrong of [{}, ofClient(`pdc_${'A'.repeat(43)}`), { [CLIENT_AUTHORIZATION]: authorization }])
      assert.deepEqual(await refusal(`${endpoint()}/`, { headers: wrong }), [401, 'unauthenticated']);
    const twice = { [CLIENT_AUTHORIZATION]: [`Bearer ${capabilityFor(one)}`, 'Bearer x'] as unknown as string };
    assert.deepEqual(await refusal(`${endpoint()}/`, { headers: twice }), [401, 'unauthenticated']);
    assert.deepEqual(await refusal('/e/unknown/', { headers: ofClient() }), [404, 'not_found']);
  });

  test('counts guesses by the address of the client, as its Ingress states it', async () => {
    const guess = (address: string, number: number) =>
      ask(`${endpoint()}/`, {
        headers: { ...ofClient(`pdc_${String(number).padStart(43, 'B')}`), [CLIENT_ADDRESS]: address },
      });
    for (let number = 0; number < limits.guessedCapabilities.value; number += 1)
      assert.equal((await guess('192.0.2.8', number)).status, 401);
    assert.equal((await guess('192.0.2.8', 1_000)).status, 429);
    assert.equal((await guess('192.0.2.9', 1_001)).status, 401);
  });

  test('is there for who presents the credential of the public side, and for no other', async () => {
    for (const authorization of [undefined, `Bearer ${capabilityFor(one)}`])
      assert.deepEqual(await refusal(endpoint(), { headers: { ...ofClient(), authorization } }), [421, 'unknown_host']);
  });

  test('and the public names of its apps do not lead to each other', async () => {
    const hostname = one.gateway.public?.hostname;
    const at = (host: string | undefined, path: string) => ask(path, { headers: { ...ofClient(), host } });
    assert.deepEqual((await at(HOST, '/')).status, 404);
    const answer = await at(hostname, endpoint());
    const { url, headers } = JSON.parse(answer.text);
    assert.deepEqual([url, headers.host, headers['platform-public']], [endpoint(), hostname, '1']);
    assert.equal(headers[CLIENT_AUTHORIZATION], undefined);
  });

  test('takes WebSockets with a capability, and no others', async () => {
    const capability = capabilityFor(one);
    const offered = { 'Sec-WebSocket-Protocol': `platform.bearer.${capability}` };
    const fields = Object.entries(ofIngress()).map(([name, value]) => `${name}: ${value}`);
    const head = [`GET ${endpoint()}/chat HTTP/1.1`, `Host: ${HOST}`, ...fields, ...handshake(offered), '', ''];
    const socket = await openRaw(port(), head.join('\r\n'));
    await socket.until(() => socket.received().endsWith('hello'));
    socket.socket.destroy();
    const refused = await openRaw(port(), head.join('\r\n').replace(capability, `pdc_${'C'.repeat(43)}`));
    await refused.until(() => refused.answers().length === 1);
    assert.equal(refused.answers()[0]?.status, 401);
    refused.socket.destroy();
  });

  test('is not there where core chose no host', async () => {
    await assign(undefined);
    assert.deepEqual(await refusal(endpoint(), { headers: ofClient() }), [421, 'unknown_host']);
  });
});
