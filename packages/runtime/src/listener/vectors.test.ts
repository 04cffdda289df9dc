// The vectors against the listeners of a node: with a handler that records, and as the endpoints and the control side
// answer who presents nothing.
import { after, before, describe } from 'node:test';
import { record } from '../../../http/test-support/recording-upstream.ts';
import { type Front, testPathVectors, testRequestVectors } from '../../../http/test-support/request-vectors.ts';
import { handleControl } from './control.ts';
import { handleEndpoint } from './endpoints.ts';
import { type HttpServer, type HttpServerOptions, startHttpServer } from './http-server.ts';

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
