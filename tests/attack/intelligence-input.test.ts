// What an app may send as an AI call and what a provider may answer: everything that is wrong is refused before it reaches
// the provider, and whatever the provider does, nothing stays reserved.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { after, before, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { type AskModel, askModel, CHAT, MESSAGES, type ModelAnswer } from '../support/ask-model.ts';
import { type IntelligenceApp, type IntelligenceWorld, startIntelligenceWorld } from '../support/intelligence-world.ts';
import { until } from '../support/wait.ts';

const MiB = 1024 * 1024;

let world: IntelligenceWorld;
let asker: IntelligenceApp;
/** May run the model `small` and nothing else. */
let narrow: IntelligenceApp;

before(async () => {
  world = await startIntelligenceWorld({ monthlyTokens: 1e11 });
  asker = await world.openApp('asker', ['openai:*', 'anthropic:*']);
  narrow = await world.openApp('narrow', ['openai:small', 'anthropic:small']);
});
after(() => world?.close());

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** What is still in use: resident pages would count garbage too. */
function liveBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

interface Ask extends AskModel {
  /** Default: `asker`. */
  readonly app?: IntelligenceApp;
}

const ask = ({ app = asker, ...given }: Ask): Promise<ModelAnswer> => askModel(app, given);

const chat = (more: object = {}) => JSON.stringify({ model: 'small', messages: [], ...more });

async function refused(given: Ask, status: number, code: string): Promise<ModelAnswer> {
  const seen = world.provider.seen.length;
  const answer = await ask(given);
  assert.deepEqual([answer.status, JSON.parse(answer.text).code], [status, code], answer.text.slice(0, 300));
  assert.equal(world.provider.seen.length, seen, 'the provider sees nothing of it');
  return answer;
}

const boundary = 'b0undary';
const form = (...parts: string[]) => ({
  path: '/v1/services/intelligence/openai/audio/transcriptions',
  headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  body: `${parts.map((part) => `--${boundary}\r\n${part}\r\n`).join('')}--${boundary}--\r\n`,
});
const field = (name: string, value: string) => `Content-Disposition: form-data; name="${name}"\r\n\r\n${value}`;

const wrong: Readonly<Record<string, readonly [Ask, number, string]>> = {
  'no model': [{ body: '{"messages":[]}' }, 400, 'invalid_request'],
  'a model of null': [{ body: chat({ model: null }) }, 400, 'invalid_request'],
  'a model that is a number': [{ body: chat({ model: 7 }) }, 400, 'invalid_request'],
  'a model with a line break': [{ body: chat({ model: 'a\nb' }) }, 400, 'invalid_request'],
  'the model twice': [{ body: '{"model":"small","model":"large"}' }, 400, 'invalid_request'],
  'the model twice, once escaped': [{ body: '{"model":"small","mod\\u0065l":"large"}' }, 400, 'invalid_request'],
  'the model twice, once in capitals': [{ body: '{"model":"small","Model":"large"}' }, 400, 'invalid_request'],
  'a limit twice, with a letter that folds to s': [
    { body: '{"model":"small","max_tokens":1,"max_token\u017f":9}' },
    400,
    'invalid_request',
  ],
  'a comment': [{ body: '{"model":"small" /* "model":"large" */}' }, 400, 'invalid_request'],
  'brackets that do not match': [{ body: '{"model":"small","x":[}]}' }, 400, 'invalid_request'],
  'a second object': [{ body: `${chat()}${chat()}` }, 400, 'invalid_request'],
  'half an object': [{ body: '{"model":"small"' }, 400, 'invalid_request'],
  'a list': [{ body: '["model"]' }, 400, 'invalid_request'],
  'a string without an end': [{ body: '{"model":"small\\"' }, 400, 'invalid_request'],
  'UTF-16': [{ body: Buffer.from(chat(), 'utf16le') }, 400, 'invalid_request'],
  'a byte order mark': [{ body: `\ufeff${chat()}` }, 400, 'invalid_request'],
  'nesting of 10,000': [
    { body: `{"model":"small","x":${'['.repeat(10_000)}${']'.repeat(10_000)}}` },
    400,
    'invalid_request',
  ],
  'a limit below zero': [{ body: chat({ max_tokens: -1 }) }, 400, 'invalid_request'],
  'a limit that is text': [{ body: chat({ max_tokens: '5' }) }, 400, 'invalid_request'],
  'a limit below zero, under a name of another server': [{ body: chat({ n_predict: -1 }) }, 400, 'invalid_request'],
  'a stream that is a number': [{ body: chat({ stream: 1 }) }, 400, 'invalid_request'],
  'a call in the background': [
    { path: '/v1/services/intelligence/openai/responses', body: chat({ background: true }) },
    400,
    'invalid_request',
  ],
  'more models than one': [{ body: chat({ models: ['large'] }) }, 400, 'invalid_request'],
  'a model to fall back to': [{ body: chat({ fallbacks: ['large'] }) }, 400, 'invalid_request'],
  '2,000 prompts': [
    { path: '/v1/services/intelligence/openai/completions', body: chat({ prompt: Array(2_000).fill('a') }) },
    400,
    'invalid_request',
  ],
  'ten prompts of two hundred answers': [
    { path: '/v1/services/intelligence/openai/completions', body: chat({ prompt: Array(10).fill([1]), n: 200 }) },
    400,
    'invalid_request',
  ],
  'an encoding in which other bytes are quotes': [
    { body: chat(), headers: { 'content-type': 'application/json; charset=utf-7' } },
    415,
    'unsupported_media_type',
  ],
  'a member that is long': [{ body: chat({ stream_options: { a: Array(100_000).fill({}) } }) }, 400, 'invalid_request'],
  'more members than anything has names for': [
    { body: `{"model":"small"${',"a":1'.repeat(20_000)}}` },
    400,
    'invalid_request',
  ],
  'another method in a header': [
    { method: 'GET', body: chat(), headers: { 'x-http-method-override': 'POST' } },
    400,
    'invalid_request',
  ],
  'another method in the query': [{ path: `${CHAT}?%5Fmethod=PUT`, body: chat() }, 400, 'invalid_request'],
  ...Object.fromEntries(
    [
      'batches',
      'v1/batches',
      'fine_tuning/jobs',
      'realtime/client_secrets',
      'Realtime//sessions',
      'chatkit/sessions',
    ].map((path) => [
      `a call to ${path}, which cannot be counted or hands out a key`,
      [{ path: `/v1/services/intelligence/openai/${path}`, body: chat() }, 400, 'invalid_request'] as const,
    ]),
  ),
  'a batch of messages': [{ path: `${MESSAGES}/batches`, body: chat() }, 400, 'invalid_request'],
  'a million answers': [{ body: chat({ n: 1_000_000 }) }, 400, 'invalid_request'],
  'options of a stream that are a list': [{ body: chat({ stream: true, stream_options: [] }) }, 400, 'invalid_request'],
  'a compressed body': [
    { body: gzipSync(chat()), headers: { 'content-encoding': 'gzip' } },
    415,
    'unsupported_media_type',
  ],
  'two content encodings': [
    { body: chat(), headers: { 'content-encoding': ['identity', 'gzip'] } },
    400,
    'invalid_request',
  ],
  'another media type': [{ body: chat(), headers: { 'content-type': 'text/plain' } }, 415, 'unsupported_media_type'],
  'two media types': [
    { body: chat(), headers: { 'content-type': ['application/json', 'multipart/form-data'] } },
    400,
    'invalid_request',
  ],
  'a form with two models': [form(field('model', 'small'), field('model', 'large')), 400, 'invalid_request'],
  'a form with a model in capitals': [form(field('model', 'small'), field('MODEL', 'x')), 400, 'invalid_request'],
  'a form with a second name': [
    form('Content-Disposition: form-data; name="x"; name="model"\r\n\r\nsmall'),
    400,
    'invalid_request',
  ],
  'a form with an encoded name': [
    form("Content-Disposition: form-data; name*=UTF-8''model\r\n\r\nsmall"),
    400,
    'invalid_request',
  ],
  'a form with a field behind another kind of line break': [
    form(
      field('model', 'small'),
      `${field('x', 'y')}\n--${boundary}\nContent-Disposition: form-data; name="model"\n\nlarge`,
    ),
    400,
    'invalid_request',
  ],
  'a form with a field behind its end': [
    { ...form(), body: `${form(field('model', 'small')).body}--${boundary}\r\n${field('model', 'large')}\r\n` },
    400,
    'invalid_request',
  ],
  'a form with a line break in a head that only some see': [
    form(`Content-Disposition: form-data; name="model"\r\nX-A: b\n\nlarge\r\n\r\nsmall`),
    400,
    'invalid_request',
  ],
  'a form with an encoded model': [
    form(`Content-Disposition: form-data; name="model"\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n=73mall`),
    400,
    'invalid_request',
  ],
  'a form without a boundary': [
    { ...form(field('model', 'small')), headers: { 'content-type': 'multipart/form-data' } },
    400,
    'invalid_request',
  ],
  'a form with something before it': [
    { ...form(field('model', 'small')), body: `x\r\n--${boundary}--\r\n` },
    400,
    'invalid_request',
  ],
  'an unknown provider': [{ path: '/v1/services/intelligence/nobody/chat', body: chat() }, 404, 'not_found'],
  'a provider with a name that every object has': [
    { path: '/v1/services/intelligence/constructor/chat', body: chat() },
    404,
    'not_found',
  ],
  'the same without a credential': [
    { path: '/v1/services/intelligence/constructor/chat', body: chat(), headers: { authorization: [] } },
    401,
    'unauthenticated',
  ],
  'no provider': [{ path: '/v1/services/intelligence/', body: chat() }, 404, 'not_found'],
  'a provider in capitals': [{ path: '/v1/services/intelligence/OpenAI/chat', body: chat() }, 404, 'not_found'],
  'dots in the path': [{ path: '/v1/services/intelligence/openai/%2e%2e/x', body: chat() }, 400, 'invalid_path'],
  'no credential': [{ body: chat(), headers: { authorization: [] } }, 401, 'unauthenticated'],
  'two credentials': [{ body: chat(), headers: { 'x-api-key': 'pgw_x' } }, 401, 'unauthenticated'],
};

for (const [name, [given, status, code]] of Object.entries(wrong)) {
  test(`refused: ${name}`, async () => {
    await refused(given, status, code);
  });
}

test('a path with a name that every object has is a path like any other', async () => {
  for (const path of ['constructor', '__proto__', 'toString'])
    assert.equal((await ask({ path: `/v1/services/intelligence/openai/${path}`, body: chat() })).status, 200, path);
  await asker.settled();
});

/** Method and path of calls that do not run the model of their body, or might run another. */
const ofProvider = [
  ['GET', 'openai/files'],
  ['GET', 'openai/files/file-1/content'],
  ['GET', 'openai/chat/completions'],
  ['GET', 'openai/responses/resp-1'],
  ['DELETE', 'openai/files/file-1'],
  ['DELETE', 'openai/models/small'],
  ['DELETE', 'openai/responses/resp-1'],
  ['PUT', 'openai/chat/completions'],
  ['POST', 'openai/files'],
  ['POST', 'openai/vector_stores'],
  ['POST', 'openai/responses/resp-1/cancel'],
  ['POST', 'openai/engines/large/completions'],
  ['POST', 'openai/deployments/large/chat/completions'],
  ['POST', 'openai/containers'],
  ['GET', 'openai/files/models'],
  ['GET', 'anthropic/v1/files'],
  ['POST', 'anthropic/v1/files'],
  ['DELETE', 'anthropic/v1/messages/batches/1'],
] as const;

for (const [method, path] of ofProvider) {
  test(`a grant of one model does not allow ${method} ${path}, whatever model its body names`, async () => {
    const given = { app: narrow, method, path: `/v1/services/intelligence/${path}` };
    const upload = form(field('model', 'small'), field('purpose', 'batch'));
    await refused({ ...given, body: chat() }, 403, 'grant_missing');
    await refused({ ...given, headers: upload.headers, body: upload.body }, 403, 'grant_missing');
  });
}

test('an app without the provider is refused before anything of its body is kept', async () => {
  const answer = await ask({ path: '/v1/services/intelligence/nobody/x', headers: { 'content-length': '30000000' } });
  assert.equal(answer.status, 404);
});

/** Of a chat, as servers may read it. */
for (const path of [
  'chat/completions/',
  'chat//completions',
  '%63hat/completions',
  'Chat/Completions',
  'chat/completions;a=b',
]) {
  test(`the limits of a chat hold on openai/${path} too`, async () => {
    await refused(
      { path: `/v1/services/intelligence/openai/${path}`, body: chat({ n: 1_000, max_tokens: 1e9 }) },
      429,
      'budget_exhausted',
    );
  });
}

test('the largest limit counts, under whichever name a server may read it', async () => {
  for (const name of ['max_tokens', 'max_output_tokens', 'n_predict', 'num_predict', 'max_new_tokens'])
    await refused({ body: chat({ max_completion_tokens: 1, [name]: 1e9, n: 1_000 }) }, 429, 'budget_exhausted');
});

test('two fields of Authorization are refused, also beside a right key', async () => {
  const right = asker.token;
  await refused(
    { body: chat(), headers: { authorization: ['Bearer a', 'Bearer b'], 'x-api-key': right } },
    401,
    'unauthenticated',
  );
  await refused({ body: chat(), headers: { authorization: [], 'x-api-key': [right, right] } }, 401, 'unauthenticated');
});

test('a refusal is a problem document with the error that clients of each dialect read', async () => {
  const openai = JSON.parse((await refused({ body: '{}' }, 400, 'invalid_request')).text);
  assert.deepEqual(openai.error, {
    message: openai.detail,
    type: 'invalid_request_error',
    param: null,
    code: 'invalid_request',
  });
  assert.equal(openai.type, 'urn:platform:error:invalid_request');
  const answer = await ask({ path: MESSAGES, body: '{}' });
  const anthropic = JSON.parse(answer.text);
  assert.deepEqual([anthropic.type, anthropic.error.type], ['error', 'invalid_request_error']);
  const strange = await ask({ path: MESSAGES, body: '{}', headers: { authorization: 'Bearer x' } });
  assert.deepEqual(
    [JSON.parse(strange.text).type, JSON.parse(strange.text).error.type],
    ['error', 'authentication_error'],
  );
});

test('a body over its limit is refused, declared or not, and one below passes with the model at its very end', async () => {
  const tooLarge = chat({ pad: 'x'.repeat(40 * MiB) });
  await refused({ body: tooLarge }, 413, 'payload_too_large');
  await refused({ body: tooLarge, headers: { 'transfer-encoding': 'chunked' } }, 413, 'payload_too_large');
  const large = JSON.stringify({
    messages: [],
    max_tokens: 9,
    pad: 'x'.repeat(10 * MiB),
    list: Array(200_000).fill([1]),
    model: 'small',
  });
  const answer = await ask({ body: large });
  assert.equal(answer.status, 200, answer.text.slice(0, 200));
  assert.equal(world.provider.seen.at(-1)?.body.toString(), large, 'byte for byte');
  await asker.settled();
});

test('what the Gateway adds to a body changes no other byte', async () => {
  const body =
    '{ "temperature" : 1.00, "max_tokens": 9, "model":"small",\n"stream":true, "x":12345678901234567890, "stream_options" : {"a":1} }';
  await ask({ body });
  assert.equal(world.provider.seen.at(-1)?.body.toString(), body.replace('{"a":1}', '{"a":1,"include_usage":true}'));
  await ask({ body: '{"model":"small","stream":true}' });
  // The limit that is reserved, too.
  assert.equal(
    world.provider.seen.at(-1)?.body.toString(),
    '{"max_completion_tokens":16384,"stream_options":{"include_usage":true},"model":"small","stream":true}',
  );
});

test('when little is left of the month its limit is written into the body, once for each answer', async () => {
  await asker.settled();
  const limit = async (monthlyTokens: number | null) => {
    const { tokens } = await asker.settled();
    const body = { monthlyTokens: monthlyTokens === null ? null : tokens + monthlyTokens };
    const answer = await world.account.fetch('/v1/apps/asker/intelligence', { method: 'PUT', body });
    assert.equal(answer.status, 200, answer.text);
  };
  try {
    const body = '{"model":"small","n":2,"messages":[]}';
    await limit(1_000);
    assert.equal((await ask({ body })).status, 200);
    const each = Math.floor((1_000 - Math.ceil(body.length / 3)) / 2);
    assert.equal(
      world.provider.seen.at(-1)?.body.toString(),
      `{"max_completion_tokens":${each},"model":"small","n":2,"messages":[]}`,
    );
    await limit(0);
    const gone = await refused({ body }, 429, 'budget_exhausted');
    assert.ok(Number(gone.headers['retry-after']) > 0);
    assert.equal(gone.headers['x-should-retry'], 'false');
    await refused({ body: chat({ max_tokens: 5_000, n: 3 }) }, 429, 'budget_exhausted');
  } finally {
    await limit(null);
  }
});

async function usedBy(given: Ask): Promise<{ answer: ModelAnswer; requests: number; tokens: number }> {
  const former = await asker.settled();
  const answer = await ask(given);
  const now = await asker.settled();
  return { answer, requests: now.requests - former.requests, tokens: now.tokens - former.tokens };
}

for (const model of ['no-usage', 'negative', 'absurd', 'fraction', 'text']) {
  test(`usage that is ${model} is not believed: the estimate counts, whole and streamed`, async () => {
    for (const path of [CHAT, MESSAGES]) {
      const body = chat({ model });
      const { requests, tokens } = await usedBy({ path, body });
      // 32 bytes of text.
      assert.deepEqual([requests, tokens], [1, Math.ceil(body.length / 3) + 11], path);
    }
    const body = chat({ model, stream: true });
    assert.equal((await usedBy({ body })).tokens, Math.ceil(body.length / 3) + 11);
  });
}

test('half a stream is cut off at the app too, and counts with what came', async () => {
  for (const path of [CHAT, MESSAGES]) {
    const body = chat({ model: 'half', stream: true });
    const { answer, requests, tokens } = await usedBy({ path, body });
    assert.ok(answer.cut && answer.text.includes(' from'), path);
    assert.deepEqual([requests, tokens], [1, Math.ceil(body.length / 3) + 4]);
  }
});

test('errors of the provider cost nothing and pass as they are', async () => {
  for (const status of [401, 429, 500, 529]) {
    const { answer, requests, tokens } = await usedBy({ body: chat({ model: String(status) }) });
    assert.deepEqual([answer.status, requests, tokens], [status, 1, 0]);
    assert.equal(
      answer.text,
      `{"error":${JSON.stringify({
        type: status === 529 ? 'overloaded_error' : 'api_error',
        message: `scripted ${status}`,
        param: null,
        code: null,
      })}}`,
    );
    assert.equal(answer.headers['retry-after'], status === 429 ? '7' : undefined);
  }
});

test('a redirect of the provider ends here: clients would follow it with the Gateway credential', async () => {
  for (const model of ['301', '302', '303', '307', '308']) {
    const { answer, tokens } = await usedBy({ body: chat({ model }) });
    assert.deepEqual([answer.status, JSON.parse(answer.text).code, tokens], [502, 'upstream_redirect_refused', 0]);
    assert.equal(answer.headers.location, undefined);
  }
});

test('a part of the list of models shows no more than the whole', async () => {
  const given = { app: narrow, method: 'GET', path: '/v1/services/intelligence/openai/models' };
  const { status, text } = await ask({ ...given, headers: { range: 'bytes=0-', 'content-type': [] } });
  assert.equal(status, 206);
  assert.deepEqual(JSON.parse(text).data, [{ id: 'small', object: 'model' }]);
});

test('a line of 100 MB without an end passes without being kept', async () => {
  const before = liveBytes();
  let received = 0;
  let most = 0;
  await new Promise<void>((resolve, reject) => {
    const request = httpRequest(
      {
        ...{ host: '127.0.0.1', port: asker.port, method: 'POST', path: CHAT, agent: false },
        headers: { authorization: `Bearer ${asker.token}`, 'content-type': 'application/json' },
      },
      (response) => {
        response.on('data', (part: Buffer) => {
          // All parts run in this process; ten looks are enough to see a line that is kept.
          if (Math.floor((received + part.length) / (10 * MiB)) > Math.floor(received / (10 * MiB)))
            most = Math.max(most, liveBytes() - before);
          received += part.length;
        });
        response.on('end', resolve).on('error', reject);
      },
    );
    request.on('error', reject).end(chat({ model: 'long-line', stream: true }));
  });
  assert.equal(received, 100 * MiB + 6);
  assert.ok(most < 60 * MiB, `${Math.round(most / MiB)} MiB more`);
  await asker.settled();
});

test('bodies of one app that wait together are bounded', async () => {
  const large = chat({ model: 'hang', max_tokens: 9, pad: randomBytes(9 * MiB).toString('hex') });
  const answers = Array.from({ length: 6 }, () => ask({ body: large }).catch(() => null));
  let refused = 0;
  for (const answer of answers) void answer.then((ended) => (refused += ended?.status === 429 ? 1 : 0));
  const first = await Promise.race(answers);
  assert.deepEqual([first?.status, JSON.parse(first?.text ?? '{}').code], [429, 'concurrency_limited']);
  const arrived = () => world.provider.seen.filter(({ body }) => body.length === large.length).length;
  // Not before the others are refused: what one leaves free the next one takes.
  await until('those that were let through', () => arrived() >= 3 && refused >= 3);
  world.provider.release();
  const statuses = (await Promise.all(answers)).map((answer) => answer?.status);
  assert.equal(statuses.filter((status) => status === 502).length, 3, 'those that hung up at the provider');
  await asker.settled();
});
