// Many requests at once, in order and within limits, on connections that are kept, shared and closed.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { openRaw } from '../../http/test-support/raw-exchange.ts';
import { ask, startGatewayUnderTest, until } from '../test-support/gateway-under-test.ts';
import { AUTHORIZED, open, responseOf, SERVICE, scriptedSetting } from '../test-support/scripted-core.ts';

const setting = scriptedSetting();

test('200 callers on kept-alive connections each get their own answers', async () => {
  setting.handle = (req, res) => {
    let body = '';
    req.on('data', (part: Buffer) => {
      body += part.toString();
    });
    req.on('end', () => res.end(`${req.url} ${body}`));
  };
  await Promise.all(
    Array.from({ length: 200 }, async (_value, caller) => {
      const line = (round: number): string => {
        const body = `${caller}/${round}`;
        return `POST ${SERVICE}/${caller}/${round} HTTP/1.1\r\nHost: localhost:${setting.tested.port}\r\nAuthorization: ${AUTHORIZED.authorization}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
      };
      const connection = await openRaw(setting.tested.port, line(0));
      for (let round = 1; round < 10; round += 1) {
        await connection.until(() => connection.answers().length === round);
        connection.socket.write(line(round));
      }
      await connection.until(() => connection.answers().length === 10);
      assert.deepEqual(
        connection.answers().map(({ body }) => body),
        Array.from({ length: 10 }, (_item, round) => `${SERVICE}/${caller}/${round} ${caller}/${round}`),
      );
      connection.halfClose();
      await connection.closed();
    }),
  );
  assert.equal(setting.tested.gateway.activeRequests(), 0);
});

test('pipelined requests are answered in their order, even when core answers in another', async () => {
  const held: ServerResponse[] = [];
  setting.handle = (req, res) => {
    if (req.url === `${SERVICE}/1`) held.push(res);
    else res.end(String(req.url));
    if (req.url === `${SERVICE}/3`) held[0]?.end(`${SERVICE}/1`);
  };
  const line = (path: string): string =>
    `GET ${path} HTTP/1.1\r\nHost: localhost:${setting.tested.port}\r\nAuthorization: ${AUTHORIZED.authorization}\r\n\r\n`;
  const paths = [1, 2, 3].map((index) => `${SERVICE}/${index}`);
  const connection = await openRaw(setting.tested.port, paths.map(line).join(''));
  await connection.until(() => connection.answers().length === 3);
  assert.deepEqual(
    connection.answers().map(({ body }) => body),
    paths,
  );
  connection.halfClose();
  await connection.closed();
});

test('garbage after a request does not replace the answer of that request', async () => {
  const slow: ServerResponse[] = [];
  setting.handle = (_req, res) => void slow.push(res);
  const connection = await openRaw(
    setting.tested.port,
    `GET ${SERVICE} HTTP/1.1\r\nHost: localhost:${setting.tested.port}\r\nAuthorization: ${AUTHORIZED.authorization}\r\n\r\n\u0000garbage\r\n\r\n`,
  );
  await until(() => slow.length === 1);
  slow[0]?.end('the answer');
  await connection.closed();
  assert.deepEqual(
    connection.answers().map(({ status }) => status),
    [200, 400],
  );
  assert.equal(connection.answers()[0]?.body, 'the answer');
});

test('requests beyond the limit of one installation are refused, and served again when others end', async () => {
  const waiting: ServerResponse[] = [];
  setting.handle = (_req, res) => void waiting.push(res);
  const requests = Array.from({ length: 512 }, () => open({ port: setting.tested.port }).end());
  await until(() => waiting.length === 512);
  const refused = await ask(setting.tested.port, { path: SERVICE });
  assert.equal(refused.status, 429);
  assert.equal(JSON.parse(refused.body).code, 'concurrency_limited');
  assert.equal(refused.headers['retry-after'], '1');
  setting.handle = (_req, res) => void res.end();
  for (const res of waiting) res.end();
  await Promise.all(
    requests.map(async (request) => {
      const response = await responseOf(request);
      response.resume();
      await once(response, 'end');
    }),
  );
  await until(() => setting.tested.gateway.activeRequests() === 0);
  assert.equal((await ask(setting.tested.port, { path: SERVICE })).status, 200);
});

test('closing lets a running request finish', async () => {
  const held: ServerResponse[] = [];
  setting.handle = (_req, res) => void held.push(res);
  const request = open({ port: setting.tested.port }).end();
  await until(() => held.length === 1);
  const closed = setting.tested.gateway.close();
  held[0]?.end('done');
  const response = await responseOf(request);
  let body = '';
  for await (const part of response) body += String(part);
  assert.equal(body, 'done');
  await closed;
  await assert.rejects(ask(setting.tested.port, { path: SERVICE }), { code: 'ECONNREFUSED' });
});

test('closing breaks a stream off that does not end by itself, and ends it at core', async () => {
  const gone = new Promise<void>((resolve) => {
    setting.handle = (req, res) => {
      req.on('close', resolve);
      res.write('stream');
    };
  });
  const request = open({ port: setting.tested.port }).end();
  const response = await responseOf(request);
  response.on('error', () => undefined);
  await once(response, 'data');
  await setting.tested.gateway.close();
  await gone;
  assert.equal(setting.tested.gateway.activeRequests(), 0);
});

test('Gateways of one process share their connections to core, and closing one leaves the other served', async () => {
  let connections = 0;
  setting.core.on('connection', () => {
    connections += 1;
  });
  setting.handle = (_req, res) => void res.end('ok');
  const other = await startGatewayUnderTest(setting.coreOrigin);
  assert.equal((await ask(setting.tested.port, { path: SERVICE })).status, 200);
  assert.equal((await ask(other.port, { path: SERVICE })).status, 200);
  assert.equal(connections, 1);
  await other.close();
  assert.equal((await ask(setting.tested.port, { path: SERVICE })).status, 200);
  assert.equal(connections, 1);
});
