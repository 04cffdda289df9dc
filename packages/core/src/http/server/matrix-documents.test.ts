// Where the homeserver is, for who knows the name in addresses alone.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Constellation, startConstellation } from '../../../../../tests/support/constellation.ts';
import { rawRequest } from '../../../../../tests/support/raw-http.ts';

let world: Constellation;

before(async () => {
  world = await startConstellation({
    config: {
      messaging: {
        serverName: 'example.com',
        bridge: { kind: 'none' },
        federation: 'matrix.example.com:8448',
        clientUrl: 'https://matrix.example.com',
      },
    },
  });
});
after(() => world?.close());

const get = (host: string, document: string, method = 'GET') =>
  rawRequest({ port: world.port, method, path: `/.well-known/matrix/${document}`, headers: { host } });

test('the documents are served on the server name, whatever the port and case, and nowhere else', async () => {
  for (const host of ['example.com', 'example.com:8448', 'EXAMPLE.com:443']) {
    const server = await get(host, 'server');
    assert.deepEqual([server.status, server.json], [200, { 'm.server': 'matrix.example.com:8448' }], host);
    assert.equal(server.headers['access-control-allow-origin'], undefined);
    const client = await get(host, 'client');
    assert.deepEqual(client.json, { 'm.homeserver': { base_url: 'https://matrix.example.com' } });
    assert.equal(client.headers['access-control-allow-origin'], '*');
    assert.equal(client.headers['content-type'], 'application/json');
  }
  const shell = new URL(world.origin).host;
  for (const host of [shell, 'matrix.example.com', 'example.com.evil.example', 'notexample.com'])
    for (const document of ['server', 'client']) assert.notEqual((await get(host, document)).status, 200, host);
  for (const document of ['support', 'server/', 'client/..', ''])
    assert.doesNotMatch((await get('example.com', document)).text, /matrix\.example\.com/);
});

test('only reading them is offered', async () => {
  const post = await get('example.com', 'server', 'POST');
  assert.equal(post.status, 405);
  assert.equal(post.headers.allow, 'GET, HEAD');
});
