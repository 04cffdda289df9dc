// A Gateway and a core on another machine: both prove their keys, and Gateways of one process that prove different keys
// share no connection.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { acceptLinks, keyFromSeed, linkCertificate, linkPeer, publicKeyText } from '@platform/link';
import { ask, startGatewayUnderTest } from '../test-support/gateway-under-test.ts';
import { SERVICE } from '../test-support/scripted-core.ts';

const [core, node, stranger] = [1, 2, 3].map((seed) => keyFromSeed(Buffer.alloc(32, seed)));

test('core sees the key of the node, and a Gateway with another or none gets 502', async (t) => {
  assert.ok(core !== undefined && node !== undefined && stranger !== undefined);
  const server = createServer((request, response) => {
    const { key } = linkPeer(request.socket) ?? assert.fail('it came by no link');
    response.end(publicKeyText(key));
  });
  const isKnown = (key: Buffer) => key.equals(node.publicKey);
  const listener = await acceptLinks(server, { key: core, host: '127.0.0.1', port: 0, isKnown });
  t.after(() => listener.close());
  const answers: [number, string][] = [];
  for (const own of [node, stranger, null, node]) {
    const certificate = own === null ? {} : { linkCertificate: await linkCertificate(own) };
    const coreKey = publicKeyText(core.publicKey);
    const tested = await startGatewayUnderTest(`https://127.0.0.1:${listener.port}`, { coreKey, ...certificate });
    t.after(() => tested.close());
    const { status, body } = await ask(tested.port, { path: SERVICE });
    answers.push([status, status === 200 ? body : JSON.parse(body).code]);
  }
  const served = [200, publicKeyText(node.publicKey)];
  assert.deepEqual(answers, [served, [502, 'upstream_failed'], [502, 'upstream_failed'], served]);
});
