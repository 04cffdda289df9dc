// Streams and aborts through a running Gateway: bytes pass as they come, and an end on one side is an end on the other.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { until } from '../test-support/gateway-under-test.ts';
import { open, responseOf, scriptedSetting } from '../test-support/scripted-core.ts';

const setting = scriptedSetting();

test('the head and each event of a stream arrive before the next one is sent', async () => {
  const streams: ServerResponse[] = [];
  setting.handle = (_req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.flushHeaders();
    streams.push(res);
  };
  const request = open({ port: setting.tested.port }).end();
  const response = await responseOf(request);
  assert.equal(response.headers['content-type'], 'text/event-stream');
  for (const event of ['data: one\n\n', 'data: two\n\n', 'data: three\n\n']) {
    streams[0]?.write(event);
    const [chunk] = await once(response, 'data');
    assert.equal(String(chunk), event);
  }
  request.destroy();
});

test('a caller that goes away while a stream is idle ends the request at core', async () => {
  const gone = new Promise<void>((resolve) => {
    setting.handle = (req, res) => {
      req.on('close', resolve);
      res.writeHead(200);
      res.write('first');
    };
  });
  const request = open({ port: setting.tested.port }).end();
  const response = await responseOf(request);
  await once(response, 'data');
  request.destroy();
  await gone;
  await until(() => setting.tested.gateway.activeRequests() === 0);
});

test('a caller that goes away before any answer ends the request at core', async () => {
  let arrived = false;
  const gone = new Promise<void>((resolve) => {
    setting.handle = (req) => {
      arrived = true;
      req.on('close', resolve);
    };
  });
  const request = open({ port: setting.tested.port }).end();
  request.on('error', () => undefined);
  await until(() => arrived);
  request.destroy();
  await gone;
});

test('a caller that goes away in the middle of an upload ends the request at core, and it is never complete', async () => {
  let received = 0;
  let complete = false;
  const gone = new Promise<void>((resolve) => {
    setting.handle = (req) => {
      req.on('data', (chunk: Buffer) => {
        received += chunk.length;
      });
      req.on('end', () => {
        complete = true;
      });
      req.on('close', resolve);
      req.on('error', () => undefined);
    };
  });
  const request = open({ port: setting.tested.port, method: 'POST', headers: { 'content-length': '1000000' } });
  request.on('error', () => undefined);
  request.write(Buffer.alloc(200_000));
  await until(() => received > 0);
  request.destroy();
  await gone;
  assert.equal(complete, false);
});

test('an upload reaches core while it is still being sent', async () => {
  const pieces: string[] = [];
  setting.handle = (req, res) => {
    req.on('data', (chunk: Buffer) => pieces.push(chunk.toString()));
    req.on('end', () => res.end(pieces.join('')));
  };
  const request = open({ port: setting.tested.port, method: 'POST' });
  request.write('first ');
  await until(() => pieces.join('') === 'first ');
  request.write('second');
  await until(() => pieces.join('') === 'first second');
  request.end();
  assert.equal((await responseOf(request)).statusCode, 200);
});

test('every byte passes unchanged both ways, whatever the size of the body', async () => {
  setting.handle = (req, res) => {
    const parts: Buffer[] = [];
    req.on('data', (part: Buffer) => parts.push(part));
    req.on('end', () => {
      const body = Buffer.concat(parts);
      if (req.headers['x-framing'] === 'length') res.setHeader('content-length', body.length);
      res.write(body);
      res.end();
    });
  };
  const everyByte = Buffer.from(Array.from({ length: 256 }, (_value, index) => index));
  for (const size of [1, 256, 16_000, 16_384, 16_385, 65_536, 65_537, 300_000]) {
    const body = Buffer.alloc(size, everyByte);
    for (const framing of ['length', 'chunked']) {
      const declared: Record<string, string> = framing === 'length' ? { 'content-length': String(size) } : {};
      const request = open({
        ...{ port: setting.tested.port, method: 'POST' },
        headers: { 'x-framing': framing, ...declared },
      });
      request.write(body);
      request.end();
      const parts: Buffer[] = [];
      for await (const part of await responseOf(request)) parts.push(part);
      assert.ok(Buffer.concat(parts).equals(body), `${size} bytes, ${framing}`);
    }
  }
});
