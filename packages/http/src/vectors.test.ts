// The vectors against the strict server itself: with a handler that takes everything, and with a carrier behind it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { after, before, describe } from 'node:test';
import type { Pool } from 'undici';
import { poolTo, upstreamOver } from '../test-support/carried-to.ts';
import { portOf } from '../test-support/port-of.ts';
import { type RecordingUpstream, record, startRecordingUpstream } from '../test-support/recording-upstream.ts';
import { testPathVectors, testRequestVectors } from '../test-support/request-vectors.ts';
import { type HostileUpstream, startHostileUpstream, testResponseVectors } from '../test-support/response-vectors.ts';
import { carry } from './carry.ts';
import { createStrictServer, type StrictServerOptions } from './server.ts';

const HOST = 'gw.example.test';
const UPSTREAM_HOST = 'core.test';

async function listening(onRequest: StrictServerOptions['onRequest']): Promise<Server> {
  const server = createStrictServer({
    isOwnHost: (host) => host === HOST,
    onRequest,
    onFault: (error) => assert.fail(String(error)),
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function end(server: Server): void {
  server.close();
  server.closeAllConnections();
}

/** A server that carries everything to a port of this machine. */
async function carrying(port: number): Promise<{ readonly server: Server; readonly pool: Pool }> {
  const pool = poolTo(port, UPSTREAM_HOST);
  const server = await listening((incoming) =>
    carry(incoming, {
      upstream: upstreamOver(pool, incoming),
    }),
  );
  return { server, pool };
}

describe('a strict server', () => {
  const { handle, take } = record();
  let server: Server;
  before(async () => {
    server = await listening(({ req, res }) => void handle(req, res));
  });
  after(() => end(server));
  const front = () => ({
    to: portOf(server),
    host: HOST,
    isServed: ({ status }: { readonly status: number }) => status === 200,
    takeArrived: take,
  });
  testRequestVectors('strict server', front);
  testPathVectors('strict server', front);
});

describe('a carrier behind a strict server', () => {
  let upstream: RecordingUpstream;
  let carrier: Awaited<ReturnType<typeof carrying>>;
  before(async () => {
    upstream = await startRecordingUpstream();
    carrier = await carrying(upstream.port);
  });
  after(async () => {
    end(carrier.server);
    await carrier.pool.destroy();
    await upstream.close();
  });
  testRequestVectors('carrier', () => ({
    to: portOf(carrier.server),
    host: HOST,
    isServed: ({ status }) => status === 200,
    takeArrived: upstream.take,
    carriesTo: UPSTREAM_HOST,
  }));
});

describe('a carrier in front of a hostile upstream', () => {
  let upstream: HostileUpstream;
  let carrier: Awaited<ReturnType<typeof carrying>>;
  before(async () => {
    upstream = await startHostileUpstream({ port: 0, host: '127.0.0.1' });
    carrier = await carrying(portOf(upstream.server));
  });
  after(async () => {
    end(carrier.server);
    await carrier.pool.destroy();
    upstream.server.close();
  });
  testResponseVectors('carrier', () => ({
    to: portOf(carrier.server),
    fields: [`Host: ${HOST}`],
    upstream,
    dropped: ['x-secret', 'upgrade'],
  }));
});
