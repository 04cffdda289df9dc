// Where the suite of the SDK runs: an app with a real Gateway and core, and a server that misbehaves.
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Grant } from '@platform/contract';
import { rolldown } from 'rolldown';
import { FRIEND } from '../sdk/suite/messaging-cases.ts';
import { SUITE_GRANTS } from '../sdk/suite/notification-cases.ts';
import { type AppGateway, openAppGateway } from './app-gateway.ts';
import { registerAccount } from './client.ts';
import { startConstellation } from './constellation.ts';
import { installTestApp } from './installed-app.ts';

export interface SuitePlace extends Pick<AppGateway, 'client' | 'environment'> {
  /** Of the server that misbehaves, without a trailing slash. */
  readonly misbehaving: string;
}

export interface SuiteWorld {
  /** A place for one run of the suite: what another run left, it does not see. */
  open(): Promise<SuitePlace>;
  advance(milliseconds: number): void;
  close(): Promise<void>;
}

const APP = 'sdk-suite';
const GRANTS: readonly Grant[] = [
  ...SUITE_GRANTS,
  { id: 'search.index', resources: ['self'] },
  { id: 'apps.catalog.read', resources: [APP] },
  { id: 'apps.create', resources: ['*'] },
  { id: 'messaging.read', resources: ['*'] },
  { id: 'messaging.send', resources: ['*'] },
  { id: 'messaging.resolve', resources: ['*'] },
  { id: 'content.collections.manage', resources: ['*'] },
];

export async function startSuiteWorld(): Promise<SuiteWorld> {
  let now = Date.parse('2026-11-21T10:00:00.000Z');
  const advance = (milliseconds: number) => {
    now += milliseconds;
  };
  const world = await startConstellation({ clock: () => new Date(now) });
  await registerAccount(world, FRIEND);
  /** By the first part of the path. */
  const runs = new Map<string, RequestListener>();
  const server = createServer((request, response) => {
    const [, run = ''] = (request.url ?? '').split('/');
    request.url = request.url?.slice(run.length + 1) ?? '';
    runs.get(run)?.(request, response);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const gateways: AppGateway[] = [];
  return {
    async open() {
      const name = `suite-${gateways.length + 1}`;
      const account = await registerAccount(world, name);
      const gateway = await openAppGateway(world, await installTestApp(world, account, APP, GRANTS));
      gateways.push(gateway);
      runs.set(name, misbehave(advance));
      const { client, environment } = gateway;
      return { client, environment, misbehaving: `http://127.0.0.1:${port}/${name}` };
    },
    advance,
    async close() {
      server.closeAllConnections();
      server.close();
      for (const gateway of gateways) await gateway.close();
      await world.close();
    },
  };
}

/** The path says how. `/advance/<milliseconds>` moves the clock, for suites in other processes. */
function misbehave(advance: (milliseconds: number) => void): RequestListener {
  /** Requests so far, by their place. */
  const seen = new Map<string, number>();
  let streamClosed = () => {};
  const closed = new Promise<void>((resolve) => {
    streamClosed = resolve;
  });
  const json = { 'content-type': 'application/json' };
  const stream = { 'content-type': 'text/event-stream' };
  const event = (id: number) => `id: ${id}\nevent: apps\ndata: {}\n\n`;
  const places: Readonly<Record<string, (request: IncomingMessage, response: ServerResponse, count: number) => void>> =
    {
      silent: () => {},
      dribbling: (_request, response) => void response.writeHead(200, json).write('{"items":'),
      broken: (request) => void request.destroy(),
      html: (_request, response) => void response.end('<!doctype html><title>A proxy</title>'),
      moved: (_request, response) => void response.writeHead(307, { location: '/html' }).end(),
      teapot: (_request, response) => void response.writeHead(418).end('short and stout'),
      restarting(_request, response, count) {
        if (count > 2) response.end('{"items":[],"nextCursor":null}');
        else response.writeHead(503, json).end('{"code":"unavailable","detail":"Core restarts.","status":503}');
      },
      away(_request, response, count) {
        const news = '{"cursor":"there","conversations":[],"messages":[],"hasMore":false}';
        if (count > 1) response.end(news);
        else response.writeHead(503, json).end('{"code":"unavailable","detail":"Core restarts.","status":503}');
      },
      streaming(request, response) {
        if (request.url?.endsWith('/closed')) return void closed.then(() => response.end());
        response.on('close', streamClosed);
        response.writeHead(200, stream).write(event(1));
      },
      breaking(request, response, count) {
        const last = Number(request.headers['last-event-id'] ?? 0);
        if (last === count - 1) response.writeHead(200, stream).end(event(count));
        else response.writeHead(409).end();
      },
      advance(request, response) {
        advance(Number(request.url?.split('/').at(-1)));
        response.end();
      },
    };
  return (request, response) => {
    // The suite also runs in pages of other origins.
    response.setHeader('access-control-allow-origin', '*');
    response.setHeader('access-control-allow-headers', '*, authorization, content-type, last-event-id');
    response.setHeader('access-control-allow-methods', '*');
    if (request.method === 'OPTIONS') return void response.end();
    const [, place = '', part = ''] = (request.url ?? '').split('/');
    const key = `${place}/${part}`;
    const count = (seen.get(key) ?? 0) + 1;
    seen.set(key, count);
    request.resume();
    places[place]?.(request, response, count);
  };
}

/** The suite as one module that imports the SDK by its name. */
export function bundleSuite(): Promise<string> {
  return bundleCases('run.ts');
}

/** A file of the suite, with what it imports, as one module. */
export async function bundleCases(file: string): Promise<string> {
  const input = fileURLToPath(new URL(`../sdk/suite/${file}`, import.meta.url));
  const build = await rolldown({ input, external: ['@platform/sdk'] });
  const { output } = await build.generate({ format: 'es' });
  await build.close();
  return output[0].code;
}
