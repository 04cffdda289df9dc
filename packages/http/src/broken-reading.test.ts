// A handler that still reads a body when its request breaks learns of it, so that nothing it holds is held for ever.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { after, before, test } from 'node:test';
import { portOf } from '../test-support/port-of.ts';
import { openRaw } from '../test-support/raw-exchange.ts';
import { readBody } from './read-body.ts';
import { createStrictServer } from './server.ts';

const read = { outcome: Promise.withResolvers<unknown>() };
let server: Server;

before(async () => {
  server = createStrictServer({
    isOwnHost: () => true,
    onRequest({ req }) {
      readBody(req, { limit: 1_000, milliseconds: 60_000 }).then(
        (body) => read.outcome.resolve(body),
        (error: unknown) => read.outcome.resolve(error),
      );
      return null;
    },
    onFault: (error) => assert.fail(String(error)),
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
after(() => void server.close().closeAllConnections());

for (const [what, more, ends] of [
  ['whose next chunk is malformed', 'ZZ\r\n', false],
  ['whose sender leaves', '', true],
] as const) {
  test(`the reader of a request ${what} gets an error`, async () => {
    read.outcome = Promise.withResolvers();
    const head = 'POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n';
    const connection = await openRaw(portOf(server), `${head}2\r\nab\r\n${more}`);
    if (ends) connection.halfClose();
    assert.ok((await read.outcome.promise) instanceof Error);
    await connection.closed();
    assert.ok(connection.answers().length <= 1);
  });
}
