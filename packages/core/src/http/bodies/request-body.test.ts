// A large body whose caller leaves once it has arrived: what checks it learns of that.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import type { RouteId } from '@platform/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { BodyPlaces } from './body-places.ts';
import { type BodyReaders, readRequestBody } from './request-body.ts';

const routes: Readonly<Record<string, RouteId>> = {
  'as a whole': 'services.workflows.complete',
  'item by item': 'services.search.replace',
};

for (const [how, route] of Object.entries(routes)) {
  test(`a body that is read ${how}`, { timeout: 10_000 }, async (t) => {
    const server = createServer().listen(0, '127.0.0.1');
    t.after(() => server.close());
    await once(server, 'listening');
    const body = JSON.stringify('x'.repeat(200_000));
    const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    const caller = connect((server.address() as AddressInfo).port, '127.0.0.1');
    caller.on('error', () => undefined).write(head + body);
    const [raw, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
    const checking = Promise.withResolvers<AbortSignal>();
    /** Waits for a thread until its caller leaves. */
    const check = async (left = AbortSignal.abort()): Promise<never> => {
      checking.resolve(left);
      await once(left, 'abort');
      throw left.reason;
    };
    const readers: BodyReaders = {
      findSecrets: () => null,
      bodies: { parse: (_id, _bytes, left) => check(left) },
      largeBodies: {
        async receive(request, _id, { left }) {
          request.resume();
          await once(request, 'end');
          return check(left);
        },
      },
      places: new BodyPlaces(),
    };
    const exchange = {
      request: { raw, headers: raw.headers } as FastifyRequest,
      reply: { raw: response } as FastifyReply,
      from: { sender: { kind: 'known' as const, name: 'somebody', appOf: null }, account: 'somebody' },
    };
    const read = readRequestBody(exchange, route, readers);
    assert.equal((await checking.promise).aborted, false);
    caller.resetAndDestroy();
    await assert.rejects(read, /The client left/);
  });
}
