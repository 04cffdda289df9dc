// Requests of the internet through core's topology, a real Ingress, a real node and a real workload, with the node beside
// the Ingress and on another machine; and that whatever closes a route ends what it has under way before it is answered.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Grant, LaunchDescriptor } from '@platform/contract';
import { cordonNode, suspendAccount, uncordonNode } from '@platform/core/operator';
import { joinTestNode } from '../../packages/core/test-support/joined-node.ts';
import { handshake, SWITCHING } from '../../packages/http/test-support/handshakes.ts';
import type { RawConnection } from '../../packages/http/test-support/raw-exchange.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import { freePort } from '../support/free-port.ts';
import { inOwnNetwork } from '../support/own-network.ts';
import { installPublicApp, publicAddressOf, type RealIngress, startRealIngress } from '../support/real-ingress.ts';
import { type RealNode, startRealNode } from '../support/real-node.ts';
import { until } from '../support/wait.ts';

const WORKLOAD = `
  import http from 'node:http';
  const seen = { uploads: 0, ended: [] };
  const note = (what) => () => seen.ended.push(what);
  http.createServer((req, res) => {
    if (req.url === '/drip') { res.on('close', note('drip')); return void res.write('first'); }
    if (req.url === '/endless') {
      res.on('close', note('endless'));
      const piece = Buffer.alloc(256 * 1024, 'x');
      const push = () => { while (!res.destroyed) if (!res.write(piece)) return void res.once('drain', push); };
      return push();
    }
    if (req.url === '/upload') { seen.uploads += 1; req.on('error', note('upload')); return void req.resume(); }
    if (req.url === '/seen') return void res.end(JSON.stringify(seen));
    res.writeHead(200, { 'set-cookie': 'a=b', 'content-security-policy': "default-src 'self'", 'x-own': 'kept' });
    let body = '';
    req.on('data', (piece) => { body += piece; });
    req.on('end', () => res.end(JSON.stringify({ url: req.url, method: req.method, headers: req.headers, body })));
  }).on('upgrade', (req, socket) => {
    socket.on('close', note('socket')).on('error', () => socket.destroy());
    socket.write(${SWITCHING});
    socket.pipe(socket);
  }).listen(Number(process.env.PORT));
`;
const DECLARED = ['GET:/*', 'POST:/upload', 'POST:/hooks/*', 'PUT:/private', 'WS:/room'];
const GRANTED = ['GET:/*', 'POST:/upload', 'POST:/hooks/x', 'WS:/room'];
const grants = (routes: readonly string[]): Grant[] => [{ id: 'endpoints.public', resources: [...routes] }];

let world: Constellation;
let local: RealNode;
let ingress: RealIngress;

// iroh searches the local network for a router with UPnP; this one ends here.
inOwnNetwork(import.meta.url, { skip: 'optional', timeout: 600_000 }, () => {
  before(async () => {
    world = await startConstellation();
    local = await startRealNode(world, { credential: world.core.localNode.nodeCredential });
    const iroh = { listen: { host: '127.0.0.1', port: await freePort() }, relay: null };
    ingress = await startRealIngress(world, {}, { iroh });
  });
  after(async () => {
    await ingress?.stop();
    await local?.stop();
    await world?.close();
  });

  describe('with the node beside the Ingress', () => chain('beside'));

  describe('with the node on another machine', () => {
    let far: RealNode;
    before(async () => {
      const joined = await joinTestNode(world, 'far');
      far = await startRealNode(world, { credential: joined.credential(), key: joined.key });
      await cordonNode(world.core.context, 'local');
    });
    after(async () => {
      await uncordonNode(world.core.context, 'local');
      // Nothing of what follows is placed on it, which is gone and not yet lost.
      await cordonNode(world.core.context, 'far');
      await far?.stop();
    });
    chain('far');
  });

  describe('with a node that connects to core and to the Ingress over iroh itself', () => {
    let hidden: RealNode;
    before(async () => {
      const link = { host: '127.0.0.1', port: await freePort() };
      const core = await world.replica({ linkListen: link, iroh: { relay: null } });
      const joined = await joinTestNode(world, 'hidden');
      hidden = await startRealNode(
        { port: core.port, origin: core.context.config.origin, core },
        { credential: joined.credential(), key: joined.key },
      );
      await cordonNode(world.core.context, 'local');
    });
    after(async () => {
      await uncordonNode(world.core.context, 'local');
      await hidden?.stop();
    });
    chain('hidden');

    test('clients reach its backends through the Ingress, each by what its launch gives, until the app is removed', async () => {
      const owner = await registerAccount(world, 'owner-of-clients');
      const appId = 'app-of-clients';
      const { hostname } = await installPublicApp(owner, appId, { workload: WORKLOAD, routes: DECLARED });
      await known(hostname);
      const { backend, origin: launched } = await owner.browser.take<LaunchDescriptor>(`/v1/apps/${appId}/launch`, {
        body: {},
      });
      const { endpointTicket = '', capability = '' } = backend ?? {};
      const { url } = JSON.parse(Buffer.from(endpointTicket.slice('pet1.'.length), 'base64url').toString());
      const { hostname: host, pathname: endpoint } = new URL(url);
      assert.match(host, /^node-[0-9a-f-]{36}\.public\.platform\.localhost$/);
      const presented = (one: string) => [`Authorization: Bearer ${one}`];

      const native = { method: 'PUT', fields: presented(capability), body: 'a note' };
      const answer = await ingress.get(host, `${endpoint}/notes?q=%2F`, native);
      const { url: target, method, body, headers } = JSON.parse(answer.body);
      assert.deepEqual([target, method, body], ['/notes?q=%2F', 'PUT', 'a note']);
      assert.equal(headers.authorization, undefined);
      assert.doesNotMatch(answer.head, /set-cookie/i);
      // Its node has it of another core than the launch, and so with another port.
      const origin = `http://${headers.host}`;
      assert.equal(new URL(origin).hostname, new URL(launched).hostname);
      const page = [`Origin: ${origin}`];
      const ofPage = await ingress.get(host, `${endpoint}/`, { fields: [...page, ...presented(capability)] });
      assert.equal(/access-control-allow-origin: (\S+)/i.exec(ofPage.head)?.[1], origin);
      const preflight = [...page, 'Access-Control-Request-Method: PUT'];
      assert.equal((await ingress.get(host, `${endpoint}/`, { method: 'OPTIONS', fields: preflight })).status, 204);

      const foreign = `pdc_${'A'.repeat(43)}`;
      for (const [at, path, fields, status] of [
        [host, `${endpoint}/`, [], 401],
        [host, `${endpoint}/`, presented(foreign), 401],
        [host, `${endpoint}/`, [...presented(capability), 'Origin: https://other.example'], 403],
        [host, '/e/unknown/', presented(capability), 404],
        [host, '/seen', presented(capability), 404],
        [`x${host}`, `${endpoint}/`, presented(capability), 421],
      ] as const)
        assert.equal((await ingress.get(at, path, { fields })).status, status, `${at}${path} ${fields}`);

      const open = (one: string) =>
        ingress.send(host, `GET ${endpoint}/room`, {
          fields: handshake({ 'Sec-WebSocket-Protocol': `platform.client, platform.bearer.${one}` }),
        });
      const refused = await open(foreign);
      await refused.closed();
      assert.equal(refused.answers()[0]?.status, 401);
      const socket = await open(capability);
      await socket.until(() => socket.received().includes('\r\n\r\n'));
      assert.match(socket.received(), /^HTTP\/1\.1 101 .*sec-websocket-protocol: platform\.client\r\n/is);
      socket.socket.write('echoed');
      await socket.until(() => socket.received().endsWith('echoed'));
      const stream = await ingress.send(host, `GET ${endpoint}/drip`, { fields: presented(capability) });
      await stream.until(() => stream.received().includes('first'));

      assert.equal((await owner.fetch(`/v1/apps/${appId}`, { method: 'DELETE' })).status, 204);
      await Promise.all([socket.closed(), stream.closed()]);
      assert.equal((await ingress.get(host, `${endpoint}/`, native)).status, 404);
    });
  });
});

function chain(where: string): void {
  let count = 0;
  async function settle(): Promise<{ owner: TestAccount; appId: string; hostname: string }> {
    count += 1;
    const appId = `app-${where}-${count}`;
    const owner = await registerAccount(world, `owner-${where}-${count}`);
    const { hostname } = await installPublicApp(owner, appId, {
      workload: WORKLOAD,
      routes: DECLARED,
      granted: GRANTED,
    });
    await known(hostname);
    return { owner, appId, hostname };
  }
  const codeOf = ({ body }: { readonly body: string }) => JSON.parse(body).code;

  test('a request wakes its backend and arrives as its client sent it, without what strangers may not say', async () => {
    const { hostname } = await settle();
    const fields = [
      'Cookie: a=b',
      'Authorization: Bearer x',
      'X-Forwarded-For: 10.0.0.1',
      'Platform-Client-Address: ::1',
    ];
    const sent = { method: 'POST', fields: [...fields, 'X-Mine: kept', 'X-Request-Id: theirs'], body: 'text' };
    const answer = await ingress.get(`${hostname}:8791`, '/hooks/x?c=%2F', sent);
    assert.equal(answer.status, 200, answer.body);
    assert.match(answer.head, /content-security-policy: default-src 'self'/i);
    assert.match(answer.head, /x-own: kept/i);
    assert.doesNotMatch(answer.head, /set-cookie|pni_|platform-/i);
    const { headers, ...line } = JSON.parse(answer.body);
    const { connection: _, 'platform-request-id': requestId, ...rest } = headers;
    assert.match(requestId, /^[0-9a-f-]{36}$/);
    assert.deepEqual(line, { method: 'POST', url: '/hooks/x?c=%2F', body: 'text' });
    assert.deepEqual(rest, {
      host: hostname,
      forwarded: `for=127.0.0.1;host=${hostname};proto=http`,
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': hostname,
      'platform-public': '1',
      'x-mine': 'kept',
      'x-request-id': 'theirs',
      'content-length': '4',
    });
  });

  test('what is not declared, or declared and not granted, is the same 404; another name is 421', async () => {
    const { hostname } = await settle();
    const other = await ingress.get(`x${hostname}`, '/');
    assert.deepEqual([other.status, codeOf(other)], [421, 'unknown_host']);
    for (const [method, path] of [
      ['POST', '/'],
      ['PUT', '/private'],
      ['POST', '/hooks/y'],
      ['OPTIONS', '/hooks/x'],
      ['POST', '/v1/services/apps'],
    ] as const) {
      const answer = await ingress.get(hostname, path, { method, body: 'x' });
      assert.deepEqual([answer.status, codeOf(answer)], [404, 'not_found'], `${method} ${path}`);
    }
    const above = await ingress.get(hostname, '/hooks/../private');
    assert.deepEqual([above.status, codeOf(above)], [400, 'invalid_path']);
    const socket = await ingress.send(hostname, 'GET /other', { fields: handshake() });
    await socket.closed();
    assert.equal(socket.answers()[0]?.status, 404, 'a handshake where no WebSocket is open');
  });

  const narrow = (owner: TestAccount, appId: string) => put(owner, appId, grants(['GET:/seen']));
  const closings: Readonly<Record<string, (owner: TestAccount, appId: string) => Promise<unknown>>> = {
    'a grant that is withdrawn': (owner, appId) => put(owner, appId, []),
    'a grant that becomes narrower': narrow,
    'another public name': renew,
    'a pause': (owner) => owner.browser.take('/v1/runtime/pause', { method: 'POST', body: {} }),
    'an app that is removed': (owner, appId) => owner.browser.take(`/v1/apps/${appId}`, { method: 'DELETE' }),
    'an account that is suspended': (owner) => suspendAccount(world.core.context, owner.name),
  };
  for (const [name, close] of Object.entries(closings)) {
    test(`${name} ends WebSockets, downloads and uploads before it is answered, also those of clients that stall`, async () => {
      const { owner, appId, hostname } = await settle();
      const socket = await ingress.openWebSocket(hostname, '/room');
      const drip = await ingress.send(hostname, 'GET /drip');
      await drip.until(() => drip.received().includes('first'));
      const stalled = await ingress.send(hostname, 'GET /endless');
      await stalled.until(() => stalled.received().length > 1_000_000);
      stalled.socket.pause();
      const upload = await ingress.send(hostname, 'POST /upload', {
        fields: ['Content-Length: 9000000'],
        body: 'begun',
      });
      await until(
        'the upload to arrive',
        async () => JSON.parse((await ingress.get(hostname, '/seen')).body).uploads === 1,
      );
      const began = performance.now();
      await close(owner, appId);
      const took = performance.now() - began;
      // After two seconds core answers without Ingress and node, which a busy machine may keep waiting for as long.
      if (took < 1_500) {
        // What has been sent on loopback by now is read in the next turns.
        for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        assert.deepEqual([socket.isClosed(), drip.isClosed()], [true, true], `${name} took ${took} ms`);
      }
      await Promise.all([socket.closed(), drip.closed()]);
      stalled.socket.resume();
      await Promise.all([stalled.closed(), answered(upload)]);
      assert.equal(stalled.answers().length, 0);
      // Whichever part is first, Ingress or node, and as the next request: a name without an open route is unknown.
      const status = close === narrow ? 404 : 421;
      assert.equal(upload.answers()[0]?.status, status, upload.received());
      assert.equal((await ingress.get(hostname, '/drip')).status, status);
      assert.equal((await ingress.get(hostname, '/seen')).status, close === narrow ? 200 : 421);
      upload.socket.destroy();
    });
  }

  test('another public name leads to the app', async () => {
    const { owner, appId, hostname } = await settle();
    await renew(owner, appId);
    const { hostname: another } = await publicAddressOf(owner, appId);
    assert.notEqual(another, hostname);
    await known(another);
  });

  test('a route that is opened again passes at once, and what closed it has restarted nothing', async () => {
    const { owner, appId, hostname } = await settle();
    const socket = await ingress.openWebSocket(hostname, '/room');
    await put(owner, appId, []);
    await socket.closed();
    await put(owner, appId, grants(GRANTED));
    const { hostname: again } = await publicAddressOf(owner, appId);
    await known(again);
    const { body } = await ingress.get(again, '/seen');
    assert.deepEqual(JSON.parse(body), { uploads: 0, ended: ['socket'] });
  });
}

/** Only what closes is waited for by core; what opens is there soon after. */
async function known(hostname: string): Promise<void> {
  await until('the Ingress to know the name', async () => (await ingress.get(hostname, '/seen')).status === 200);
}

function renew(owner: TestAccount, appId: string): Promise<unknown> {
  return owner.browser.take(`/v1/apps/${appId}/public/renew`, { method: 'POST', body: {} });
}

function put(owner: TestAccount, appId: string, permissions: readonly Grant[]): Promise<unknown> {
  return owner.browser.take(`/v1/apps/${appId}/permissions`, { method: 'PUT', body: { permissions } });
}

/** Until there is an answer, or none will come. */
function answered(connection: RawConnection): Promise<void> {
  return connection.until(() => connection.answers().length > 0);
}
