// A head over its limit: a problem document for a program; where browsers ask, also the order to delete cookies, and a page.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { holding, listening, statuses } from '../test-support/listening.ts';
import { openRaw } from '../test-support/raw-exchange.ts';
import { isOfCookies } from './head-too-large.ts';

const GET = 'GET /get HTTP/1.1\r\nHost: a\r\n\r\n';

test('a head over its limit is refused with a problem document', async () => {
  const port = await listening(({ res }) => res.end());
  for (const fields of [`X: ${'x'.repeat(20_000)}`, Array.from({ length: 120 }, (_x, i) => `X-${i}: y`).join('\r\n')]) {
    const connection = await openRaw(port, `GET / HTTP/1.1\r\nHost: a\r\n${fields}\r\n\r\n`);
    await connection.closed();
    const [answer] = connection.answers();
    assert.equal(answer?.status, 431);
    assert.match(answer.head, /content-type: application\/problem\+json/);
    assert.equal(JSON.parse(answer.body).code, 'head_too_large');
    assert.doesNotMatch(answer.head, /clear-site-data/i);
  }
});

describe('a head over its limit, where browsers ask', () => {
  const cookies = `Cookie: ${Array.from({ length: 400 }, (_x, i) => `c${i}=${'y'.repeat(4_000)}`).join('; ')}`;

  test('a person gets a page, and the browser is told to delete its cookies', async () => {
    const port = await listening(({ res }) => res.end(), { browsers: true });
    const connection = await openRaw(port, `GET / HTTP/1.1\r\nHost: a\r\nAccept: text/html,*/*\r\n${cookies}\r\n\r\n`);
    await connection.closed();
    const [answer, ...more] = connection.answers();
    assert.deepEqual([answer?.status, more], [431, []]);
    assert.match(answer?.head ?? '', /\r\nclear-site-data: "cookies"\r\n.*\r\nconnection: close/s);
    assert.match(answer?.body ?? '', /<h1>Your browser sent too many cookies<\/h1>/);
  });

  test('a program gets the problem document, with the same order to delete', async () => {
    const port = await listening(({ res }) => res.end(), { browsers: true });
    const connection = await openRaw(port, `GET / HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n${cookies}\r\n\r\n`);
    await connection.closed();
    const [answer] = connection.answers();
    assert.deepEqual([answer?.status, JSON.parse(answer?.body ?? '').code], [431, 'head_too_large']);
    assert.match(answer?.head ?? '', /\r\nclear-site-data: "cookies"\r\n/);
  });

  test('a long target deletes no cookies: any page may link to it', async () => {
    const port = await listening(({ res }) => res.end(), { browsers: true });
    const target = `/?${'a=b;c&'.repeat(3_000)}`;
    const connection = await openRaw(port, `GET ${target} HTTP/1.1\r\nHost: a\r\nCookie: session=1; other=2\r\n\r\n`);
    await connection.closed();
    const [answer] = connection.answers();
    assert.equal(answer?.status, 431);
    assert.doesNotMatch(answer?.head ?? '', /clear-site-data/i);
  });

  const most = 16 * 1024;
  const of = (target: string) => `GET ${target} HTTP/1.1\r\nHost: a\r\n${cookies.slice(0, most)}`;
  const packets: Readonly<Record<string, readonly [packet: string, isOfCookies: boolean]>> = {
    'a short target and cookies': [of('/'), true],
    'a piece of cookies': [cookies.slice(9_000, 20_000), true],
    'the begin of cookies': [`X: y\r\n${cookies.slice(0, 100)}`, true],
    'the begin of a long target': [`GET /?${'a;b='.repeat(4_000)}`, false],
    'a piece of a long target': ['a;b='.repeat(4_000), false],
    'the end of a long target, and cookies': [of('/').slice(4), false],
    'a long target and cookies': [of(`/?${'a;b='.repeat(2_000)}`), false],
  };
  for (const [what, [packet, expected]] of Object.entries(packets)) {
    test(`${what}: cookies ${expected ? 'can be' : 'are not'} to blame`, () => {
      assert.equal(isOfCookies(Buffer.from(packet), most), expected);
    });
  }

  test('the answer arrives although the browser goes on sending, and comes behind those that are awaited', async () => {
    const { held, hold, count } = holding();
    const port = await listening(hold, { browsers: true });
    const connection = await openRaw(port, `${GET}GET / HTTP/1.1\r\nHost: a\r\n${cookies.slice(0, 100_000)}`);
    await count(1);
    connection.socket.write(cookies);
    held[0]?.res.end('first');
    await connection.until(() => connection.answers().length === 2);
    connection.socket.write(cookies);
    connection.halfClose();
    await connection.closed();
    assert.deepEqual(statuses(connection), [200, 431]);
  });

  test('the answer arrives on a line so slow that the head takes as long as it may; what takes longer is ended', async (t) => {
    const port = await listening(({ res }) => res.end(), { browsers: true });
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const slowClient = async () => {
      const connection = await openRaw(port, `GET / HTTP/1.1\r\nHost: a\r\n${cookies.slice(0, 40_000)}`);
      // Goes on sending although it has been answered, as browsers do.
      connection.socket.removeAllListeners('end');
      await connection.until(() => connection.answers().length === 1);
      return connection;
    };
    const [slow, endless] = [await slowClient(), await slowClient()];
    t.mock.timers.tick(19_900);
    slow.socket.end(`${cookies}\r\n\r\n`);
    await slow.closed();
    assert.deepEqual([statuses(slow), slow.socket.errored], [[431], null]);
    assert.equal(endless.isClosed(), false);
    t.mock.timers.tick(100);
    // Into a connection that is gone, which resets it.
    endless.socket.write(cookies);
    await endless.closed();
    assert.deepEqual(statuses(endless), [431]);
  });
});
