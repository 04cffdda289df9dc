// What ends an AI call from outside: the limits that an operator or owner set, and a provider that never answers. None leaves
// anything reserved.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { intelligenceService } from '../../packages/gateway/test-support/internals.ts';
import { type AskModel, askModel, CHAT, MESSAGES, type ModelAnswer } from '../support/ask-model.ts';
import { type IntelligenceApp, type IntelligenceWorld, startIntelligenceWorld } from '../support/intelligence-world.ts';

const MiB = 1024 * 1024;
const PER_MINUTE = 30;

let world: IntelligenceWorld;
let asker: IntelligenceApp;

before(async () => {
  world = await startIntelligenceWorld({ bodyMiB: 1, requestsPerMinute: PER_MINUTE });
  asker = await world.openApp('asker', ['openai:*', 'anthropic:*']);
});
after(() => world?.close());

const chat = (more: object = {}) => JSON.stringify({ model: 'small', messages: [], ...more });

async function refused(app: IntelligenceApp, given: AskModel, status: number, code: string): Promise<ModelAnswer> {
  const seen = world.provider.seen.length;
  const answer = await askModel(app, given);
  assert.deepEqual([answer.status, JSON.parse(answer.text).code], [status, code], answer.text.slice(0, 300));
  assert.equal(world.provider.seen.length, seen, 'the provider sees nothing of it');
  return answer;
}

test('the largest body is the one that the operator set, declared or in chunks', async () => {
  const { length: around } = chat({ pad: '' });
  const largest = chat({ pad: 'x'.repeat(MiB - around) });
  assert.equal(largest.length, MiB);
  const tooLarge = `${largest} `;
  const chunked = { 'transfer-encoding': 'chunked' };
  await refused(asker, { body: tooLarge }, 413, 'payload_too_large');
  await refused(asker, { body: tooLarge, headers: chunked }, 413, 'payload_too_large');
  for (const headers of [{}, chunked]) {
    const answer = await askModel(asker, { body: largest, headers });
    assert.equal(answer.status, 200, answer.text);
  }
});

test('models that are not granted are refused, whatever the body says beside', async () => {
  const narrow = await world.openApp('narrow', ['openai:small', 'anthropic:large']);
  for (const [path, model] of [
    [CHAT, 'large'],
    [CHAT, 'small-2'],
    [CHAT, 'Small'],
    [CHAT, 'openai:small'],
    [MESSAGES, 'small'],
  ] as const) {
    const answer = await refused(narrow, { path, body: chat({ model }) }, 403, 'grant_missing');
    assert.match(answer.text, /narrow does not request it: its author can add it/);
  }
  assert.equal((await askModel(narrow, { body: chat() })).status, 200);
  await refused(narrow, { path: '/v1/services/intelligence/openai/files', method: 'GET' }, 403, 'grant_missing');
});

test('a rate that is gone is said in each dialect, with the time to come back', async () => {
  const hasty = await world.openApp('hasty', ['openai:*', 'anthropic:*']);
  const gone = (body: string) => /"code":"rate_limited"/.test(body);
  for (const path of [CHAT, MESSAGES]) {
    let answer: ModelAnswer;
    let calls = 0;
    do {
      answer = await askModel(hasty, { path, body: chat() });
      calls += 1;
    } while (!gone(answer.text) && calls <= 2 * PER_MINUTE);
    assert.equal(answer.status, 429, answer.text);
    const seconds = Number(answer.headers['retry-after']);
    assert.ok(seconds >= 1 && seconds <= 60, String(seconds));
    const { error, type } = JSON.parse(answer.text);
    if (path === CHAT) assert.equal(error.code, 'rate_limited');
    else assert.deepEqual([type, error.type], ['error', 'rate_limit_error']);
  }
  const { reserved } = await hasty.settled();
  assert.equal(reserved, 0);
});

test('a provider that hangs, before its answer or within it, ends the call in time and keeps nothing reserved', async () => {
  const { app } = await world.openApp('patient', ['openai:*', 'anthropic:*']);
  const within = (times: { readonly headersTimeout: number; readonly deadline: number }) =>
    world.reopen(app, {
      services: [(context: Parameters<typeof intelligenceService>[0]) => intelligenceService(context, times)],
    });
  let patient = await within({ headersTimeout: 200, deadline: 60_000 });
  for (const path of [CHAT, MESSAGES]) {
    const { tokens } = await patient.usage();
    const body = chat({ model: 'hang' });
    const answer = await askModel(patient, { path, body });
    assert.deepEqual([answer.status, JSON.parse(answer.text).code], [504, 'upstream_timeout'], answer.text);
    const used = await patient.settled();
    // It reached the provider, which may have worked on it.
    assert.deepEqual([used.reserved, used.tokens - tokens], [0, Math.ceil(body.length / 3)]);
  }
  // Time enough for the beginning of an answer on a busy machine.
  patient = await within({ headersTimeout: 60_000, deadline: 6_000 });
  for (const path of [CHAT, MESSAGES]) {
    const slow = await askModel(patient, { path, body: chat({ model: 'slow', stream: true }) });
    assert.deepEqual([slow.status, slow.cut], [200, true]);
    assert.match(slow.text, /Hello/);
    assert.equal((await patient.settled()).reserved, 0);
  }
  assert.equal((await patient.usage()).requests, 4);
});
