// Connections to nodes are kept for the next call, and nothing is left of a node that is gone.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { acceptLinks, type LinkListener, linkCertificate } from '@platform/link';
import { newNodeKey } from '../../../../tests/support/constellation.ts';
import { until } from '../../../../tests/support/wait.ts';
import { NodePools, UnreachedError } from './node-pools.ts';

const pools = new NodePools(5_000);
const key = newNodeKey();
const own = newNodeKey();
let plain: http.Server;
let linked: LinkListener;
let secured: http.Server;
let connections = 0;

before(async () => {
  const answer: http.RequestListener = (_req, res) => void res.end('answer');
  // However busy the machine, a connection is kept from one request to the next.
  plain = http.createServer({ keepAliveTimeout: 60_000 }, answer).on('connection', () => {
    connections += 1;
  });
  plain.listen(0, '127.0.0.1');
  await once(plain, 'listening');
  secured = http.createServer(answer);
  linked = await acceptLinks(secured, {
    key,
    host: '127.0.0.1',
    port: 0,
    isKnown: (shown) => shown.equals(own.publicKey),
  });
});
after(async () => {
  await pools.close();
  plain.close();
  await linked.close();
});

async function ask(origin: string, nodeKey?: Buffer): Promise<string> {
  const link = nodeKey === undefined ? null : { key: nodeKey, certificate: await linkCertificate(own) };
  const { body } = await pools.to(origin, link).request({ method: 'GET', path: '/' });
  return body.text();
}
const plainOrigin = () => `http://127.0.0.1:${(plain.address() as AddressInfo).port}`;

test('a connection is used again, and its pool ends with the node', async () => {
  for (let round = 0; round < 3; round += 1) {
    assert.equal(await ask(plainOrigin()), 'answer');
    await until('the connection to be free', () => pools.to(plainOrigin(), null).stats.free === 1);
  }
  assert.deepEqual([connections, pools.size], [1, 1]);
  const gone = once(pools.to(plainOrigin(), null), 'disconnect');
  plain.closeAllConnections();
  await gone;
  assert.equal(pools.size, 0);
  assert.equal(await ask(plainOrigin()), 'answer', 'it is reached again when it is back');
});

test('a node that does not prove its key, or is not there, has not been reached', async () => {
  const origin = `https://127.0.0.1:${linked.port}`;
  assert.equal(await ask(origin, key.publicKey), 'answer');
  const size = pools.size;
  await assert.rejects(ask(origin, newNodeKey().publicKey), UnreachedError);
  await assert.rejects(ask('http://127.0.0.1:9'), UnreachedError);
  assert.equal(pools.size, size, 'nothing is kept of what was not reached');
});
