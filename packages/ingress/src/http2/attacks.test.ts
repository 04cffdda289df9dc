// What a client of HTTP/2 can do that costs it nothing, and what it gets: its stream or its connection ends, other clients
// are served on, and what is held for it is bounded.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { IncomingRequest } from '@platform/http';
import {
  FLAGS,
  FRAMES,
  fieldBlock,
  flood,
  frame,
  headersFrame,
  openRawHttp2,
  type RawHttp2,
} from '../../test-support/http2-frames.ts';
import {
  ask,
  type FrontUnderTest,
  type FrontUnderTestOptions,
  HOST,
  openFrontUnderTest,
} from '../../test-support/tls-front-under-test.ts';

const ENHANCE_YOUR_CALM = 11;
const REFUSED_STREAM = 7;
const GET: readonly (readonly [string, string])[] = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':path', '/'],
  [':authority', HOST],
];
const POST = GET.map((field) => (field[0] === ':method' ? ([':method', 'POST'] as const) : field));

interface Attack {
  readonly under: FrontUnderTest;
  readonly raw: RawHttp2;
}

async function attacking(t: TestContext, options: FrontUnderTestOptions = {}): Promise<Attack> {
  const under = await openFrontUnderTest(t, options);
  const raw = await openRawHttp2(under.tls({ ALPNProtocols: ['h2'] }));
  t.after(() => raw.socket.destroy());
  return { under, raw };
}

async function othersAreServed({ under }: Attack): Promise<void> {
  assert.equal((await ask(await under.http2())).status, 200);
  assert.deepEqual(under.faults, []);
}

test('requests that are cancelled at once end the connection, and few of them begin', async (t) => {
  let began = 0;
  let ended = 0;
  const attack = await attacking(t, {
    onRequest: () => null,
    server: {
      onBegin() {
        began += 1;
      },
      onEnd() {
        ended += 1;
      },
    },
  });
  const cancel = Buffer.of(0, 0, 0, 8);
  await flood(
    attack.raw,
    (turn) => Buffer.concat([headersFrame(2 * turn + 1, GET), frame(FRAMES.rstStream, 0, 2 * turn + 1, cancel)]),
    5_000,
  );
  await attack.raw.closed();
  assert.ok(began < 400, `${began} began`);
  while (ended < began) await new Promise((resolve) => setImmediate(resolve));
});

test('CONTINUATION without end is cut off', async (t) => {
  const attack = await attacking(t);
  attack.raw.send(frame(FRAMES.headers, 0, 1, fieldBlock(GET)));
  const more = frame(FRAMES.continuation, 0, 1, fieldBlock([['x-a', 'b'.repeat(1_000)]]));
  assert.ok((await flood(attack.raw, () => more, 10_000)) < 1_000);
  await attack.raw.closed();
  await othersAreServed(attack);
});

test('a head of which CONTINUATION never comes ends with the time for a head', async (t) => {
  const attack = await attacking(t, { server: { limits: { headMilliseconds: 100 } } });
  attack.raw.send(frame(FRAMES.headers, FLAGS.endStream, 1, fieldBlock(GET)));
  const goaway = await attack.raw.next(({ type }) => type === FRAMES.goaway);
  assert.notEqual(goaway, null);
});

for (const [what, piece] of [
  ['PING', frame(FRAMES.ping, 0, 0, Buffer.alloc(8))],
  ['SETTINGS', frame(FRAMES.settings, 0, 0)],
] as const) {
  test(`a flood of ${what} ends the connection`, async (t) => {
    const attack = await attacking(t);
    assert.ok((await flood(attack.raw, () => Buffer.concat(Array(10).fill(piece)), 10_000)) < 1_000);
    await attack.raw.closed();
    await othersAreServed(attack);
  });
}

function answerGet({ req, res }: IncomingRequest): null {
  if (req.method === 'GET') res.end();
  return null;
}

test('empty DATA without end ends the connection', async (t) => {
  const attack = await attacking(t, { onRequest: answerGet });
  attack.raw.send(headersFrame(1, POST, FLAGS.endHeaders));
  const empty = frame(FRAMES.data, 0, 1);
  assert.ok((await flood(attack.raw, () => Buffer.concat(Array(10).fill(empty)), 10_000)) < 1_000);
  await attack.raw.closed();
  await othersAreServed(attack);
});

/** Heads that cost more than they seem to. */
const tooLarge: Readonly<Record<string, readonly Uint8Array[]>> = {
  'two large fields': inTwo(fieldBlock([...GET, ['x-a', 'b'.repeat(12_000)], ['x-b', 'c'.repeat(12_000)]])),
  'many fields': [headersFrame(1, [...GET, ...Array.from({ length: 500 }, (_, index) => [`x-${index}`, ''] as const)])],
  // A literal of 4,000 bytes that the table keeps, then the same by its index, one byte each.
  'small references to one large field': [
    frame(
      FRAMES.headers,
      FLAGS.endHeaders | FLAGS.endStream,
      1,
      Buffer.concat([
        fieldBlock(GET),
        Buffer.concat([
          Buffer.of(0x40, 1),
          Buffer.from('a'),
          Buffer.of(127, 0xa1, 0x1e),
          Buffer.from('b'.repeat(4_000)),
        ]),
        Buffer.alloc(90, 0xbe),
      ]),
    ),
  ],
};

function inTwo(block: Buffer): Buffer[] {
  return [
    frame(FRAMES.headers, FLAGS.endStream, 1, block.subarray(0, 16_000)),
    frame(FRAMES.continuation, FLAGS.endHeaders, 1, block.subarray(16_000)),
  ];
}

for (const [what, frames] of Object.entries(tooLarge)) {
  test(`a head beyond its limits reaches no handler: ${what}`, async (t) => {
    let handled = 0;
    const onRequest = (incoming: IncomingRequest) => {
      if (incoming.path === '/') handled += 1;
      return answerGet(incoming);
    };
    const attack = await attacking(t, { onRequest });
    attack.raw.send(...frames);
    const outcome = await attack.raw.outcome(1);
    assert.ok(outcome === 'head' || outcome === ENHANCE_YOUR_CALM || outcome === null, String(outcome));
    assert.equal(handled, 0);
    assert.equal((await ask(await attack.under.http2(), { ':path': '/others' })).status, 200);
  });
}

test('more requests than may be under way are refused, and those under way go on', async (t) => {
  const held: IncomingRequest[] = [];
  const attack = await attacking(t, { onRequest: (incoming) => void held.push(incoming) as undefined });
  for (let stream = 1; stream < 230; stream += 2) attack.raw.send(headersFrame(stream, GET));
  assert.equal(await attack.raw.outcome(205), REFUSED_STREAM);
  assert.equal(held.length, 100);
  held[0]?.res.end('x');
  assert.equal(await attack.raw.outcome(1), 'head');
});

test('a client that keeps its window closed makes the handler wait, and loses the answer in time', async (t) => {
  let written = 0;
  let waits = false;
  const onRequest = ({ req, res }: IncomingRequest) => {
    if (req.method !== 'POST') {
      res.end();
      return null;
    }
    const piece = Buffer.alloc(64 * 1024);
    const write = (): void => {
      do written += piece.length;
      while (res.write(piece) && written < 100_000_000);
      waits = true;
      res.once('drain', write);
    };
    write();
    return { abandon: () => void res.removeListener('drain', write) };
  };
  const attack = await attacking(t, {
    onRequest,
    server: { limits: { reading: { bytesPerSecond: 1_000, milliseconds: 500 } } },
  });
  attack.raw.send(headersFrame(1, POST));
  assert.equal(await attack.raw.outcome(1), 'head');
  assert.notEqual(await attack.raw.next(({ type, stream }) => type === FRAMES.rstStream && stream === 1), null);
  assert.ok(waits);
  assert.ok(written < 1_000_000, `${written} bytes were taken from the handler`);
  await othersAreServed(attack);
});

test('a body that nobody reads waits at its client, beyond the window', async (t) => {
  const attack = await attacking(t, { onRequest: () => null });
  attack.raw.send(headersFrame(1, POST, FLAGS.endHeaders));
  const piece = frame(FRAMES.data, 0, 1, Buffer.alloc(16_000));
  // A client that heeds no window breaks the protocol.
  assert.ok((await flood(attack.raw, () => piece, 1_000)) < 100);
});

test('a connection without a request ends with the time for a head, and one that is idle later', async (t) => {
  const limits = { headMilliseconds: 200, keepAliveMilliseconds: 100 };
  const silent = await attacking(t, { server: { limits } });
  await silent.raw.closed();
  const idle = await attacking(t, { server: { limits: { ...limits, headMilliseconds: 60_000 } } });
  idle.raw.send(headersFrame(1, GET));
  assert.equal(await idle.raw.outcome(1), 'head');
  await idle.raw.closed();
});

test('a body where none may be, and an answer that breaks off, harm neither process nor client', async (t) => {
  const answers: Readonly<Record<string, (incoming: IncomingRequest) => void>> = {
    '/205': ({ res }) => void res.writeHead(205).end('body'),
    '/204': ({ res }) => {
      res.writeHead(204);
      res.write('body');
      res.end();
    },
    '/head': ({ res }) => void res.writeHead(200, { 'content-length': 4 }).end('body'),
    '/twice': ({ res }) => void res.writeHead(200, ['etag', '"a"', 'etag', '"b"', 'connection', 'close']).end(),
    '/broken': ({ res }) => {
      res.writeHead(200);
      res.write('half');
      setImmediate(() => res.destroy());
    },
  };
  const onRequest = (incoming: IncomingRequest) => {
    answers[incoming.path]?.(incoming);
    return null;
  };
  const under = await openFrontUnderTest(t, { onRequest });
  const session = await under.http2();
  for (const path of ['/205', '/204']) {
    const { status, body, reset } = await ask(session, { ':path': path });
    assert.deepEqual([status, body, reset], [Number(path.slice(1)), '', 0]);
  }
  const head = await ask(session, { ':path': '/head', ':method': 'HEAD' });
  assert.deepEqual([head.status, head.headers['content-length'], head.body, head.reset], [200, '4', '', 0]);
  assert.equal((await ask(session, { ':path': '/twice' })).status, 200);
  assert.notEqual((await ask(session, { ':path': '/broken' })).reset, 0);
  // Of unknown length: nothing else would tell that it is not whole.
  const raw = await openRawHttp2(under.tls({ ALPNProtocols: ['h2'] }));
  t.after(() => raw.socket.destroy());
  raw.send(headersFrame(1, [...GET.filter(([name]) => name !== ':path'), [':path', '/broken']]));
  const isEnd = ({ type, flags }: { type: number; flags: number }) =>
    type === FRAMES.rstStream || (type === FRAMES.data && (flags & FLAGS.endStream) !== 0);
  assert.equal((await raw.next(isEnd))?.type, FRAMES.rstStream);
  assert.deepEqual(under.faults, []);
});
