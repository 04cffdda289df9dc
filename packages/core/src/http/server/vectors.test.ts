// The vectors against core's listener, at the host of the shell and at that of an app, with handlers that record.
import { once } from 'node:events';
import type { Server } from 'node:http';
import { after, before, describe } from 'node:test';
import { unlimitedRates } from '../../../../../tests/support/rates.ts';
import { portOf } from '../../../../http/test-support/port-of.ts';
import { record } from '../../../../http/test-support/recording-upstream.ts';
import { type Front, testPathVectors, testRequestVectors } from '../../../../http/test-support/request-vectors.ts';
import { Pacing } from '../rates/pacing.ts';
import { createListener } from './listener.ts';

const SHELL_HOST = 'gw.example.test';
const APP_HOST = `notes--${'a'.repeat(21)}.apps.example.test`;

describe('the listener of core', () => {
  const { handle, take } = record();
  let server: Server;
  before(async () => {
    const logged = (): void => undefined;
    const config = {
      origin: `http://${SHELL_HOST}`,
      appsDomain: 'apps.example.test',
      trustedProxies: [],
      messaging: { serverName: SHELL_HOST, bridge: { kind: 'none' }, federation: null, clientUrl: null },
    } as const;
    server = createListener(
      {
        config,
        callers: { schemes: [] },
        pacing: new Pacing({ rates: unlimitedRates, config }),
        log: { debug: logged, info: logged, warn: logged, error: logged },
        serveShell: async (req, res) => handle(req, res),
        connect: {
          isPath: () => false,
          fields: () => null,
          answer: async () => undefined,
          close: async () => undefined,
        },
        serveApp: async (req, res) => handle(req, res),
      },
      handle,
      () => 'request-id',
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => {
    server.close();
    server.closeAllConnections();
  });
  const front = (host: string): Front => ({
    to: portOf(server),
    host,
    isServed: ({ status }) => status === 200,
    takeArrived: take,
  });
  /** Methods beyond those of the API and of files, which RFC 9110 9.1 lets a server refuse. */
  const refused = Object.fromEntries(
    [
      ...['line/method-lower', 'method.md:7', 'method.md:220', 'method.md:248', 'method.md:276', 'method.md:314'],
      ...['method.md:347', 'method.md:485'],
    ].map((key) => [key, 'core knows no such method (RFC 9110 9.1)']),
  );
  testRequestVectors('core, shell', () => front(SHELL_HOST), { refused });
  testRequestVectors('core, app', () => front(APP_HOST), { refused });
  testPathVectors('core, shell', () => front(SHELL_HOST));
  testPathVectors('core, API', () => ({ ...front(SHELL_HOST), prefix: '/v1' }));
});
