// Apps that share an Ingress, a node and the connections between them: whatever a backend answers, and whatever a client sends
// to one app, the client of another gets the answer to its own request; and no public name leads to anything but its app.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { LaunchDescriptor } from '@platform/contract';
import { SWITCHING } from '../../packages/http/test-support/handshakes.ts';
import { openRaw } from '../../packages/http/test-support/raw-exchange.ts';
import { requestVectorsUnder } from '../../packages/http/test-support/request-vectors.ts';
import { responseVectors } from '../../packages/http/test-support/response-vectors.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import { installPublicApp, type RealIngress, startRealIngress } from '../support/real-ingress.ts';
import { type RealNode, startRealNode } from '../support/real-node.ts';
import { until } from '../support/wait.ts';

/** Answers with the bytes that the last `POST /next` brought, whatever they are. */
const BURGLAR = `
  import net from 'node:net';
  let next = Buffer.from('HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nup');
  net.createServer((socket) => {
    socket.on('error', () => undefined);
    let text = '';
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
      const end = text.indexOf('\\r\\n\\r\\n');
      if (end < 0) return;
      const [line] = text.split('\\r\\n');
      const length = Number(/\\r\\ncontent-length: *(\\d+)/i.exec(text)?.[1] ?? 0);
      const body = text.slice(end + 4);
      if (body.length < length) return;
      text = '';
      if (line.startsWith('POST /next ')) {
        next = Buffer.from(body, 'base64');
        return void socket.write('HTTP/1.1 200 OK\\r\\nContent-Length: 3\\r\\n\\r\\nset');
      }
      socket.write(next);
      // Once more, when the connection may be another request's.
      setImmediate(() => socket.writable && socket.write(next));
    });
  }).listen(Number(process.env.PORT));
`;
/** Says what it was asked, to tell one answer from another. */
const VICTIM = `
  import http from 'node:http';
  http.createServer((req, res) => {
    let body = '';
    req.on('data', (chunk) => { body += chunk; });
    req.on('end', () => res.end(JSON.stringify({ url: req.url, mine: req.headers['x-mine'], body })));
  }).on('upgrade', (req, socket) => {
    socket.on('error', () => socket.destroy());
    socket.write(${SWITCHING} + req.url);
    socket.pipe(socket);
  }).listen(Number(process.env.PORT));
`;
const MARK = 'bytes-of-the-burglar';
const PATIENCE_MILLISECONDS = 1_000;

let world: Constellation;
let node: RealNode;
let ingress: RealIngress;
let burglarOwner: TestAccount;
let owner: TestAccount;
let burglar: string;
let victim: string;

before(async () => {
  world = await startConstellation();
  node = await startRealNode(world, { credential: world.core.localNode.nodeCredential });
  ingress = await startRealIngress(world, { concurrency: 10_000 });
  burglarOwner = await registerAccount(world, 'burglar');
  owner = await registerAccount(world, 'victim');
  const routes = ['GET:/*', 'POST:/*', 'WS:/*'];
  burglar = (await installPublicApp(burglarOwner, 'burglar', { workload: BURGLAR, routes })).hostname;
  victim = (await installPublicApp(owner, 'victim', { workload: VICTIM, routes })).hostname;
  for (const name of [burglar, victim])
    await until('the Ingress to know the app', async () => (await ingress.get(name, '/')).status === 200);
});
after(async () => {
  await ingress?.stop();
  await node?.stop();
  await world?.close();
});

/** The victim's client gets the answer to its own request, with a body and without. */
async function assertUnharmed(): Promise<void> {
  const nonce = randomUUID();
  const [read, sent] = await Promise.all([
    ingress.get(victim, `/${nonce}`, { fields: [`X-Mine: ${nonce}`] }),
    ingress.get(victim, `/${nonce}`, { method: 'POST', body: nonce, fields: [`X-Mine: ${nonce}`] }),
  ]);
  assert.deepEqual([read.status, JSON.parse(read.body)], [200, { url: `/${nonce}`, mine: nonce, body: '' }]);
  assert.deepEqual([sent.status, JSON.parse(sent.body)], [200, { url: `/${nonce}`, mine: nonce, body: nonce }]);
}

async function answerFromNowOn(bytes: string | Buffer): Promise<void> {
  const body = Buffer.from(bytes as string, 'latin1').toString('base64');
  const fields = ['Connection: close', `Content-Length: ${body.length}`];
  await until('the burglar to listen', async () => {
    const connection = await ingress.send(burglar, 'POST /next', { fields, body });
    // The former answer may have spoilt the connection to the burglar that this takes, and then it never ends.
    const timer = setTimeout(() => connection.socket.destroy(), PATIENCE_MILLISECONDS);
    await connection.closed();
    clearTimeout(timer);
    const [answer] = connection.answers();
    return answer?.status === 200 && answer.body === 'set';
  });
}

test('whatever a backend answers, clients of another app get their own answers', async () => {
  const forged = `HTTP/1.1 200 OK\r\nContent-Length: ${MARK.length}\r\n\r\n${MARK}`;
  const hostile = [
    ...responseVectors().map(({ raw }) => raw),
    ...[`${forged}${forged}`, `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n${forged}`],
    ...['HTTP/1.1 100 Continue\r\n\r\n'.repeat(2_000), `HTTP/1.1 204 No Content\r\n\r\n${forged}`],
    ...[`HTTP/1.1 304 Not Modified\r\nContent-Length: 900\r\n\r\n${forged}`, `HTTP/1.1 200 OK\r\n\r\n${forged}`],
    ...[`HTTP/1.1 200 ${MARK}\r\nContent-Length: 5\r\n\r\nab${forged}`, `HTTP/2 200 OK\r\n\r\n${forged}`],
    ...[`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${forged}`, `\r\n\r\n${forged}`],
    ...[`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(200_000)}\r\n\r\n${forged}`, forged.slice(0, 20)],
  ];
  for (const bytes of hostile) {
    await answerFromNowOn(bytes);
    const abort = new AbortController();
    const attack = Promise.all(
      Array.from({ length: 3 }, async () => {
        const connection = await ingress.send(burglar, 'GET /attack', { fields: ['Connection: close'] });
        const leave = () => connection.socket.destroy();
        if (abort.signal.aborted) leave();
        else abort.signal.addEventListener('abort', leave);
        await connection.closed();
      }),
    );
    await assertUnharmed();
    // One that never ends is its own client's trouble.
    abort.abort();
    await attack;
    await assertUnharmed();
  }
});

test('whatever a client sends to one app, the client of another gets the answer to its own request', async () => {
  await answerFromNowOn('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nup');
  const smuggled = `GET /smuggled HTTP/1.1\r\nHost: ${victim}\r\n\r\n`;
  for (const { raw } of requestVectorsUnder(burglar)) {
    const connection = await openRaw(ingress.port, Buffer.from(raw + smuggled, 'latin1'));
    await assertUnharmed();
    connection.socket.destroy();
  }
  // Bytes behind a handshake of one app are a WebSocket's, and never a request to another.
  const socket = await ingress.openWebSocket(victim, '/room');
  socket.socket.write(smuggled);
  await socket.until(() => socket.received().includes('/smuggled'));
  assert.ok(socket.received().endsWith(`/room${smuggled}`), socket.received());
  socket.socket.destroy();
  await assertUnharmed();
});

test('no public name leads to another app, an endpoint, the control side, core or a Gateway’s services', async () => {
  const { backend } = await owner.browser.take<LaunchDescriptor>('/v1/apps/victim/launch', { method: 'POST' });
  assert.ok(backend !== null);
  const fields = [`Authorization: Bearer ${backend.capability}`, `X-Mine: ${MARK}`];
  const { pathname } = new URL(backend.endpointTicket, 'http://node.test');
  for (const path of [pathname, '/control/installations', '/v1/services/apps', '/v1/apps', '/e/x/', '/health'])
    assert.deepEqual(
      JSON.parse((await ingress.get(victim, path, { fields })).body).url,
      path,
      'a path of the app alone',
    );
  const others = [
    ...[new URL(world.origin).host, 'node.platform.localhost:8788', `127.0.0.1:${ingress.port}`],
    ...['localhost', `victim.public.platform.localhost`, `${victim}.`, `x.${victim}`, ` ${victim}`.trim().slice(1)],
  ];
  for (const host of others) assert.equal((await ingress.get(host, '/')).status, 421, host);
  // The public names lead nowhere at the listeners of the node and of core.
  for (const port of [node.runtime.listenerPort, world.port]) {
    const connection = await openRaw(port, `GET / HTTP/1.1\r\nHost: ${victim}\r\nConnection: close\r\n\r\n`);
    await connection.closed();
    assert.equal(connection.answers()[0]?.status, 421);
  }
});
