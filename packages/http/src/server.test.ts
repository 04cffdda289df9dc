// One answer for each request, in order, whatever comes behind it on the connection: when the next bytes are broken,
// when a body turns out malformed, and when its handler answers before, after or in that moment. Limits and time-outs.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { holding, listening, opened, statuses } from '../test-support/listening.ts';
import { portOf } from '../test-support/port-of.ts';
import { openRaw } from '../test-support/raw-exchange.ts';
import { endResponse } from './end-response.ts';
import { sendProblem } from './problem.ts';
import { readBody, requireUploadRate } from './read-body.ts';
import type { IncomingRequest } from './server.ts';

const GET = 'GET /get HTTP/1.1\r\nHost: a\r\n\r\n';
const POST = 'POST /post HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n';
const BAD_CHUNK = 'ZZZ\r\n';
const GARBAGE = '\u0000garbage\r\n\r\n';

describe('behind requests in order, broken bytes', () => {
  test('leave the answer that is still awaited, and are refused after it', async () => {
    const { held, hold, count } = holding();
    const connection = await openRaw(await listening(hold), GET + GARBAGE);
    await count(1);
    held[0]?.res.end('one');
    await connection.closed();
    assert.deepEqual(statuses(connection), [200, 400]);
  });

  test('leave all of several, answered in another order', async () => {
    const { held, hold, count } = holding();
    const connection = await openRaw(await listening(hold), GET + GET + GET + GARBAGE);
    await count(3);
    for (const index of [2, 0, 1]) held[index]?.res.end(String(index));
    await connection.closed();
    assert.deepEqual(statuses(connection), [200, 200, 200, 400]);
    assert.deepEqual(
      connection
        .answers()
        .slice(0, 3)
        .map(({ body }) => body),
      ['0', '1', '2'],
    );
  });

  test('leave an answer that is being streamed', async () => {
    const { held, hold, count } = holding();
    const port = await listening(hold);
    const connection = await openRaw(port, GET);
    await count(1);
    const res = held[0]?.res;
    res?.write('begun ');
    await connection.until(() => connection.received().includes('begun'));
    connection.socket.write(GARBAGE);
    // One more round trip, so that the garbage has been read.
    const other = await openRaw(port, `${GET.replace('Host: a', 'Host: b')}`);
    await other.closed();
    res?.end('and done');
    await connection.closed();
    assert.deepEqual(statuses(connection), [200, 400]);
    assert.equal(connection.answers()[0]?.body, 'begun and done');
  });

  test('leave the answer before a malformed body, which is refused in its turn', async () => {
    const { held, hold, count } = holding();
    const connection = await openRaw(await listening(hold), GET + POST + BAD_CHUNK);
    await count(1);
    held[0]?.res.end('one');
    await connection.closed();
    assert.deepEqual(statuses(connection), [200, 400]);
  });
});

describe('a malformed body', () => {
  const answers: Readonly<Record<string, (incoming: IncomingRequest) => unknown>> = {
    'before it arrives': ({ res }) => res.end('early'),
    'before it arrives, with an answer that waits for the rest of it': ({ res }) =>
      endResponse(res, Buffer.from('early')),
    'before it arrives, with a refusal': ({ res }) => sendProblem(res, { code: 'unauthenticated' }),
    'when its first bytes arrive': ({ req, res }) => req.once('data', () => res.end('early')),
    'when it is refused': ({ req, res }) => {
      req.resume();
      res.once('finish', () => sendProblem(res, { code: 'internal_error' }));
    },
    'when the connection has ended': ({ req, res }) => {
      req.resume();
      req.once('error', () => undefined).once('close', () => sendProblem(res, { code: 'internal_error' }));
    },
    never: ({ req }) => req.on('error', () => undefined).resume(),
  };
  for (const [when, handle] of Object.entries(answers)) {
    for (const inOnePacket of [true, false]) {
      test(`has one answer when its handler answers ${when}, ${inOnePacket ? 'in one packet' : 'packet by packet'}`, async () => {
        const { held, hold, count } = holding();
        const port = await listening((incoming) => {
          handle(incoming);
          hold(incoming);
        });
        const connection = await openRaw(port, inOnePacket ? POST + BAD_CHUNK + GET : POST);
        await count(1);
        if (!inOnePacket) connection.socket.write(BAD_CHUNK + GET);
        await connection.closed();
        assert.equal(connection.received().match(/HTTP\/1\.1 \d/g)?.length, 1, connection.received());
        assert.equal(connection.answers().length, 1, connection.received());
        assert.equal(held.length, 1, 'what follows it is not read');
      });
    }
  }

  test('breaks off an answer that is being streamed, so that it does not look complete', async () => {
    const { held, hold, count } = holding();
    const connection = await openRaw(await listening(hold), POST);
    await count(1);
    held[0]?.req.on('error', () => undefined).resume();
    held[0]?.res.write('begun');
    await connection.until(() => connection.received().includes('begun'));
    connection.socket.write(BAD_CHUNK);
    await connection.closed();
    assert.ok(!connection.received().endsWith('0\r\n\r\n'), connection.received());
    assert.equal(connection.received().match(/HTTP\/1\.1 \d/g)?.length, 1);
  });
});

test('nothing is handled behind a request that was refused, since its connection ends', async () => {
  const { held, hold } = holding();
  const port = await listening(hold);
  for (const [refused, status] of [
    [GET.replace('Host: a', 'Host: b'), 421],
    ['POST / HTTP/1.1\r\nHost: a\r\nExpect: other\r\nContent-Length: 3\r\n\r\nabc', 400],
    [`${POST.replace('Host: a', 'Host: a\r\nExpect: other')}${BAD_CHUNK}`, 400],
  ] as const) {
    const connection = await openRaw(port, refused + GET + GET);
    await connection.closed();
    assert.deepEqual(statuses(connection), [status]);
    assert.equal(held.length, 0);
  }
});

test('CONNECT is refused behind the answers that are still awaited', async () => {
  const { held, hold, count } = holding();
  const connection = await openRaw(await listening(hold), `${GET}CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n`);
  await count(1);
  held[0]?.res.end('one');
  await connection.closed();
  assert.deepEqual(statuses(connection), [200, 405]);
});

test('a caller that resets its connection behind CONNECT causes no error', async () => {
  const { hold, count } = holding();
  const port = await listening(hold);
  const connection = await openRaw(port, `${GET}CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n`);
  await count(1);
  connection.socket.resetAndDestroy();
  await connection.closed();
  const other = await openRaw(port, GET);
  await count(2);
  other.socket.destroy();
});

for (const [what, body] of [
  ['of a short body', 'Content-Length: 10\r\n\r\nhalf'],
  ['of a body that never begins', 'Content-Length: 10\r\n\r\n'],
  ['of a long body', 'Content-Length: 1000000\r\n\r\nhalf'],
  ['of a chunked body', 'Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n'],
] as const) {
  for (const refused of [true, false]) {
    test(`a request that was ${refused ? 'refused' : 'answered'} before the end ${what} keeps its connection for a while`, {
      timeout: 20_000,
    }, async (t) => {
      const port = await listening(
        ({ res }) => (refused ? sendProblem(res, { code: 'not_found' }) : res.end('answered')),
        { limits: { headMilliseconds: 300, lookMilliseconds: 50, keepAliveMilliseconds: 0 } },
      );
      const connection = await openRaw(port, `POST / HTTP/1.1\r\nHost: a\r\n${body}`);
      // A byte now and then is no end.
      const drip = setInterval(() => connection.socket.write(what === 'of a chunked body' ? '1\r\nx\r\n' : ''), 50);
      t.after(() => clearInterval(drip));
      await connection.closed();
      assert.equal(statuses(connection).length, 1);
    });
  }
}

test('an answer instead of 100 Continue ends the connection: what follows could be a body or a request', async () => {
  const port = await listening(({ res }) => res.end('no'));
  for (const body of ['Content-Length: 4\r\n', 'Content-Length: 100000\r\n', 'Transfer-Encoding: chunked\r\n']) {
    const head = `POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n${body}\r\n`;
    const connection = await openRaw(port, head + GET);
    await connection.closed();
    assert.equal(statuses(connection)[0], 200);
    assert.match(connection.received(), /connection: close/i);
  }
});

describe('Upgrade', () => {
  const upgrades = {
    h2c: 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABk',
    websocket: `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${'A'.repeat(22)}==`,
  };
  for (const [protocol, fields] of Object.entries(upgrades)) {
    for (const body of ['', 'hello']) {
      test(`to ${protocol} is ignored and the request served, ${body === '' ? 'alone' : 'with its body'}`, async () => {
        const port = await listening(async ({ req, res }) => {
          res.end(req.readableEnded ? '' : await readBody(req, { limit: 100, milliseconds: 5_000 }));
        });
        const request = `${body === '' ? 'GET' : 'POST'} / HTTP/1.1\r\nHost: a\r\n${fields}\r\n${body === '' ? '' : 'Content-Length: 5\r\n'}\r\n${body}`;
        const connection = await openRaw(port, request + GET);
        await connection.closed();
        // Node's parser loses what follows it in the same packet: the answer says that nothing more is read.
        assert.deepEqual(statuses(connection), [200]);
        assert.match(connection.answers()[0]?.head ?? '', /\r\nconnection: close/i);
        assert.equal(connection.answers()[0]?.body, body);
      });
    }
  }
});

describe('a WebSocket handshake, where the server takes them', () => {
  const base: Readonly<Record<string, string>> = {
    Host: 'a',
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
  };
  const cases: readonly (readonly [string, Readonly<Record<string, string | null>>, number])[] = [
    ['in order', {}, 101],
    ['among other protocols', { Upgrade: 'h2c, WebSocket', Connection: 'keep-alive, UPGRADE' }, 101],
    ['without a version', { 'Sec-WebSocket-Version': null }, 400],
    ['of another version', { 'Sec-WebSocket-Version': '8' }, 400],
    ['without a key', { 'Sec-WebSocket-Key': null }, 400],
    ['with a short key', { 'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAA' }, 400],
    ['with a body', { 'Content-Length': '5' }, 400],
    ['with a chunked body', { 'Transfer-Encoding': 'chunked' }, 400],
    ['for another host', { Host: 'b' }, 421],
    ['without Connection', { Connection: null }, 200],
    ['to another protocol alone', { Upgrade: 'h2c' }, 200],
  ];
  for (const [what, change, status] of cases) {
    test(`${what} is answered ${status}`, async () => {
      const port = await listening(({ res }) => res.end(), {
        onUpgrade: ({ socket }) => socket.end('HTTP/1.1 101 Switching\r\n\r\n'),
      });
      const fields = Object.entries({ ...base, ...change }).flatMap(([name, value]) =>
        value === null ? [] : [`${name}: ${value}`],
      );
      const connection = await openRaw(port, `GET / HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`);
      await connection.until(() => connection.received().includes('\r\n\r\n'));
      assert.equal(Number(/^HTTP\/1\.1 (\d{3})/.exec(connection.received())?.[1]), status, connection.received());
      connection.socket.destroy();
    });
  }
});

test('absolute form is taken for the host that was asked, and for no other', async () => {
  const port = await listening(({ req, res }) => res.end(req.url));
  const ask = async (target: string, host: string) => {
    const connection = await openRaw(port, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    await connection.closed();
    const [answer] = connection.answers();
    return [answer?.status, answer?.status === 200 ? answer.body : JSON.parse(answer?.body ?? '').code];
  };
  assert.deepEqual(await ask('http://a/x?y', 'a'), [200, '/x?y']);
  assert.deepEqual(await ask('http://a', 'a'), [200, '/']);
  assert.deepEqual(await ask('http://a/x', 'b'), [421, 'unknown_host']);
  assert.deepEqual(await ask('http://b/x', 'a'), [421, 'unknown_host']);
  assert.deepEqual(await ask('http://a@b/x', 'a'), [421, 'unknown_host']);
});

test('what is not a host by its spelling is refused where every host is served', async () => {
  const port = await listening(({ res }) => res.end(), { isOwnHost: () => true });
  for (const host of ['', 'a|b', 'a,b', 'a?x', 'a/b', 'u@a', 'a:b', 'a:80:80', '*.a', '[::1', '[fe80::1%25eth0]']) {
    const connection = await openRaw(port, `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    await connection.closed();
    assert.deepEqual(statuses(connection), [400], host);
  }
  for (const host of ['a', 'A.example:8080', '127.0.0.1:1', '[::1]:80', 'xn--a-b.example', 'under_score']) {
    const connection = await openRaw(port, `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    await connection.closed();
    assert.deepEqual(statuses(connection), [200], host);
  }
});

test('connections over the limit are closed, and there is room again when one ends', async () => {
  const port = await listening(({ res }) => res.end(), { limits: { connections: 2 } });
  const [one, two] = [await openRaw(port, GET), await openRaw(port, GET)];
  await one.until(() => one.answers().length === 1);
  await two.until(() => two.answers().length === 1);
  const three = await openRaw(port, GET);
  await three.closed();
  assert.equal(three.received(), '');
  one.halfClose();
  await one.closed();
  const four = await openRaw(port, GET);
  await four.until(() => four.answers().length === 1);
  assert.deepEqual(statuses(four), [200]);
});

test('a body that does not arrive in time is refused, and its connection ends', async (t) => {
  const port = await listening(async ({ req, res }) => {
    const error: unknown = await readBody(req, { limit: 100, milliseconds: 30_000 }).catch((reason: unknown) => reason);
    sendProblem(res, { code: 'invalid_request', detail: error instanceof Error ? error.message : '' });
  });
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const connection = await openRaw(port, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab');
  const other = await openRaw(port, 'GET / HTTP/1.1\r\nHost: b\r\n\r\n');
  await other.closed();
  t.mock.timers.tick(29_999);
  assert.equal(connection.received(), '');
  t.mock.timers.tick(1);
  await connection.until(() => connection.answers().length === 1);
  // The answer waits a moment for the rest of the body.
  t.mock.timers.tick(2_000);
  connection.halfClose();
  await connection.closed();
  assert.deepEqual(statuses(connection), [400]);
});

test('an upload slower than its rate is refused, and one at its rate is not', async (t) => {
  const { held, hold, count } = holding();
  const port = await listening((incoming) => {
    requireUploadRate(incoming.req, incoming.res, 1);
    incoming.req.on('error', () => undefined).resume();
    hold(incoming);
  });
  t.mock.timers.enable({ apis: ['setInterval'] });
  const connection = await openRaw(port, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 500\r\n\r\n');
  await count(1);
  const req = held[0]?.req ?? assert.fail();
  let read = req.socket.bytesRead;
  connection.socket.write('x'.repeat(20));
  while (req.socket.bytesRead < read + 20) await new Promise((resolve) => setImmediate(resolve));
  t.mock.timers.tick(10_000);
  assert.equal(connection.received(), '', 'at its rate');
  read = req.socket.bytesRead;
  t.mock.timers.tick(10_000);
  await connection.closed();
  assert.deepEqual(statuses(connection), [400]);
});

describe('requests pipelined on one connection', () => {
  const MOST = 32;

  test('are all answered up to the limit', async () => {
    const port = await listening(({ res }) => res.end());
    const connection = await openRaw(port, GET.repeat(MOST));
    await connection.until(() => connection.answers().length === MOST);
    connection.halfClose();
    await connection.closed();
  });

  test('end the connection beyond it, those under way are abandoned, and the rest of the bytes is not parsed', async () => {
    let abandoned = 0;
    let parsed = 0;
    let begun = 0;
    const server = await opened({
      isOwnHost: () => true,
      onRequest: () => ({
        abandon() {
          abandoned += 1;
        },
      }),
      onBegin() {
        begun += 1;
      },
      onEnd() {
        begun -= 1;
      },
    });
    server.on('request', () => {
      parsed += 1;
    });
    const connection = await openRaw(portOf(server), GET.repeat(1_000));
    await connection.closed();
    assert.deepEqual({ parsed, abandoned, begun }, { parsed: MOST + 1, abandoned: MOST, begun: 0 });
  });
});
