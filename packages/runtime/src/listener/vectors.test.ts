// The vectors against the listeners of a node: with a handler that records, and as the endpoints and the control side
// answer who presents nothing.
import assert from 'node:assert/strict';
import { METHODS } from 'node:http';
import { after, before, describe, test } from 'node:test';
import type { IncomingRequest, IncomingUpgrade } from '@platform/http';
import { openRaw } from '../../../http/test-support/raw-exchange.ts';
import { record } from '../../../http/test-support/recording-upstream.ts';
import {
  type Front,
  requestVectorsUnder,
  testPathVectors,
  testRequestVectors,
} from '../../../http/test-support/request-vectors.ts';
import type { Installation } from '../lifecycle/installation.ts';
import { handleControl } from './control.ts';
import { handleEndpoint } from './endpoints.ts';
import { type HttpServer, type HttpServerOptions, startHttpServer } from './http-server.ts';
import { createPublicFront } from './public.ts';

const HOST = 'gw.example.test';
const write = (): void => undefined;

function registerFront(name: string, handle: HttpServerOptions['handle'], front: Partial<Front>): void {
  describe(name, () => {
    let server: HttpServer;
    before(async () => {
      server = await startHttpServer({
        host: '127.0.0.1',
        port: 0,
        isOwnHost: (host) => host === HOST,
        handle,
        log: { debug: write, info: write, warn: write, error: write },
      });
    });
    after(() => server.close(0));
    const whole = (): Front => ({
      to: server.port,
      host: HOST,
      isServed: ({ status }) => status === 200,
      takeArrived: () => [],
      ...front,
    });
    testRequestVectors(name, whole);
    if (front.answersItself !== true) testPathVectors(name, () => ({ ...whole(), prefix: '/e/endpoint' }));
  });
}

const { handle, take } = record();
registerFront('node listener', ({ req, res }) => handle(req, res), { takeArrived: take });

registerFront(
  'node endpoints',
  (incoming) => handleEndpoint({ find: async () => undefined, onWake: () => undefined }, incoming),
  { isServed: ({ status }) => status === 404, answersItself: true },
);

registerFront(
  'control side',
  (incoming) => {
    const unreached = (): never => {
      throw new Error('Reached without the credential.');
    };
    return handleControl(
      {
        credential: 'pnc_vectors',
        find: unreached,
        forget: unreached,
        deleteVolume: unreached,
        sendVolume: unreached,
        volumeUse: unreached,
        onWake: unreached,
        logs: { read: unreached, follow: unreached, writer: unreached, remove: unreached },
        ending: new AbortController().signal,
      },
      incoming,
    );
  },
  {
    // No page may call it, whatever it presents.
    isServed: ({ status, body }) => status === 401 || body.includes('"code":"origin_not_allowed"'),
    answersItself: true,
  },
);

const nobodys = createPublicFront({
  credential: 'pni_vectors',
  find: (): never => {
    throw new Error('Reached without the credential.');
  },
  onWake: () => undefined,
});
registerFront('public side', nobodys.handle, {
  isServed: ({ status }) => status === 401,
  answersItself: true,
});

describe('a connection of an Ingress that was used for a request', () => {
  const host = 'reused.example.test';
  let server: HttpServer;
  const arrived: string[] = [];
  before(async () => {
    const installation = runningDouble(host, ({ req, res }) => {
      arrived.push(`${req.method} ${req.url}`);
      res.end('served');
    });
    const front = createPublicFront({ credential: 'pni_vectors', find: () => installation, onWake: () => undefined });
    server = await startHttpServer({
      host: '127.0.0.1',
      port: 0,
      isOwnHost: () => true,
      handle: front.handle,
      connect: front.connect,
      log: { debug: write, info: write, warn: write, error: write },
    });
  });
  after(() => server.close(0));

  for (const { name, raw } of requestVectorsUnder(host)) {
    test(`carries nothing that comes behind it without the credential: ${name}`, async () => {
      arrived.length = 0;
      const first = `GET /first HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer pni_vectors\r\n\r\n`;
      const connection = await openRaw(server.port, Buffer.from(first + raw, 'latin1'));
      await connection.until(() => connection.answers().length > 0);
      connection.halfClose();
      await connection.closed();
      assert.deepEqual(arrived, ['GET /first']);
      const served = connection.answers().filter(({ status }) => status < 400);
      assert.deepEqual(
        served.map(({ body }) => body),
        ['served'],
      );
    });
  }
});

/** Stands in for an installation that runs and is open for every request. */
function runningDouble(hostname: string, forwardPublic: (incoming: IncomingRequest) => void): Installation {
  const routes = [...METHODS, 'WS'].map((method) => `${method}:/*`);
  const double = {
    assignment: { gateway: { revision: 1, public: { hostname, routes } } },
    gateway: { forwardPublic, forwardPublicUpgrade: ({ socket }: IncomingUpgrade) => void socket.destroy() },
  };
  return double as unknown as Installation;
}
