// What strangers have of an app whose node is on another machine, and what becomes of it when the wire is cut: requests are
// refused soon and answered again soon after, and what was open goes on or ends.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { PublicAddress } from '@platform/contract';
import { SWITCHING } from '../../packages/http/test-support/handshakes.ts';
import { openRaw } from '../../packages/http/test-support/raw-exchange.ts';
import type { TestAccount } from '../support/client.ts';
import { buildTestPackage, testManifest } from '../support/packages.ts';
import type { PlatformPlace } from '../support/platform-process.ts';
import { type RawAnswer, rawRequest } from '../support/raw-http.ts';
import { ask, tell, until } from './second-machine.ts';

/** It takes one second, or five over a relay; a platform that does not recover takes a minute and more. */
const RECOVERED_SECONDS = 45;
const PERMISSIONS = [{ id: 'endpoints.public', resources: ['GET:/*', 'WS:/echo'] }];

const WORKLOAD = `
import { createServer } from 'node:http';
setInterval(() => console.log('still here'), 500);
createServer((request, response) => {
  if (request.url !== '/endless') return response.end('answered');
  const writing = setInterval(() => response.write('x'.repeat(1000)), 50);
  response.on('close', () => clearInterval(writing));
}).on('upgrade', (req, socket) => {
  socket.on('error', () => undefined);
  socket.write(${SWITCHING});
  socket.pipe(socket);
}).listen(Number(process.env.PORT));
`;

/** Publishes and installs the app, which strangers may use. */
export async function installPublicApp(account: TestAccount, appId: string): Promise<void> {
  const workload = { runtime: 'node', entry: 'main.mjs', mode: 'always' };
  const publicEndpoints = PERMISSIONS.flatMap(({ resources }) => resources);
  const body = await buildTestPackage({
    manifest: testManifest(appId, { workload, publicEndpoints, permissions: PERMISSIONS }),
    files: { 'frontend/index.html': '<!doctype html>', 'workload/main.mjs': WORKLOAD },
  });
  const headers = { 'content-type': 'application/gzip' };
  await account.browser.take(`/v1/catalog/${appId}/versions/1.0.0`, { method: 'PUT', body, headers });
  await account.browser.take('/v1/apps', { body: { appId, permissions: PERMISSIONS } });
}

/** Strangers of one app, at the Ingress of this machine. */
export class Strangers {
  readonly hostname: string;
  readonly #port: number;

  constructor(port: number, hostname: string) {
    this.#port = port;
    this.hostname = hostname;
  }

  static async of({ ingressPort }: PlatformPlace, account: TestAccount, appId: string): Promise<Strangers> {
    const { hostname } = await account.browser.take<PublicAddress>(`/v1/apps/${appId}/public`);
    return new Strangers(ingressPort, hostname ?? assert.fail('it has no public name'));
  }

  get(): Promise<RawAnswer> {
    return rawRequest({ port: this.#port, path: '/', headers: { host: this.hostname } });
  }

  async isAnswered(): Promise<boolean> {
    const { status, text } = await this.get();
    return status === 200 && text === 'answered';
  }

  async openWebSocket(): Promise<OpenStream> {
    const fields = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
    const head = ['GET /echo HTTP/1.1', `Host: ${this.hostname}`, ...fields, `Sec-WebSocket-Key: ${'A'.repeat(22)}==`];
    const { socket, received, isClosed } = await openRaw(this.#port, `${head.join('\r\n')}\r\n\r\n`);
    // As a client that sends all the time.
    const sending = setInterval(() => void (socket.writable && socket.write('y'.repeat(100))), 50);
    socket.once('close', () => clearInterval(sending));
    return { what: 'a WebSocket', bytes: () => received().length, isClosed, end: () => socket.destroy() };
  }

  async download(): Promise<OpenStream> {
    const request = http.get({ port: this.#port, path: '/endless', headers: { host: this.hostname }, agent: false });
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    response.on('error', () => undefined);
    return { what: 'a download', bytes: () => bytes, isClosed: () => response.closed, end: () => request.destroy() };
  }
}

/** Bytes arrive on it all the time. */
interface OpenStream {
  readonly what: string;
  bytes(): number;
  isClosed(): boolean;
  end(): void;
}

/** Cuts the wire for one and for eight seconds, and until everything that was open has ended. */
export async function cutTheWire(strangers: Strangers, isReachedByCore: () => Promise<boolean>): Promise<void> {
  for (const seconds of [1, 8, null]) {
    const open = [await passing(() => strangers.openWebSocket()), await passing(() => strangers.download())];
    await Promise.all(Array.from({ length: 4 }, () => strangers.get()));

    await ask('cut');
    const cut = performance.now();
    const since = () => (performance.now() - cut) / 1_000;
    const slowest = await refusedUntil(strangers, () =>
      seconds === null ? open.every(({ isClosed }) => isClosed()) : since() >= seconds,
    );
    tell(`cut for ${since().toFixed(1)} s: 503 with Retry-After after ${slowest.toFixed(2)} s at most`);

    await ask('join');
    const joined = performance.now();
    await until('strangers to be answered again', () => strangers.isAnswered());
    const answered = (performance.now() - joined) / 1_000;
    await until('core to reach it again', isReachedByCore);
    const reached = (performance.now() - joined) / 1_000;
    tell(
      `healed: strangers are answered after ${answered.toFixed(2)} s, core reaches it after ${reached.toFixed(2)} s`,
    );
    assert.ok(Math.max(answered, reached) <= RECOVERED_SECONDS);
    for (const stream of open) {
      const goesOn = passes(stream);
      await until(`${stream.what} to go on or end`, () => stream.isClosed() || goesOn());
      tell(`${stream.what} that was open ${stream.isClosed() ? 'ended' : 'goes on'}`);
      stream.end();
    }
  }
}

/**
 * Every answer arrives while the wire is still cut.
 *
 * @returns seconds that the slowest one took
 */
async function refusedUntil(strangers: Strangers, isOver: () => boolean): Promise<number> {
  let slowest = 0;
  do {
    const begun = performance.now();
    const answers = await Promise.all([strangers.get(), strangers.get()]);
    for (const { status, headers, text } of answers) {
      assert.equal(status, 503, text);
      assert.match(headers['retry-after'] ?? '', /^\d+$/);
    }
    slowest = Math.max(slowest, (performance.now() - begun) / 1_000);
  } while (!isOver());
  return slowest;
}

/** The connection of the last cut may end late, and what was begun on it with it. */
async function passing(open: () => Promise<OpenStream>): Promise<OpenStream> {
  for (;;) {
    const stream = await open();
    const goesOn = passes(stream);
    await until(`${stream.what} to pass`, () => stream.isClosed() || goesOn());
    if (!stream.isClosed()) return stream;
  }
}

function passes({ bytes }: OpenStream): () => boolean {
  const before = bytes();
  return () => bytes() > before + 500;
}
