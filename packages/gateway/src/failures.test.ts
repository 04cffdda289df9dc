// What a workload sees when core fails, and that nothing is ever sent twice.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createTcpServer } from 'node:net';
import { test } from 'node:test';
import { openRaw } from '../../http/test-support/raw-exchange.ts';
import { ask, startGatewayUnderTest, until } from '../test-support/gateway-under-test.ts';
import { AUTHORIZED, open, responseOf, SERVICE, scriptedSetting } from '../test-support/scripted-core.ts';

const setting = scriptedSetting();

test('a core that is down answers upstream_failed, and the log names no credential', async () => {
  setting.core.close();
  setting.core.closeAllConnections();
  await once(setting.core, 'close');
  const answer = await ask(setting.tested.port, { path: `${SERVICE}?secret=in-query` });
  assert.equal(answer.status, 502);
  assert.equal(JSON.parse(answer.body).code, 'upstream_failed');
  const [event] = setting.tested.events;
  assert.ok(event?.event === 'upstream_failure');
  assert.deepEqual(
    { ...event, requestId: '' },
    {
      event: 'upstream_failure',
      installationId: 'inst-0190a1b2-0000-7000-8000-000000000001',
      upstream: 'core',
      code: 'upstream_failed',
      method: 'GET',
      path: SERVICE,
      requestId: '',
      reason: 'ECONNREFUSED',
    },
  );
  assert.equal(event.requestId, JSON.parse(answer.body).requestId);
});

test('a core that does not answer in time is upstream_timeout', async () => {
  const other = await startGatewayUnderTest(setting.coreOrigin, { headersTimeout: 50 });
  let aborted = false;
  setting.handle = (req) => {
    req.on('close', () => {
      aborted = true;
    });
  };
  const answer = await ask(other.port, { path: SERVICE });
  assert.equal(answer.status, 504);
  assert.equal(JSON.parse(answer.body).code, 'upstream_timeout');
  await until(() => aborted);
  await other.close();
});

test('a core that dies in the middle of a body breaks the answer off', async () => {
  for (const framing of [{ 'content-length': '1000' }, {}]) {
    setting.handle = (_req, res) => {
      res.writeHead(200, framing);
      res.write('partial', () => res.destroy());
    };
    const response = await responseOf(open({ port: setting.tested.port }).end());
    await assert.rejects(
      async () => {
        for await (const _part of response);
      },
      { code: 'ECONNRESET' },
    );
  }
  assert.equal(setting.tested.events.length, 2);
});

test('a request is sent once, whatever becomes of it', async () => {
  let seen = 0;
  const dying = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      seen += 1;
      socket.destroy();
    });
  });
  dying.listen(0, '127.0.0.1');
  await once(dying, 'listening');
  const address = dying.address();
  assert.ok(address !== null && typeof address === 'object');
  const other = await startGatewayUnderTest(`http://127.0.0.1:${address.port}`);
  for (const method of ['GET', 'POST', 'DELETE']) {
    seen = 0;
    assert.equal((await ask(other.port, { method, path: SERVICE })).status, 502);
    assert.equal(seen, 1, method);
  }
  await other.close();
  dying.close();
});

test('an early refusal of a large upload reaches the workload that is still sending', async () => {
  setting.handle = (req, res) => {
    // As core does for a body over its limit: it answers at once and reads no more than it has to.
    res.writeHead(413, { 'content-type': 'application/problem+json' });
    res.end('{"code":"payload_too_large"}');
    req.resume();
  };
  const request = open({
    port: setting.tested.port,
    method: 'POST',
    headers: { 'content-length': String(20 * 1024 * 1024) },
  });
  const chunk = Buffer.alloc(64 * 1024);
  let sent = 0;
  let answered = false;
  const push = (): void => {
    while (!answered && sent < 20 * 1024 * 1024) {
      sent += chunk.length;
      if (!request.write(chunk)) {
        request.once('drain', push);
        return;
      }
    }
  };
  push();
  const response = await responseOf(request);
  answered = true;
  assert.equal(response.statusCode, 413);
  let body = '';
  for await (const part of response) body += String(part);
  assert.equal(body, '{"code":"payload_too_large"}');
});

test('a body that turns out malformed after core has seen its begin is aborted there', async () => {
  let begun = false;
  let complete = false;
  const gone = new Promise<void>((resolve) => {
    setting.handle = (req) => {
      begun = true;
      req.on('end', () => {
        complete = true;
      });
      req.on('error', () => undefined);
      req.on('close', resolve);
      req.resume();
    };
  });
  const connection = await openRaw(
    setting.tested.port,
    `POST ${SERVICE} HTTP/1.1\r\nHost: localhost:${setting.tested.port}\r\nAuthorization: ${AUTHORIZED.authorization}\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`,
  );
  await until(() => begun);
  connection.socket.write('ZZZ\r\n');
  await connection.closed();
  await gone;
  assert.equal(complete, false);
  assert.deepEqual(
    connection.answers().map(({ status }) => status),
    [400],
  );
});
