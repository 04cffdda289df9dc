// Bodies of HTTP/2 whose clients leave at any moment, whatever is done with them, and bodies in frames of a few bytes.
import assert from 'node:assert/strict';
import { connect as connectTcp } from 'node:net';
import { test } from 'node:test';
import { endUpload, type IncomingRequest, sendProblem } from '@platform/http';
import { until } from '../../../../tests/support/wait.ts';
import { FLAGS, FRAMES, flood, frame, headersFrame, openRawHttp2 } from '../../test-support/http2-frames.ts';
import { ask, HOST, openFrontUnderTest } from '../../test-support/tls-front-under-test.ts';

const GET: readonly (readonly [string, string])[] = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':path', '/'],
  [':authority', HOST],
];
const POST = GET.map((field) => (field[0] === ':method' ? ([':method', 'POST'] as const) : field));

/** What a handler does with a body that is on its way when its client is gone. */
const readings: Readonly<Record<string, (incoming: IncomingRequest) => void>> = {
  'reads it': ({ req }) => void req.resume(),
  'leaves it': () => undefined,
  'reads and has answered': ({ req, res }) => {
    req.resume();
    res.writeHead(200);
    res.write('begun');
  },
  'has answered without it': ({ res }) => void res.end('no'),
  'refuses it': ({ res }) => void sendProblem(res, { code: 'payload_too_large' }),
  'refuses it and reads on': ({ req, res }) => {
    req.once('data', () => void sendProblem(res, { code: 'payload_too_large' }));
  },
  'leaves its reading at the same time': ({ req, res }) => {
    const onError = () => undefined;
    req.on('data', () => undefined).on('error', onError);
    res.once('close', () => void req.off('error', onError));
  },
  'ends its reading': ({ req, res }) => {
    req.once('data', () => endUpload(res, { code: 'invalid_request' }));
  },
};
for (const [what, handle] of Object.entries(readings)) {
  for (const end of ['closes', 'cancels'] as const) {
    test(`a client that ${end} while a handler ${what} leaves no request under way`, async (t) => {
      let [began, ended] = [0, 0];
      const under = await openFrontUnderTest(t, {
        onRequest: (incoming) => {
          if (incoming.path === '/others') incoming.res.end();
          else handle(incoming);
          return null;
        },
        server: {
          onBegin() {
            began += 1;
          },
          onEnd() {
            ended += 1;
          },
        },
      });
      for (let turn = 0; turn < 8; turn += 1) {
        const raw = await openRawHttp2(under.tls({ ALPNProtocols: ['h2'] }));
        t.after(() => raw.socket.destroy());
        const before = began;
        raw.send(headersFrame(1, POST, FLAGS.endHeaders));
        await until('the request to begin', () => began > before || raw.isClosed);
        await flood(raw, () => frame(FRAMES.data, 0, 1, Buffer.alloc(16_000)), 4 * turn);
        if (end === 'closes') raw.socket.destroy();
        else raw.send(frame(FRAMES.rstStream, 0, 1, Buffer.of(0, 0, 0, 8)));
      }
      await until('all requests to have ended', () => ended === began, 3_000);
      assert.equal(began, 8);
      assert.equal((await ask(await under.http2(), { ':path': '/others' })).status, 200);
      assert.deepEqual(under.faults, []);
    });
  }
}

test('clients that go on sending what was refused, and then reset their connections, leave no request under way', async (t) => {
  let [began, ended] = [0, 0];
  const under = await openFrontUnderTest(t, {
    onRequest: ({ req, res }) => {
      req.once('data', () => void sendProblem(res, { code: 'payload_too_large' }));
      return null;
    },
    server: {
      onBegin() {
        began += 1;
      },
      onEnd() {
        ended += 1;
      },
    },
  });
  const piece = frame(FRAMES.data, 0, 1, Buffer.alloc(16_000));
  const sending = Array.from({ length: 12 }, async () => {
    const below = connectTcp(under.front.port, '127.0.0.1');
    const raw = await openRawHttp2(under.tls({ ALPNProtocols: ['h2'], socket: below }));
    t.after(() => raw.socket.destroy());
    raw.send(headersFrame(1, POST, FLAGS.endHeaders));
    const isOver = () => raw.isClosed || raw.received.some(({ type }) => type === FRAMES.rstStream);
    while (!isOver()) await flood(raw, () => piece, 8);
    raw.send(piece, piece, piece, piece);
    below.resetAndDestroy();
  });
  await Promise.all(sending);
  await until('all requests to have ended', () => began === 12 && ended === began);
});

test('a body of a few bytes a frame ends its connection in time, and one of a thousand does not', async (t) => {
  const under = await openFrontUnderTest(t, {
    onRequest: ({ req, res }) => {
      if (req.method === 'POST') req.resume();
      else res.end();
      return null;
    },
  });
  const raw = await openRawHttp2(under.tls({ ALPNProtocols: ['h2'] }));
  raw.send(headersFrame(1, POST, FLAGS.endHeaders));
  const one = frame(FRAMES.data, 0, 1, Buffer.of(1));
  const lot = Buffer.concat(Array.from({ length: 256 }, () => one));
  assert.ok((await flood(raw, () => lot, 4_000)) < 2_000);
  await raw.closed();
  const honest = await openRawHttp2(under.tls({ ALPNProtocols: ['h2'] }));
  t.after(() => honest.socket.destroy());
  honest.send(headersFrame(1, POST, FLAGS.endHeaders));
  const large = frame(FRAMES.data, 0, 1, Buffer.alloc(1_024));
  await flood(honest, () => large, 2_000);
  honest.send(headersFrame(3, GET));
  assert.equal(await honest.outcome(3), 'head');
});
