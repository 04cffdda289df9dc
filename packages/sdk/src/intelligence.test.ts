// The AI calls of the SDK against servers that answer as a Gateway does: with its own refusals, and with a provider's.
import { strict as assert } from 'node:assert';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { PlatformServicesClient } from './workload.ts';

async function providerOf(t: TestContext, listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const apiUrl = `http://127.0.0.1:${port}`;
  return { apiUrl, openai: new PlatformServicesClient({ apiUrl, gatewayToken: 'pgw_test' }).intelligence('openai') };
}

test('a stock client gets the Gateway’s address of the provider and the workload’s own credential', async (t) => {
  const { apiUrl, openai } = await providerOf(t, (_request, response) => response.end());
  const { baseUrl, apiKey } = openai;
  assert.deepEqual({ baseUrl, apiKey }, { baseUrl: `${apiUrl}/v1/services/intelligence/openai`, apiKey: 'pgw_test' });
});

test('an object goes out as JSON with POST, anything else as it is', async (t) => {
  const requests: unknown[] = [];
  const { openai } = await providerOf(t, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { authorization, 'content-type': type } = request.headers;
    requests.push([request.method, request.url, authorization, type, Buffer.concat(chunks).toString()]);
    response.end('{"data":[]}');
  });
  await openai.request('chat/completions', { body: { model: 'small' }, headers: { authorization: 'Bearer other' } });
  await openai.request('/models?limit=1');
  await openai.request('files', { method: 'PUT', body: 'plain' });
  const base = '/v1/services/intelligence/openai';
  assert.deepEqual(requests, [
    ['POST', `${base}/chat/completions`, 'Bearer pgw_test', 'application/json', '{"model":"small"}'],
    ['GET', `${base}/models?limit=1`, 'Bearer pgw_test', undefined, ''],
    ['PUT', `${base}/files`, 'Bearer pgw_test', 'text/plain;charset=UTF-8', 'plain'],
  ]);
});

test('an answer is there as soon as it begins, and is read as it is streamed', async (t) => {
  let next = () => {};
  const { openai } = await providerOf(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
    next = () => response.end('data: 2\n\n');
  });
  const { body } = await openai.request('responses', { body: { stream: true } });
  assert.ok(body !== null);
  const read: string[] = [];
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    read.push(text);
    next();
  }
  assert.deepEqual(read, ['data: 1\n\n', 'data: 2\n\n']);
});

test('refusals of the platform are errors with its code; answers of a provider are returned whatever their status', async (t) => {
  const { openai } = await providerOf(t, (request, response) => {
    const isOwn = request.url?.endsWith('own') === true;
    const type = isOwn ? 'application/problem+json' : 'application/json';
    response.writeHead(429, { 'content-type': type, 'retry-after': '9' });
    // As the dialect `anthropic` has it: the provider's members beside those of the problem.
    if (isOwn)
      response.end('{"code":"budget_exhausted","detail":"Used up.","type":"error","error":{"message":"Used up."}}');
    else response.end('{"error":{"message":"Slow down, says the provider."}}');
  });
  const expected = { name: 'PlatformError', code: 'budget_exhausted', status: 429, message: 'Used up.', retryAfter: 9 };
  await assert.rejects(openai.request('own', { body: {} }), expected);
  const answer = await openai.request('theirs', { body: {} });
  assert.equal(answer.status, 429);
  assert.deepEqual(await answer.json(), { error: { message: 'Slow down, says the provider.' } });
});

test('nobody there is a failed network; who gives up gets the own reason; no path leads to another provider', async (t) => {
  const seen: unknown[] = [];
  const { openai } = await providerOf(t, (request) => {
    seen.push(request.url);
    if (request.url?.endsWith('gone')) request.destroy();
  });
  await assert.rejects(openai.request('gone'), { name: 'PlatformError', code: 'network_failed' });
  const ending = new AbortController();
  const waiting = openai.request('waits', { signal: ending.signal });
  ending.abort(new Error('enough'));
  await assert.rejects(waiting, { message: 'enough' });
  for (const path of ['../other/models', 'a/%2e%2e/../../other', '..'])
    await assert.rejects(openai.request(path), { code: 'invalid_request' });
  assert.ok(seen.every((url) => !String(url).includes('other')));
});

test('the time limit is for the beginning of an answer, not for its end', async (t) => {
  let end = () => {};
  const { openai } = await providerOf(t, (request, response) => {
    if (request.url?.endsWith('begins') === true) response.writeHead(200).write('a');
    end = () => response.end('z');
  });
  const silent = openai.request('silent', { body: {}, timeoutMilliseconds: 20 });
  await assert.rejects(silent, { name: 'PlatformError', code: 'timed_out' });
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const answer = await openai.request('begins', { body: {}, timeoutMilliseconds: 20 });
  t.mock.timers.tick(1_000_000);
  end();
  assert.equal(await answer.text(), 'az');
});

test('object storage comes as the options of an S3 client, and is null without all of its variables', () => {
  const environment = {
    PLATFORM_API_URL: 'http://127.0.0.1:1',
    PLATFORM_GATEWAY_TOKEN: 'pgw_test',
    PLATFORM_S3_ENDPOINT: 'http://127.0.0.1:1',
    PLATFORM_S3_REGION: 'us-east-1',
    PLATFORM_S3_BUCKET: 'app',
    PLATFORM_S3_ACCESS_KEY_ID: 'platform',
    PLATFORM_S3_SECRET_ACCESS_KEY: 'not-a-secret',
    PLATFORM_S3_SESSION_TOKEN: 'pgw_test',
  };
  assert.deepEqual(PlatformServicesClient.fromEnv(environment).objectStorage(), {
    endpoint: 'http://127.0.0.1:1',
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: 'platform', secretAccessKey: 'not-a-secret', sessionToken: 'pgw_test' },
    bucket: 'app',
  });
  const { PLATFORM_S3_ENDPOINT: _, ...without } = environment;
  assert.equal(PlatformServicesClient.fromEnv(without).objectStorage(), null);
});
