// Whether a caller has left is known at any time, also to what asks only afterwards.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import { whenCallerLeaves } from './caller-left.ts';

test('a caller that leaves is noticed, before and after somebody asks', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const caller = connect((server.address() as AddressInfo).port, '127.0.0.1');
  caller.on('error', () => undefined).write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc');
  const [request, response] = (await once(server, 'request')) as [NodeJS.ReadableStream, ServerResponse];
  request.resume();
  await once(request, 'end');
  const early = whenCallerLeaves(response);
  assert.equal(early.aborted, false, 'the end of a body is not the end of its caller');
  caller.resetAndDestroy();
  await once(early, 'abort');
  assert.equal(whenCallerLeaves(response).aborted, true);
});
