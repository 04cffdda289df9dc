// What a link promises, whichever carrier it has: both go through the same cases.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterEach, describe, test } from 'node:test';
import { buildConnector, Pool } from 'undici';
import { startIrohRelay } from '../../../tests/support/iroh-relay.ts';
import { inOwnNetwork } from '../../../tests/support/own-network.ts';
import { until } from '../../../tests/support/wait.ts';
import {
  acceptLinks,
  fetchOverLink,
  IrohEndpoint,
  irohAddressText,
  keyFromSeed,
  type LinkKey,
  type LinkLimits,
  linkCertificate,
  linkConnector,
  linkPeer,
  probeLink,
  readIrohAddress,
} from './link.ts';

const [ours, known, stranger, second] = [1, 2, 3, 4].map((seed) => keyFromSeed(Buffer.alloc(32, seed))) as [
  LinkKey,
  LinkKey,
  LinkKey,
  LinkKey,
];
const isKnown = (key: Buffer): boolean => key.equals(known.publicKey) || key.equals(second.publicKey);

interface Accepting {
  readonly isKnown?: (key: Buffer) => boolean | Promise<boolean>;
  readonly strangers?: 'refused' | 'served';
  readonly limits?: Partial<LinkLimits>;
}

interface Accepted {
  readonly origin: string;
  recheck(): Promise<void>;
  close(): Promise<void> | void;
}

interface Carrier {
  accept(server: http.Server, options: Accepting): Promise<Accepted>;
  /** What a connecting part with this key adds to its target. */
  as(key: LinkKey): Promise<object>;
  close(): Promise<void>;
}

function tls(): Carrier {
  return {
    async accept(server, options) {
      const listener = await acceptLinks(server, { key: ours, host: '127.0.0.1', port: 0, isKnown, ...options });
      return { ...listener, origin: `https://127.0.0.1:${listener.port}` };
    },
    as: async (key) => ({ certificate: await linkCertificate(key) }),
    close: async () => undefined,
  };
}

function iroh(): Carrier {
  const accepting: IrohEndpoint[] = [];
  const endpoints = new Map<LinkKey, IrohEndpoint>();
  const open = (key: LinkKey) => IrohEndpoint.open({ key, listen: { host: '127.0.0.1', port: 0 } });
  return {
    async accept(server, options) {
      const endpoint = await open(ours);
      accepting.push(endpoint);
      const offer = endpoint.offer({ name: 'test', server, isKnown, ...options });
      const direct = [`127.0.0.1:${endpoint.port}`];
      return { ...offer, origin: irohAddressText({ key: ours.publicKey, service: 'test', direct }) };
    },
    async as(key) {
      const endpoint = endpoints.get(key) ?? (await open(key));
      endpoints.set(key, endpoint);
      return { iroh: endpoint };
    },
    async close() {
      await Promise.all([...accepting, ...endpoints.values()].map((endpoint) => endpoint.close()));
      accepting.length = 0;
      endpoints.clear();
    },
  };
}

// iroh searches the local network for a router with UPnP; this one ends here.
inOwnNetwork(import.meta.url, { skip: 'optional', timeout: 600_000 }, () => {
  for (const [name, make] of Object.entries({ tls, iroh })) {
    describe(`over ${name}`, { timeout: 400_000 }, () => {
      const carrier = make();
      const closing: (() => unknown)[] = [];

      afterEach(async () => {
        for (const close of closing.splice(0)) await close();
        await carrier.close();
      });

      async function serve(
        handle: (request: IncomingMessage, response: ServerResponse) => void,
        options: Accepting = {},
      ): Promise<Accepted & { readonly server: http.Server }> {
        const server = http.createServer({ keepAliveTimeout: 60_000 }, handle);
        const accepted = await carrier.accept(server, options);
        closing.push(async () => {
          server.closeAllConnections();
          await accepted.close();
        });
        return { ...accepted, server };
      }

      async function pool(
        origin: string,
        key: LinkKey = known,
        expected: LinkKey = ours,
        connections = 8,
      ): Promise<Pool> {
        const connect = linkConnector(buildConnector, { origin, key: expected.publicKey, ...(await carrier.as(key)) });
        const made = new Pool(name === 'tls' ? origin : 'http://iroh.link', { connect, connections, pipelining: 1 });
        closing.unshift(() => made.destroy());
        return made;
      }

      async function ask(from: Pool): Promise<string> {
        return (await (await from.request({ path: '/', method: 'GET' })).body.text()).trim();
      }

      const whoIsIt = (request: IncomingMessage, response: ServerResponse): void => {
        const peer = linkPeer(request.socket);
        response.end(`${peer?.known} ${peer?.key.toString('hex').slice(0, 8)}`);
      };

      test('a request reaches the part that holds the key, which reads the key of its peer', async () => {
        const { origin } = await serve(whoIsIt);
        const from = await pool(origin);
        const expected = `true ${known.publicKey.toString('hex').slice(0, 8)}`;
        for (let count = 0; count < 20; count += 1) assert.equal(await ask(from), expected);
        assert.deepEqual(await Promise.all(Array.from({ length: 50 }, () => ask(from))), Array(50).fill(expected));
      });

      test('one request over a connection of its own', async () => {
        const { origin } = await serve((request, response) => request.pipe(response));
        const at = name === 'tls' ? `${origin}/path` : { address: origin, path: '/path' };
        const answer = await fetchOverLink(at, {
          ...{ key: ours.publicKey, ...(await carrier.as(known)), method: 'POST', headers: {}, body: 'hello' },
          signal: AbortSignal.timeout(20_000),
        });
        assert.equal(await answer.text(), 'hello');
      });

      test('the machine of the other side answers a probe, though its server answers nothing', async () => {
        const arrived = Promise.withResolvers<void>();
        const { origin } = await serve(() => arrived.resolve());
        const unanswered = ask(await pool(origin));
        unanswered.catch(() => undefined);
        await arrived.promise;
        await probeLink({ origin, ...(await carrier.as(known)) }, AbortSignal.timeout(20_000));
      });

      test('a server with another key receives nothing', async () => {
        const requests: unknown[] = [];
        const { origin } = await serve((request) => requests.push(request.url));
        const wrong = origin.replace(ours.publicKey.toString('base64url'), second.publicKey.toString('base64url'));
        await assert.rejects(ask(await pool(wrong, known, second)));
        await assert.rejects(ask(await pool(origin, known, second)), /does not hold the key/);
        assert.deepEqual(requests, []);
      });

      test('a stranger is refused without a word', async () => {
        const requests: unknown[] = [];
        const refusing = await serve((request) => requests.push(request.url));
        await assert.rejects(ask(await pool(refusing.origin, stranger)));
        assert.deepEqual(requests, []);
      });

      test('where strangers are served, the server can distinguish them', async () => {
        const serving = await serve(whoIsIt, { strangers: 'served' });
        assert.match(await ask(await pool(serving.origin, stranger)), /^false /);
        assert.match(await ask(await pool(serving.origin, known)), /^true /);
      });

      test('a stranger does not stay for long, and does not keep a known key from connecting', async () => {
        const begun = Promise.withResolvers<void>();
        const hold = (request: IncomingMessage, response: ServerResponse): void => {
          if (linkPeer(request.socket)?.known === true) return void response.end('known');
          response.write('begun');
          begun.resolve();
        };
        const limits = { strangers: 1, strangersOfAddress: 1, strangerMilliseconds: 500 };
        const { origin } = await serve(hold, { strangers: 'served', limits });
        const from = await pool(origin, stranger, ours, 1);
        const held = assert.rejects(from.request({ path: '/', method: 'GET' }).then(({ body }) => body.text()));
        // On a busy machine its time may be over sooner.
        await Promise.race([begun.promise, held]);
        assert.equal(await ask(await pool(origin)), 'known');
        await held;
      });

      test('a key that cannot be looked up ends the connection', async () => {
        const { origin } = await serve(whoIsIt, { isKnown: () => Promise.reject(new Error('no database')) });
        await assert.rejects(ask(await pool(origin)));
      });

      test('what a key has open is bounded, and leaves others theirs', async () => {
        const held: ServerResponse[] = [];
        const { origin } = await serve(
          (_request, response) => {
            held.push(response);
            response.write('begun');
          },
          { limits: { ofKey: 3 } },
        );
        const greedy = await pool(origin, known, ours, 20);
        const asked = Array.from({ length: 20 }, () => greedy.request({ path: '/', method: 'GET' }).catch(() => null));
        const other = await pool(origin, second);
        const answer = await other.request({ path: '/', method: 'GET' });
        assert.equal(answer.statusCode, 200);
        answer.body.on('error', () => undefined).destroy();
        assert.ok(held.length <= 4);
        for (const response of held) response.end();
        for (const one of asked) (await one)?.body.on('error', () => undefined).destroy();
      });

      test('the connections of a key that is not known any more end, and those of others go on', async () => {
        const gone = new Set<string>();
        const { origin, recheck } = await serve((_request, response) => void response.write('begun'), {
          isKnown: (key) => isKnown(key) && !gone.has(key.toString('hex')),
        });
        const [one, other] = [await pool(origin, known), await pool(origin, second)];
        const [first, last] = await Promise.all([one, other].map((from) => from.request({ path: '/', method: 'GET' })));
        assert.ok(first !== undefined && last !== undefined);
        gone.add(known.publicKey.toString('hex'));
        await recheck();
        await assert.rejects(first.body.text());
        assert.equal(last.body.destroyed, false);
        last.body.on('error', () => undefined).destroy();
        await assert.rejects(ask(one));
      });

      test('64 MiB each way arrive whole', async () => {
        const { origin } = await serve((request, response) => void pipeline(request, response));
        const bytes = randomBytes(1024 * 1024);
        async function* body(): AsyncGenerator<Buffer> {
          for (let count = 0; count < 64; count += 1) yield bytes;
        }
        const answer = await (await pool(origin)).request({ path: '/', method: 'POST', body: Readable.from(body()) });
        let size = 0;
        for await (const chunk of answer.body as AsyncIterable<Buffer>) {
          const offset = size % bytes.length;
          const first = bytes.subarray(offset, offset + chunk.length);
          assert.ok(chunk.subarray(0, first.length).equals(first));
          size += chunk.length;
        }
        assert.equal(size, 64 * bytes.length);
      });

      test('who does not read slows who sends, and other connections go on', async () => {
        let given = 0;
        const { origin } = await serve((request, response) => {
          if (request.url !== '/endless') return void response.end('quick');
          const chunk = Buffer.alloc(64 * 1024);
          const more = (): void => {
            do given += chunk.length;
            while (response.write(chunk));
          };
          response.on('drain', more);
          more();
        });
        const from = await pool(origin);
        const slow = await from.request({ path: '/endless', method: 'GET' });
        // Until nothing more is taken for a whole second request's time, many times over.
        let before = -1;
        for (let quiet = 0; quiet < 20; quiet = given === before ? quiet + 1 : 0) {
          before = given;
          assert.equal(await ask(from), 'quick');
        }
        assert.ok(given < 16 * 1024 * 1024, `${given} bytes`);
        slow.body.on('error', () => undefined).destroy();
      });

      for (const [how, size] of [
        ['that is quiet', 1],
        ['that waits to be read', 32 * 1024 * 1024],
      ] as const) {
        test(`an answer ${how} and is not wanted any more ends at its server`, async () => {
          const over = Promise.withResolvers<void>();
          const { origin } = await serve((_request, response) => {
            response.on('close', () => over.resolve());
            response.write(Buffer.alloc(size));
          });
          const abort = new AbortController();
          const answer = await (await pool(origin)).request({ path: '/', method: 'GET', signal: abort.signal });
          answer.body.on('error', () => undefined);
          abort.abort();
          await over.promise;
        });
      }

      test('an upload that breaks off ends at its server, and a server that breaks off ends the upload', async () => {
        const broken = Promise.withResolvers<void>();
        const abort = new AbortController();
        const { origin } = await serve((request, response) => {
          if (request.url === '/drop') return void request.once('data', () => request.socket.destroy());
          response.on('close', () => broken.resolve());
          request.once('data', () => abort.abort()).resume();
        });
        const from = await pool(origin);
        const endless = (): Readable =>
          new Readable({
            read() {
              this.push(Buffer.alloc(16 * 1024));
            },
          });
        const uploading = from.request({ path: '/', method: 'POST', body: endless(), signal: abort.signal });
        await assert.rejects(uploading);
        await broken.promise;
        await assert.rejects(from.request({ path: '/drop', method: 'POST', body: endless() }));
      });

      test('one side can finish while the other goes on', async () => {
        const { origin, server } = await serve(() => undefined);
        server.on('upgrade', (_request, socket: Socket) => {
          socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n');
          const said: Buffer[] = [];
          socket.on('data', (chunk: Buffer) => said.push(chunk));
          socket.on('end', () => socket.end(Buffer.concat(said)));
        });
        const { socket } = await (await pool(origin)).upgrade({ path: '/', protocol: 'echo' });
        socket.end('all of it');
        const heard: Buffer[] = [];
        for await (const chunk of socket) heard.push(chunk);
        assert.equal(Buffer.concat(heard).toString(), 'all of it');
      });

      test('a WebSocket passes, and its end is seen on the other side', async () => {
        const { origin, server } = await serve(() => undefined);
        const ended = Promise.withResolvers<void>();
        server.on('upgrade', (_request, socket: Socket) => {
          socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n');
          socket.on('data', (chunk: Buffer) => socket.write(chunk));
          socket.on('error', () => undefined).on('close', () => ended.resolve());
        });
        const { socket } = await (await pool(origin)).upgrade({ path: '/', protocol: 'websocket' });
        socket.on('error', () => undefined);
        for (let count = 0; count < 100; count += 1) {
          socket.write(`message ${count}`);
          const [echo] = (await once(socket, 'data')) as [Buffer];
          assert.equal(echo.toString(), `message ${count}`);
        }
        socket.destroy();
        await ended.promise;
      });

      test('closing ends what is open, and nothing new is taken', async () => {
        const { origin, close } = await serve((_request, response) => void response.write('begun'));
        const from = await pool(origin);
        const answer = await from.request({ path: '/', method: 'GET' });
        const broken = assert.rejects(answer.body.text());
        await close();
        await broken;
        await assert.rejects(ask(from));
      });
    });
  }

  test('over iroh: packets that are none, and handshakes without an end, keep no known key from connecting', async () => {
    const server = http.createServer((_request, response) => response.end('known'));
    const listen = { host: '127.0.0.1', port: 0 };
    const accepting = await IrohEndpoint.open({ key: ours, listen });
    const connecting = await IrohEndpoint.open({ key: known, listen });
    const flood = createSocket('udp4');
    try {
      accepting.offer({ name: 'test', server, isKnown });
      const { port } = accepting;
      // The first packet of a connection (RFC 9000 section 17.2.2), with ever other ids and nothing behind it that is valid.
      const first = () => Buffer.concat([Buffer.from('c300000001', 'hex'), Buffer.from([8]), randomBytes(1_186)]);
      for (let count = 0; count < 5_000; count += 1)
        await new Promise((resolve) =>
          flood.send(count % 2 === 0 ? first() : randomBytes(100), port, '127.0.0.1', resolve),
        );
      const address = { key: ours.publicKey, service: 'test', direct: [`127.0.0.1:${port}`], relay: null };
      const socket = await connecting.connect(address, AbortSignal.timeout(10_000));
      socket.end('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
      const parts: Buffer[] = [];
      for await (const part of socket) parts.push(part);
      assert.match(Buffer.concat(parts).toString(), /known$/);
    } finally {
      flood.close();
      await Promise.all([accepting.close(), connecting.close()]);
    }
  });

  test('over iroh: an address that waits for the other side is given up with its signal, and reached when that connects', async () => {
    const server = http.createServer((_request, response) => response.end('called back'));
    const listen = { host: '127.0.0.1', port: 0 };
    const core = await IrohEndpoint.open({ key: ours, listen });
    const hidden = await IrohEndpoint.open({ key: known, listen });
    try {
      core.offer({ name: 'control', isKnown });
      hidden.offer({ name: 'control', server, isKnown: (key) => key.equals(ours.publicKey) });
      const away = { key: known.publicKey, service: 'control', direct: [], relay: null };
      await assert.rejects(core.connect(away, AbortSignal.timeout(50)), { code: 'ENOTCONN' });
      const waiting = core.connect(away, AbortSignal.timeout(20_000));
      const direct = [`127.0.0.1:${core.port}`];
      const kept = hidden.keep(() => ({ key: ours.publicKey, service: 'control', direct, relay: null }));
      const socket = await waiting;
      assert.equal(core.isConnected(away), true);
      const answer = new Promise<string>((resolve, reject) => {
        const request = http.request(
          { createConnection: () => socket, headers: { connection: 'close' } },
          (response) => {
            response.setEncoding('utf8').on('data', resolve);
          },
        );
        request.on('error', reject).end();
      });
      assert.equal(await answer, 'called back');
      kept.stop();
    } finally {
      await Promise.all([core.close(), hidden.close()]);
    }
  });

  test('over iroh: parts that know nothing of each other but a relay find each other there, and none uses another one', async () => {
    const relay = await startIrohRelay('127.0.0.1');
    const listen = { host: '127.0.0.1', port: 0 };
    const open = (key: LinkKey, at: string) => IrohEndpoint.open({ key, listen, relay: at });
    const [serving, asking] = [await open(ours, relay.url), await open(known, relay.url)];
    const elsewhere = await open(second, 'http://127.0.0.1:9/');
    try {
      serving.offer({ name: 'test', server: http.createServer((_, response) => response.end('found')), isKnown });
      const address = irohAddressText({ key: ours.publicKey, service: 'test', relay: relay.url });
      const ask = (by: IrohEndpoint, milliseconds: number) =>
        fetchOverLink(
          { address, path: '/' },
          { key: ours.publicKey, iroh: by, method: 'GET', headers: {}, signal: AbortSignal.timeout(milliseconds) },
        );
      // The first attempts may come before both are there.
      const answer = await until('an answer', () => ask(asking, 5_000).catch(() => null));
      assert.equal(await answer.text(), 'found');
      assert.ok(relay.carried() > 0);
      await assert.rejects(ask(elsewhere, 500), /not connected over iroh/);
    } finally {
      await Promise.all([serving, asking, elsewhere].map((endpoint) => endpoint.close()));
      await relay.close();
    }
  });

  test('an iroh address is written in one way and names nothing else', () => {
    const key = ours.publicKey;
    for (const more of [{}, { direct: ['10.0.0.1:8789', '[fd00::1]:1'] }, { relay: 'https://relay.example.org/' }]) {
      const text = irohAddressText({ key, service: 'control', ...more });
      assert.deepEqual(readIrohAddress(text), { key, service: 'control', direct: [], relay: null, ...more });
    }
    const own = irohAddressText({ key, service: 'control' });
    for (const wrong of [
      'https://10.0.0.1/',
      'iroh:',
      `${own}/`,
      `${own}?addr=localhost:80`,
      `${own}?addr=10.0.0.1`,
      `${own}?addr=10.0.0.1:0`,
      `${own}?addr=[10.0.0.1]:80`,
      `${own}?relay=javascript:1`,
      `${own}?other=1`,
      `${own}#x`,
      own.replace('//', '//user@'),
      own.replace('/control', ':80/control'),
      `${own}?${Array.from({ length: 9 }, (_, index) => `addr=10.0.0.1:${index + 1}`).join('&')}`,
    ])
      assert.equal(readIrohAddress(wrong), null, wrong);
  });
});
