// Core behind nginx, HAProxy and Caddy: no bytes make a proxy and core disagree about where a request ends, so that what one
// client sends never becomes a part of what another one asks, and nobody gets the answer of somebody else.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import http from 'node:http';
import { after, before, describe, test } from 'node:test';
import { openRaw } from '../../packages/http/test-support/raw-exchange.ts';
import { requestCases, underHost } from '../../packages/http/test-support/request-vectors.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import { type FrontProxy, frontProxies, startFrontProxy } from '../support/front-proxy.ts';
import { lacksProgram } from '../support/lacks-program.ts';

const VICTIMS = 3;
/** Without a port, which nginx leaves out. */
const ORIGIN = 'http://shell.platform.localhost';
/** Where a second request would begin, if the proxy and core disagreed: it asks for what only a session may see. */
const HIDDEN = 'GET /v1/auth/session HTTP/1.1\r\nHost: HOST\r\nX-Hidden: ';

/** Two framings of one request, each with a second request in what one reader takes for its body. */
const framings: readonly (readonly [name: string, fields: readonly string[]])[] = [
  ['a length before chunks', ['Content-Length: LENGTH', 'Transfer-Encoding: chunked']],
  ['chunks before a length', ['Transfer-Encoding: chunked', 'Content-Length: LENGTH']],
  ['a short length before chunks', ['Content-Length: 4', 'Transfer-Encoding: chunked']],
  ['no length before chunks', ['Content-Length: 0', 'Transfer-Encoding: chunked']],
  ['two lengths', ['Content-Length: 0', 'Content-Length: LENGTH']],
  ['two lengths, the longer first', ['Content-Length: LENGTH', 'Content-Length: 0']],
  ['two lengths in a list', ['Content-Length: 0, LENGTH']],
  ['a length with a sign', ['Content-Length: +LENGTH']],
  ['a length with a space before the colon', ['Content-Length : LENGTH']],
  ['a length on a continued line', ['Content-Length:', ' LENGTH']],
  ['a length behind a bare carriage return', ['X: a\rContent-Length: LENGTH']],
  ['a length behind a bare line feed', ['X: a\nContent-Length: LENGTH']],
  ['a length behind a NUL', ['X: a\0Content-Length: LENGTH']],
  ['chunks in capitals beside a length', ['Content-Length: LENGTH', 'Transfer-Encoding: CHUNKED']],
  ['chunks with a space before the colon', ['Content-Length: LENGTH', 'Transfer-Encoding : chunked']],
  ['chunks behind a tab', ['Content-Length: LENGTH', 'Transfer-Encoding:\tchunked']],
  ['chunks behind a vertical tab', ['Content-Length: LENGTH', 'Transfer-Encoding: \vchunked']],
  ['chunks on a continued line', ['Content-Length: LENGTH', 'Transfer-Encoding:', ' chunked']],
  ['another coding', ['Content-Length: LENGTH', 'Transfer-Encoding: xchunked']],
  ['the identity coding', ['Content-Length: LENGTH', 'Transfer-Encoding: identity']],
  ['chunks twice', ['Content-Length: LENGTH', 'Transfer-Encoding: chunked, chunked']],
  ['chunks, then identity', ['Content-Length: LENGTH', 'Transfer-Encoding: chunked', 'Transfer-Encoding: identity']],
  ['chunks in quotes', ['Content-Length: LENGTH', 'Transfer-Encoding: "chunked"']],
  ['a name with an underscore', ['Content-Length: LENGTH', 'Transfer_Encoding: chunked']],
  ['a length that the connection names', ['Content-Length: LENGTH', 'Connection: Content-Length']],
  ['chunks that the connection names', ['Transfer-Encoding: chunked', 'Connection: Transfer-Encoding, keep-alive']],
  ['an expectation', ['Content-Length: LENGTH', 'Expect: 100-continue']],
  [
    'an upgrade to h2c',
    [
      'Content-Length: LENGTH',
      'Connection: Upgrade, HTTP2-Settings',
      'Upgrade: h2c',
      'HTTP2-Settings: AAMAAABkAAQAAP__',
    ],
  ],
  [
    'an upgrade to websocket',
    [
      'Content-Length: LENGTH',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    ],
  ],
];

const starts = [
  'POST /v1/auth/login/options HTTP/1.1',
  'GET /v1/health HTTP/1.1',
  'POST http://HOST/v1/auth/login/options HTTP/1.1',
];

/** Bodies in which the hidden request lies where one reader sees a body and the other one a request. */
const bodies: Readonly<Record<string, string>> = {
  plain: HIDDEN,
  'after the last chunk': `0\r\n\r\n${HIDDEN}`,
  'in an extension of a chunk': `0;a=\n\r\n${HIDDEN}`,
};

function ambiguous(host: string): { readonly name: string; readonly raw: string }[] {
  return starts.flatMap((start) =>
    framings.flatMap(([name, fields]) =>
      Object.entries(bodies).map(([where, hidden]) => {
        const body = hidden.replaceAll('HOST', host);
        const head = [start, 'Host: HOST', ...fields].join('\r\n');
        const raw = `${head}\r\n\r\n`.replaceAll('HOST', host).replaceAll('LENGTH', String(body.length)) + body;
        return { name: `${start.split('HTTP/1')[0]}with ${name}, the hidden one ${where}`, raw };
      }),
    ),
  );
}

for (const name of frontProxies)
  describe(`core behind ${name}`, { concurrency: 4, skip: lacksProgram(name) }, () => {
    let world: Constellation;
    let proxy: FrontProxy;
    let account: TestAccount;
    let host: string;

    before(async () => {
      world = await startConstellation({ config: { trustedProxies: ['127.0.0.1'], origin: ORIGIN } });
      account = await registerAccount(world, 'neighbour');
      host = new URL(ORIGIN).host;
      proxy = await startFrontProxy(name, { ingress: world.port, domain: 'platform.localhost' });
    });
    after(async () => {
      await proxy?.stop();
      await world?.close();
    });

    /** A person who asks through the same proxy gets the answer to that, and core has read what they sent. */
    async function othersGetTheirOwn(): Promise<void> {
      await Promise.all(
        Array.from({ length: VICTIMS }, async () => {
          const traceparent = `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`;
          const answer = await ask('/v1/account/secrets', {
            cookie: account.cookie,
            'platform-session': account.sessionId,
            traceparent,
          });
          assert.deepEqual(answer, { status: 200, traceparent, body: '{"items":[],"nextCursor":null}' });
        }),
      );
    }

    function ask(path: string, headers: Readonly<Record<string, string>>): Promise<object> {
      return new Promise((resolve, reject) => {
        const request = http.request({
          host: '127.0.0.1',
          port: proxy.port,
          path,
          agent: false,
          headers: { host, origin: ORIGIN, ...headers },
        });
        request.once('error', reject).once('response', async (answer) => {
          const chunks: Buffer[] = [];
          for await (const chunk of answer) chunks.push(chunk as Buffer);
          resolve({
            status: answer.statusCode,
            traceparent: answer.headers.traceparent,
            body: Buffer.concat(chunks).toString(),
          });
        });
        request.end();
      });
    }

    async function harmsNobody(raw: string): Promise<void> {
      const connection = await openRaw(proxy.port, Buffer.from(raw, 'latin1'));
      await othersGetTheirOwn();
      connection.halfClose();
      await othersGetTheirOwn();
      connection.socket.destroy();
      for (const { body } of connection.answers()) assert.ok(!body.includes('neighbour'), body);
    }

    test('each request that two readers may take for two different ones harms nobody else', async () => {
      for (const { raw } of ambiguous(host)) await harmsNobody(raw);
    });

    test('each request of the vectors harms nobody else', async () => {
      for (const vector of requestCases) await harmsNobody(underHost(vector, host));
    });

    test('nothing of it was a failure of core', () => {
      assert.deepEqual(
        world.log.filter(({ level }) => level === 'error').map(({ message }) => message),
        [],
      );
    });
  });
