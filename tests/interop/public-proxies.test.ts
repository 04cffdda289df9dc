// The Ingress behind nginx, HAProxy and Caddy, configured as docs/operations/proxies says: no bytes make a proxy and the
// Ingress disagree about where a request ends or what it asks for, and everything that public routes offer passes.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { after, before, describe, test } from 'node:test';
import { CLIENT_ADDRESS, CLIENT_PROTOCOL } from '@platform/contract';
import WebSocket, { WebSocketServer } from 'ws';
import { openRaw } from '../../packages/http/test-support/raw-exchange.ts';
import { pathCases, requestCases, underHost } from '../../packages/http/test-support/request-vectors.ts';
import {
  HOSTNAME,
  routeOf,
  startUnderTest,
  type UnderTest,
} from '../../packages/ingress/test-support/ingress-under-test.ts';
import { type FrontProxy, frontProxies, startFrontProxy } from '../support/front-proxy.ts';
import { lacksProgram } from '../support/lacks-program.ts';

const DOMAIN = 'public.platform.localhost';
const EVERYTHING = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'WS'].map((method) => `${method}:/*`);
/** Not the address of the proxy, which is believed. */
const STRANGER = '127.0.0.2';
const CREDENTIAL = 'Bearer pni_';
/** In every refusal of the platform. */
const PROBLEM = 'urn:platform:error';

interface Arrived {
  readonly url: string;
  readonly rawHeaders: readonly string[];
}

function valuesOf({ rawHeaders }: Pick<Arrived, 'rawHeaders'>, name: string): string[] {
  return rawHeaders.filter((_value, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name);
}

/** What no client may get through, whatever it sent to the proxy. */
function faultsOf(request: Arrived): string[] {
  const framing = ['content-length', 'transfer-encoding'].flatMap((name) => valuesOf(request, name));
  const authorizations = valuesOf(request, 'authorization');
  const faults = [
    valuesOf(request, 'host').join().replace(/:\d+$/, '') === HOSTNAME ? '' : 'another Host',
    framing.length <= 1 ? '' : 'two framings',
    authorizations.length === 1 && authorizations[0]?.startsWith(CREDENTIAL) === true
      ? ''
      : 'authorization of a client',
    valuesOf(request, CLIENT_ADDRESS).length === 1 ? '' : 'an address that a client gave',
    ...['cookie', 'x-forwarded-for', 'forwarded', 'upgrade', 'te'].map((name) =>
      valuesOf(request, name).length === 0 ? '' : name,
    ),
  ];
  return faults
    .filter((fault) => fault !== '')
    .map((fault) => `${fault}: ${request.url} ${request.rawHeaders.join('|')}`);
}

for (const name of frontProxies)
  describe(`behind ${name}`, { concurrency: 8, skip: lacksProgram(name) }, () => {
    let tested: UnderTest;
    let proxy: FrontProxy;
    const faults: string[] = [];
    const arrived: Arrived[] = [];

    before(async () => {
      tested = await startUnderTest({
        trustedProxies: ['127.0.0.1'],
        lines: (node) => [
          { kind: 'nodes', items: [node], gone: [] },
          { kind: 'routes', items: [routeOf(EVERYTHING)], gone: [] },
        ],
      });
      tested.node.handle = (req, res) => {
        const request = { url: req.url ?? '', rawHeaders: req.rawHeaders };
        arrived.push(request);
        faults.push(...faultsOf(request));
        req.resume().once('end', () => res.end(JSON.stringify({ url: req.url })));
      };
      proxy = await startFrontProxy(name, { ingress: tested.port, domain: DOMAIN });
    });
    after(async () => {
      await proxy.stop();
      await tested.close();
    });

    function ask(path: string, options: http.RequestOptions = {}, body?: Buffer): Promise<http.IncomingMessage> {
      return new Promise((resolve, reject) => {
        const request = http.request({
          ...{ host: '127.0.0.1', port: proxy.port, path, localAddress: STRANGER, agent: false },
          ...options,
          headers: { host: HOSTNAME, ...options.headers },
        });
        request.once('response', resolve).once('error', reject);
        request.end(body);
      });
    }

    async function textOf(answer: http.IncomingMessage): Promise<string> {
      const chunks: Buffer[] = [];
      for await (const chunk of answer) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks).toString();
    }

    /** Answers that are somebody else's show that the two disagree about where a request ends. */
    async function othersGetTheirOwn(): Promise<void> {
      await Promise.all(
        Array.from({ length: 3 }, async () => {
          const url = `/own/${randomUUID()}`;
          const answer = await ask(url);
          const text = await textOf(answer);
          assert.deepEqual([answer.statusCode, text], [200, JSON.stringify({ url })]);
        }),
      );
    }

    for (const vector of requestCases)
      test(`${vector.name} harms nobody else`, async () => {
        const connection = await openRaw(proxy.port, Buffer.from(underHost(vector, HOSTNAME), 'latin1'));
        if (vector.expected.startsWith('accept'))
          await connection.until(() => connection.answers().length >= vector.count);
        await othersGetTheirOwn();
        connection.halfClose();
        await othersGetTheirOwn();
        connection.socket.destroy();
        // Of their own, proxies answer some of it with 501, 502 and 505.
        for (const { status, body } of connection.answers()) assert.ok(status < 500 || !body.includes(PROBLEM), body);
      });

    test('nothing of all that brought a field to the node that is the platform’s to set', () => {
      assert.ok(arrived.length > requestCases.length);
      assert.deepEqual(faults, []);
    });

    test('each path arrives byte for byte, or not at all', async () => {
      for (const { target } of pathCases) {
        const path = target.startsWith('/') ? target : `/${target}`;
        const marked = `${path}${path.includes('?') ? '&' : '?'}mark=${randomUUID()}`;
        const lines = [`GET ${marked} HTTP/1.1`, `Host: ${HOSTNAME}`, 'Connection: close'];
        const connection = await openRaw(proxy.port, `${lines.join('\r\n')}\r\n\r\n`);
        await connection.closed();
        const [answer] = connection.answers();
        const mark = marked.slice(-36);
        const urls = arrived.filter(({ url }) => url.includes(mark)).map(({ url }) => url);
        if (answer?.status === 200) assert.deepEqual(urls, [marked]);
        else assert.deepEqual(urls, [], connection.received());
      }
    });

    test('the node learns the address of the client, not what the client says of it', async () => {
      const url = `/who/${randomUUID()}`;
      const headers = { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9', 'x-forwarded-proto': 'https' };
      await textOf(await ask(url, { headers }));
      const request = arrived.find((one) => one.url === url) ?? assert.fail();
      assert.deepEqual(valuesOf(request, CLIENT_ADDRESS), [STRANGER]);
      assert.deepEqual(valuesOf(request, CLIENT_PROTOCOL), ['http']);
    });

    test('another host is refused', async () => {
      const answer = await ask('/', { headers: { host: `other--aaaabbbbccccddddeeee.${DOMAIN}` } });
      assert.deepEqual(
        [answer.statusCode, (JSON.parse(await textOf(answer)) as { code: string }).code],
        [421, 'unknown_host'],
      );
    });

    test('a WebSocket passes both ways', async () => {
      const server = new WebSocketServer({ noServer: true });
      tested.node.server.on('upgrade', (req, socket, head) =>
        server.handleUpgrade(req, socket, head, (peer) => peer.on('message', (data) => peer.send(data))),
      );
      const client = new WebSocket(`ws://127.0.0.1:${proxy.port}/chat`, { headers: { host: HOSTNAME } });
      await once(client, 'open');
      client.send('hello');
      const [echo] = (await once(client, 'message')) as [Buffer];
      assert.equal(echo.toString(), 'hello');
      client.close();
      await once(client, 'close');
      server.close();
    });

    test('each event of a stream arrives before the next is sent', async () => {
      const streams = Promise.withResolvers<http.ServerResponse>();
      const { handle } = tested.node;
      tested.node.handle = (req, res) => {
        if (req.url !== '/events') return handle(req, res);
        res.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
        streams.resolve(res);
      };
      const answer = await ask('/events');
      const stream = await streams.promise;
      assert.equal(String((await once(answer, 'data'))[0]), 'data: 1\n\n');
      stream.write('data: 2\n\n');
      assert.equal(String((await once(answer, 'data'))[0]), 'data: 2\n\n');
      stream.end();
      await once(answer.resume(), 'end');
    });

    test('ten mebibytes pass, one byte more is refused', async () => {
      const most = 10 * 1_024 * 1_024;
      const whole = await ask('/upload', { method: 'POST' }, Buffer.alloc(most));
      await textOf(whole);
      assert.equal(whole.statusCode, 200);
      const more = await ask('/upload', { method: 'POST' }, Buffer.alloc(most + 1)).catch((error: Error) => error);
      // A proxy may reset the connection of who goes on sending.
      if (!(more instanceof Error)) assert.equal(more.statusCode, 413);
    });
  });
