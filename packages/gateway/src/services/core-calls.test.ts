// What a Gateway requests of core goes out under its own credential, and every way in which it can fail is a refusal that
// the workload may be answered with.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { after, before, test } from 'node:test';
import * as z from 'zod';
import {
  CORE_CREDENTIAL,
  type GatewayUnderTest,
  portOf,
  startGatewayUnderTest,
} from '../../test-support/gateway-under-test.ts';
import { type CoreCalls, CoreRefusal, openCoreCalls } from './core-calls.ts';

const PATH = '/v1/gateway/intelligence/authorize';
const shape = z.strictObject({ key: z.string() });

let answer: (req: IncomingMessage, res: ServerResponse) => void = (_req, res) => void res.end();
const core = createServer((req, res) => answer(req, res));
let tested: GatewayUnderTest;
let calls: CoreCalls;

before(async () => {
  core.listen(0, '127.0.0.1');
  await once(core, 'listening');
  tested = await startGatewayUnderTest(`http://127.0.0.1:${portOf(core)}`, {
    services: [
      (context) => {
        calls = openCoreCalls(context);
        return { prefixes: ['/v1/services/x/'], handle: () => null, close: () => calls.close() };
      },
    ],
  });
});
after(async () => {
  await tested.close();
  core.close();
});

/** What the workload would be answered. */
async function refusal(status: number, body: unknown, headers: Record<string, string> = {}): Promise<unknown> {
  answer = (_req, res) => void res.writeHead(status, headers).end(JSON.stringify(body));
  const error: unknown = await calls.post(PATH, {}, shape).catch((reason: unknown) => reason);
  assert.ok(error instanceof CoreRefusal, String(error));
  return error.refusal;
}

test('a call carries the core service credential and its body, and returns what core answers', async () => {
  const seen: unknown[] = [];
  answer = async (req, res) => {
    const parts: Buffer[] = [];
    for await (const part of req) parts.push(part);
    seen.push(req.method, req.url, req.headers.authorization, Buffer.concat(parts).toString());
    res.end('{"key":"sealed"}');
  };
  assert.deepEqual(await calls.post(PATH, { model: 'small' }, shape), { key: 'sealed' });
  assert.deepEqual(seen, ['POST', PATH, `Bearer ${CORE_CREDENTIAL}`, '{"model":"small"}']);
  answer = (_req, res) => void res.writeHead(204).end();
  assert.equal(await calls.post(PATH, {}, z.undefined()), undefined);
});

test('a refusal of core is passed on with its words and its time', async () => {
  assert.deepEqual(await refusal(429, { code: 'rate_limited', detail: 'Wait.' }, { 'retry-after': '7' }), {
    code: 'rate_limited',
    detail: 'Wait.',
    retryAfter: 7,
  });
  assert.deepEqual(await refusal(403, { code: 'grant_missing' }), { code: 'grant_missing' });
  const old = 'The node of this app has an older version. Stop the app and start it again.';
  assert.deepEqual(await refusal(503, { code: 'unavailable', detail: old }), { code: 'unavailable', detail: old });
  assert.deepEqual(await refusal(503, { code: 'runtime_paused', detail: 'Paused.' }, { 'retry-after': '30' }), {
    code: 'runtime_paused',
    detail: 'Paused.',
    retryAfter: 30,
  });
});

test('a core that fails, or answers something else, is unavailable', async () => {
  const unavailable = { code: 'unavailable', retryAfter: 1 };
  assert.deepEqual(await refusal(500, { code: 'internal_error', detail: 'SELECT' }), unavailable);
  assert.deepEqual(await refusal(403, { code: 'no_such_code' }), unavailable);
  assert.deepEqual(await refusal(502, { code: 'unavailable', detail: 'of a proxy' }), unavailable);
  assert.deepEqual(await refusal(200, { key: 1 }), unavailable);
  assert.deepEqual(await refusal(200, 'text'), unavailable);
  answer = (req) => void req.socket.destroy();
  await assert.rejects(calls.post(PATH, {}, shape), (error) => {
    assert.ok(error instanceof CoreRefusal);
    assert.deepEqual(error.refusal, unavailable);
    return true;
  });
  assert.equal(tested.events.length, 1, 'the log tells of the lost connection');
});
