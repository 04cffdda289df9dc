// Fields that break HTTP/2 (RFC 9113 section 8.2.1). nghttp2 ends the stream of some; Node has it leave out the others, which
// nothing here can see. Either way nothing of such a field reaches a handler, and nothing that it could become.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headersFrame, openRawHttp2 } from '../../test-support/http2-frames.ts';
import { HOST, openFrontUnderTest } from '../../test-support/tls-front-under-test.ts';

const GET: readonly (readonly [string, string])[] = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':path', '/'],
  [':authority', HOST],
];
const PROTOCOL_ERROR = 1;

for (const field of [
  ['x-a', 'a\rb'],
  ['x-a', 'a\nb'],
  ['x-a', 'a\r\nx-b: c'],
  ['x-a', 'a\0b'],
  ['x-a', '\0'],
  ['x-a', 'a\n'],
  ['x-a', '\x01'],
  ['x-a', '\x7f'],
  ['x-a', ' a'],
  ['x-a', 'a\t'],
  ['X-A', 'b'],
  ['x a', 'b'],
  ['x\0a', 'b'],
  ['x\na', 'b'],
  ['x\r\na', 'b'],
  ['x:a', 'b'],
  ['x-\u00e9', 'b'],
  ['', 'b'],
  ['x-a\x7f', 'b'],
  ['cookie', 'a=b\r\nx'],
  ['authorization', 'Bearer a\0'],
  ['content-type', 'text/plain\n'],
] as const) {
  test(`nothing of a field ${JSON.stringify(field)} reaches a handler`, async (t) => {
    const seen: string[] = [];
    const under = await openFrontUnderTest(t, {
      onRequest: ({ req, res, path }) => {
        if (path === '/') seen.push(...req.rawHeaders.map((text) => text.toLowerCase()));
        res.end();
        return null;
      },
    });
    const raw = await openRawHttp2(under.tls({ ALPNProtocols: ['h2'] }));
    t.after(() => raw.socket.destroy());
    raw.send(headersFrame(1, [...GET, field]));
    const outcome = await raw.outcome(1);
    assert.ok(outcome === PROTOCOL_ERROR || outcome === 'head', String(outcome));
    assert.deepEqual(seen, outcome === 'head' ? ['host', HOST] : []);
    raw.send(headersFrame(3, [...GET.filter(([name]) => name !== ':path'), [':path', '/next']]));
    assert.equal(await raw.outcome(3), 'head', 'others on the connection are served');
    assert.deepEqual(under.faults, []);
  });
}
