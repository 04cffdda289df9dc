// Requests pipelined on one connection: one that is not safe has its effects alone, and all are answered in order.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { holding, listening, opened, statuses } from '../test-support/listening.ts';
import { portOf } from '../test-support/port-of.ts';
import { openRaw } from '../test-support/raw-exchange.ts';
import { endResponse } from './end-response.ts';
import { sendProblem } from './problem.ts';
import { readBody } from './read-body.ts';

const get = (name: string) => `GET /${name} HTTP/1.1\r\nHost: a\r\n\r\n`;
const post = (name: string, body = 'abc', fields = '') =>
  `POST /${name} HTTP/1.1\r\nHost: a\r\n${fields}Content-Length: ${body.length}\r\n\r\n${body}`;
const LONG = 'x'.repeat(300_000);

/** Answers each request with its path and the length of its body, and notes when each begins and ends. */
async function recording(): Promise<{ readonly port: number; readonly effects: string[] }> {
  const effects: string[] = [];
  const port = await listening(async ({ req, res, path, expectsContinue }) => {
    effects.push(`begin ${path}`);
    if (expectsContinue) res.writeContinue();
    const body = req.readableEnded ? '' : await readBody(req, { limit: 1_000_000, milliseconds: 5_000 });
    // Later ones are quicker, so that they would overtake.
    for (let turn = 0; turn < 20 - effects.length; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    effects.push(`end ${path}`);
    res.end(`${path} ${body.length}`);
  });
  return { port, effects };
}

/** Once it has been answered, what was sent on other connections before it has been read. */
async function roundTrip(port: number): Promise<void> {
  const connection = await openRaw(port, get('other').replace('Host: a', 'Host: b'));
  await connection.closed();
}

describe('behind a request that is not safe, the next begins once that is answered', () => {
  for (const [what, bytes, lengths] of [
    ['in one packet', [1, 2, 3, 4].map((name) => post(`${name}`)).join(''), [3, 3, 3, 3]],
    ['among safe ones', get('1') + post('2') + get('3') + post('4'), [0, 3, 0, 3]],
    ['with long bodies', post('1', LONG) + post('2', LONG) + post('3', LONG), [300_000, 300_000, 300_000]],
    [
      'with one that expects 100 Continue',
      post('1') + post('2', LONG, 'Expect: 100-continue\r\n') + get('3'),
      [3, 300_000, 0],
    ],
    ['of another method', post('1').replace('POST', 'DELETE') + post('2').replace('POST', 'PUT') + get('3'), [3, 3, 0]],
  ] as const) {
    test(what, { timeout: 10_000 }, async () => {
      const { port, effects } = await recording();
      const connection = await openRaw(port, bytes);
      await connection.until(() => connection.answers().length === lengths.length);
      assert.deepEqual(
        effects,
        lengths.flatMap((_, index) => [`begin /${index + 1}`, `end /${index + 1}`]),
      );
      assert.deepEqual(
        connection.answers().map(({ body }) => body),
        lengths.map((length, index) => `/${index + 1} ${length}`),
      );
      connection.socket.destroy();
    });
  }

  test('and safe ones are begun side by side', { timeout: 10_000 }, async () => {
    const { held, hold, count } = holding();
    const port = await listening(hold);
    const connection = await openRaw(port, post('1') + get('2') + get('3') + post('4') + get('5') + get('6'));
    const paths = () => held.map(({ path }) => path);
    const endAll = () => {
      for (const { res, path } of held.toReversed()) if (!res.writableEnded) res.end(path);
    };
    for (const begun of [['/1'], ['/1', '/2', '/3'], ['/1', '/2', '/3', '/4'], ['/1', '/2', '/3', '/4', '/5', '/6']]) {
      await count(begun.length);
      await roundTrip(port);
      assert.deepEqual(paths(), begun);
      endAll();
    }
    await connection.until(() => connection.answers().length === 6);
    assert.deepEqual(
      connection.answers().map(({ body }) => body),
      ['/1', '/2', '/3', '/4', '/5', '/6'],
    );
    connection.socket.destroy();
  });

  test('however its body is left', { timeout: 10_000 }, async () => {
    const port = await listening(({ req, res, path }) => {
      if (path === '/2') endResponse(res, Buffer.from('early'));
      else if (path === '/3') req.once('data', () => res.end()).resume();
      else res.end();
    });
    const connection = await openRaw(port, ['1', '2', '3', '4'].map((name) => post(name, LONG)).join('') + get('5'));
    await connection.until(() => connection.answers().length === 5);
    assert.deepEqual(statuses(connection), [200, 200, 200, 200, 200]);
    connection.socket.destroy();
  });
});

describe('what waits behind a request that is not safe', () => {
  test('never begins where the connection ends with the answer', { timeout: 10_000 }, async () => {
    const { held, hold, count } = holding();
    const connection = await openRaw(await listening(hold), post('1') + post('2') + get('3'));
    await count(1);
    sendProblem(held[0]?.res ?? assert.fail(), { code: 'not_found' }, { close: true });
    await connection.closed();
    assert.deepEqual(statuses(connection), [404]);
    assert.equal(held.length, 1);
  });

  test('never begins where the caller has left', { timeout: 10_000 }, async () => {
    let begun = 0;
    let open = 0;
    const abandoned = Promise.withResolvers<void>();
    const server = await opened({
      isOwnHost: () => true,
      onRequest({ path }) {
        if (path === '/other') return null;
        begun += 1;
        return { abandon: abandoned.resolve };
      },
      onBegin: () => {
        open += 1;
      },
      onEnd: () => {
        open -= 1;
      },
    });
    const arrived = new Promise<void>((resolve) => server.on('request', ({ url }) => url === '/3' && resolve()));
    const connection = await openRaw(portOf(server), post('1') + post('2') + get('3'));
    await arrived;
    connection.socket.resetAndDestroy();
    await abandoned.promise;
    while (open > 0) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(begun, 1);
  });

  test('is refused in its turn, with nothing behind it', { timeout: 10_000 }, async () => {
    const { held, hold, count } = holding();
    const refused = post('2').replace('Host: a', 'Host: b');
    const connection = await openRaw(await listening(hold), post('1') + refused + post('3'));
    await count(1);
    held[0]?.res.end();
    await connection.closed();
    assert.deepEqual(statuses(connection), [200, 421]);
    assert.equal(held.length, 1);
  });

  test('is served before the refusal of broken bytes behind it', { timeout: 10_000 }, async () => {
    const { held, hold, count } = holding();
    const connection = await openRaw(await listening(hold), `${post('1')}${post('2')}\u0000garbage\r\n\r\n`);
    for (const index of [0, 1]) {
      await count(index + 1);
      held[index]?.res.end();
    }
    await connection.closed();
    assert.deepEqual(statuses(connection), [200, 200, 400]);
  });

  test('never begins with a body that turns out malformed', { timeout: 10_000 }, async () => {
    const { held, hold, count } = holding();
    const malformed = 'POST /2 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nZZZ\r\n';
    const port = await listening(hold);
    const connection = await openRaw(port, post('1') + malformed);
    await count(1);
    await roundTrip(port);
    held[0]?.res.end();
    await connection.closed();
    assert.deepEqual(statuses(connection), [200, 400]);
    assert.equal(held.length, 1);
  });

  test('is a plain request though it asks for a WebSocket', { timeout: 10_000 }, async () => {
    const { held, hold, count } = holding();
    const port = await listening(hold, { onUpgrade: () => assert.fail() });
    const key = `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${'A'.repeat(22)}==`;
    const handshake = `GET /2 HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${key}\r\n\r\n`;
    const connection = await openRaw(port, post('1') + handshake);
    await count(1);
    // What comes with an Upgrade that is ignored is lost; nothing behind it may be handled.
    connection.socket.write(get('3'));
    await roundTrip(port);
    held[0]?.res.end();
    await count(2);
    held[1]?.res.end();
    await connection.closed();
    assert.deepEqual(statuses(connection), [200, 200]);
    assert.deepEqual(
      held.map(({ path }) => path),
      ['/1', '/2'],
    );
  });

  test('is bounded: thousands of requests behind a slow one end the connection', { timeout: 10_000 }, async () => {
    for (const behind of [get('2').repeat(5_000), post('2').repeat(5_000), post('2', 'x'.repeat(50_000)).repeat(100)]) {
      const begun: string[] = [];
      let parsed = 0;
      let open = 0;
      const server = await opened({
        isOwnHost: () => true,
        onRequest: ({ path }) => {
          begun.push(path);
          return null;
        },
        onBegin: () => {
          open += 1;
        },
        onEnd: () => {
          open -= 1;
        },
      });
      server.on('request', () => {
        parsed += 1;
      });
      const connection = await openRaw(portOf(server), post('1') + behind);
      await connection.closed();
      while (open > 0) await new Promise((resolve) => setImmediate(resolve));
      assert.deepEqual({ begun, parsed }, { begun: ['/1'], parsed: 33 });
    }
  });

  test('with a long body is not read before its turn', { timeout: 20_000 }, async () => {
    const { held, hold, count } = holding();
    const connection = await openRaw(await listening(hold), post('1') + post('2', 'x'.repeat(20_000_000)));
    await count(1);
    const { socket } = held[0]?.req ?? assert.fail();
    // The client cannot send the rest: the kernel holds what it can, and the server nothing of that.
    let before = -1;
    while (socket.bytesRead !== before) {
      before = socket.bytesRead;
      for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
    assert.ok(socket.bytesRead < 1_000_000, `${socket.bytesRead} bytes`);
    held[0]?.res.end();
    await count(2);
    const body = await readBody(held[1]?.req ?? assert.fail(), { limit: 20_000_000, milliseconds: 10_000 });
    assert.equal(body.length, 20_000_000);
    connection.socket.destroy();
  });
});
