// Values of fields pass from HTTP/1.1 to HTTP/2 and back byte for byte.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { carry } from '@platform/http';
import { poolTo, upstreamOver } from '../../../http/test-support/carried-to.ts';
import { answerWith, BYTE_FIELDS, byteServer, FRAMINGS } from '../../../http/test-support/field-bytes.ts';
import { portOf } from '../../../http/test-support/port-of.ts';
import { headersFrame, openRawHttp2 } from '../../test-support/http2-frames.ts';
import { ask, HOST, openFrontUnderTest } from '../../test-support/tls-front-under-test.ts';

test('answers over HTTP/2 keep the bytes of their fields, whatever framed them', async (t) => {
  let answer: Buffer = Buffer.alloc(0);
  const upstream = byteServer(() => answer).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const pool = poolTo(portOf(upstream));
  t.after(async () => {
    await pool.destroy();
    upstream.close();
  });
  const under = await openFrontUnderTest(t, {
    onRequest: (incoming) => carry(incoming, { upstream: upstreamOver(pool, incoming) }),
  });
  const session = await under.http2();
  for (const framing of Object.keys(FRAMINGS)) {
    for (const field of BYTE_FIELDS) {
      answer = answerWith(field, framing);
      const { status, headers, reset } = await ask(session);
      assert.deepEqual([status, reset], [200, 0], framing);
      assert.equal(headers[field.name.toLowerCase()], field.value, `${field.name}, ${framing}`);
    }
  }
});

test('so do requests', async (t) => {
  const seen: string[][] = [];
  const under = await openFrontUnderTest(t, {
    onRequest: ({ res, head }) => {
      seen.push(head.forwarded);
      res.end();
      return null;
    },
  });
  const raw = await openRawHttp2(under.tls({ ALPNProtocols: ['h2'] }));
  t.after(() => raw.socket.destroy());
  let stream = 1;
  for (const { name, value } of BYTE_FIELDS) {
    const lower = name.toLowerCase();
    const pseudo = [
      [':method', 'GET'],
      [':scheme', 'https'],
      [':path', '/'],
      [':authority', HOST],
    ] as const;
    raw.send(headersFrame(stream, [...pseudo, [lower, value]]));
    assert.equal(await raw.outcome(stream), 'head');
    assert.deepEqual(seen.at(-1), [lower, value]);
    stream += 2;
  }
});
