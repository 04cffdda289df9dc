// Promises of AI calls as core keeps them: grants, rate, budget and placement before a call, its real use after it.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { AppIntelligence } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { problemCode, type RawAnswer } from '../../../../tests/support/raw-http.ts';
import { databaseText } from '../../test-support/database-sweep.ts';
import { type GatewaySide, gatewaySide, PLATFORM_KEY, providersFile } from '../../test-support/intelligence.ts';
import { chargeOne } from './overdue-calls.ts';

const providers = providersFile({
  providers: [
    { id: 'models', baseUrl: 'https://models.example/v1', dialect: 'openai', platformKeyFile: 'key' },
    { id: 'keyless', name: 'Keyless', baseUrl: 'http://10.1.2.3:11434/v1/', dialect: 'openai' },
    { id: 'claude', baseUrl: 'https://claude.example', dialect: 'anthropic', platformKeyFile: 'key' },
  ],
  requestsPerMinute: 60,
  monthlyTokens: 20_000,
});

let world: Constellation;
let account: TestAccount;
let now = Date.parse('2026-11-21T10:00:00.000Z');
let apps = 0;

before(async () => {
  world = await startConstellation({ clock: () => new Date(now), config: { intelligenceFile: providers.file } });
  account = await registerAccount(world, 'modeller');
});
after(async () => {
  await world.close();
  providers.remove();
});

function newApp(...resources: string[]): Promise<GatewaySide> {
  apps += 1;
  return gatewaySide(world, account, `asks-${apps}`, resources);
}

async function readApp({ app }: GatewaySide): Promise<AppIntelligence> {
  return account.browser.take<AppIntelligence>(`/v1/apps/${app.appId}/intelligence`);
}

function refused(answer: RawAnswer): [number, string | undefined] {
  return [answer.status, problemCode(answer)];
}

/** A whole budget, with a full rate. */
function nextMinute(): void {
  now += 60_000;
}

test('a granted call gets the key in an envelope, and the call is reserved until it is settled', async () => {
  const gateway = await newApp('models:small');
  const call = await gateway.authorized({ bodyBytes: 301, outputLimit: 1_000 });
  assert.deepEqual(
    [call.baseUrl, call.dialect, call.outputLimit, call.estimatedInput, call.visibleModels],
    ['https://models.example/v1', 'openai', null, 101, null],
  );
  assert.equal(await gateway.open(call, 'models'), PLATFORM_KEY);
  assert.deepEqual((await readApp(gateway)).usage, {
    month: '2026-11',
    requests: 0,
    tokens: 0,
    reserved: 1_101,
    models: [],
  });
  await gateway.settle(call.reservation, { inputTokens: 80, outputTokens: 20, reached: true });
  const settled = {
    month: '2026-11',
    requests: 1,
    tokens: 100,
    reserved: 0,
    models: [{ provider: 'models', model: 'small', requests: 1, inputTokens: 80, outputTokens: 20, cost: null }],
  };
  assert.deepEqual((await readApp(gateway)).usage, settled);
  await gateway.settle(call.reservation, { inputTokens: 80, outputTokens: 20, reached: true });
  assert.deepEqual((await readApp(gateway)).usage, settled, 'settling again changes nothing');
});

test('models that are not granted, unknown providers and calls without a model are refused', async () => {
  const gateway = await newApp('models:small', 'models:gpt-*', 'claude:*');
  assert.deepEqual(refused(await gateway.authorize({ model: 'large' })), [403, 'grant_missing']);
  assert.deepEqual(refused(await gateway.authorize({ provider: 'keyless' })), [403, 'grant_missing']);
  assert.deepEqual(refused(await gateway.authorize({ provider: 'nobody' })), [404, 'not_found']);
  assert.deepEqual(refused(await gateway.authorize({ model: null, method: 'GET', path: 'files' })), [
    403,
    'grant_missing',
  ]);
  assert.equal((await gateway.authorize({ model: 'gpt-9' })).status, 200);
  const free = { bodyBytes: 0, outputLimit: 0, model: null, method: 'GET' };
  assert.equal((await gateway.authorize({ ...free, provider: 'claude', path: 'v1/files' })).status, 200);
  const list = await gateway.authorized({ ...free, path: 'models' });
  assert.deepEqual(list.visibleModels, ['small', 'gpt-*']);
  assert.equal((await gateway.authorized({ ...free, provider: 'claude', path: 'v1/models' })).visibleModels, null);
});

test('without any grant of the provider even its list of models is refused', async () => {
  const gateway = await newApp('claude:*');
  assert.deepEqual(refused(await gateway.authorize({ model: null, method: 'GET', path: 'models' })), [
    403,
    'grant_missing',
  ]);
});

test('calls at the same time share the rate, and a refusal says when to come back', async () => {
  const gateway = await newApp('*');
  const call = { bodyBytes: 0, outputLimit: 0 };
  const answers = await Promise.all(Array.from({ length: 70 }, () => gateway.authorize(call)));
  const gone = answers.filter(({ status }) => status !== 200);
  assert.equal(gone.length, 10);
  for (const answer of gone) {
    assert.deepEqual(refused(answer), [429, 'rate_limited']);
    assert.equal(answer.headers['retry-after'], '1');
  }
  now += 2_000;
  const next = await Promise.all(Array.from({ length: 4 }, () => gateway.authorize(call)));
  assert.equal(next.filter(({ status }) => status === 200).length, 2);
});

test('calls at the same time cannot reserve more than the budget, and one more is told when the month ends', async () => {
  const gateway = await newApp('*');
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => gateway.authorize({ bodyBytes: 3_000, outputLimit: 1_000 })),
  );
  assert.equal(answers.filter(({ status }) => status === 200).length, 10);
  const gone = answers.find(({ status }) => status !== 200);
  assert.ok(gone !== undefined);
  assert.deepEqual(refused(gone), [429, 'budget_exhausted']);
  assert.ok(Math.abs(Number(gone.headers['retry-after']) - (Date.UTC(2026, 11) - now) / 1_000) <= 1);
  assert.equal((await readApp(gateway)).usage.reserved, 20_000);
});

test('a call without a limit of its own gets 16,384 output tokens, or what is left, which is to be written into it', async () => {
  const gateway = await newApp('*');
  const whole = await gateway.authorized({ bodyBytes: 300, outputLimit: null });
  assert.equal(whole.outputLimit, 16_384);
  assert.equal((await readApp(gateway)).usage.reserved, 16_484);
  const rest = await gateway.authorized({ bodyBytes: 300, outputLimit: null });
  assert.equal(rest.outputLimit, 20_000 - 16_484 - 100);
  assert.deepEqual(refused(await gateway.authorize({ bodyBytes: 3, outputLimit: null })), [429, 'budget_exhausted']);
  await gateway.settle(whole.reservation, { inputTokens: 5, outputTokens: 5, reached: true });
  await gateway.settle(rest.reservation, { inputTokens: 0, outputTokens: 0, reached: false });
  const { usage } = await readApp(gateway);
  assert.deepEqual([usage.requests, usage.tokens, usage.reserved], [1, 10, 0]);
});

test('a month ends at midnight UTC: the budget is whole again, and late settlements count in their own month', async () => {
  const gateway = await newApp('*');
  const former = now;
  const call = await gateway.authorized({ bodyBytes: 3, outputLimit: 19_999 });
  now = Date.UTC(2026, 11, 1, 0, 0, 0);
  try {
    assert.deepEqual((await readApp(gateway)).usage.reserved, 0);
    const next = await gateway.authorized({ bodyBytes: 3, outputLimit: 19_999 });
    await gateway.settle(call.reservation, { inputTokens: 10, outputTokens: 10, reached: true });
    const { usage } = await readApp(gateway);
    assert.deepEqual([usage.month, usage.requests, usage.tokens, usage.reserved], ['2026-12', 0, 0, 20_000]);
    await gateway.settle(next.reservation, { inputTokens: 1, outputTokens: 1, reached: true });
    assert.equal((await readApp(gateway)).usage.tokens, 2);
  } finally {
    now = former;
  }
});

test('a reservation whose Gateway is not heard of is charged in full, and a late answer corrects it', async () => {
  const gateway = await newApp('*');
  const call = await gateway.authorized({ bodyBytes: 300, outputLimit: 900 });
  now += 9 * 60_000;
  const { app } = gateway;
  assert.equal(await chargeOne(world.core.context, world.core.context.time.proven()), false, 'not before its time');
  now += 61_000;
  while (await chargeOne(world.core.context, world.core.context.time.proven()));
  const charged = (await readApp(gateway)).usage;
  assert.deepEqual([charged.requests, charged.tokens, charged.reserved], [1, 1_000, 0]);
  assert.deepEqual(charged.models, [
    { provider: 'models', model: 'small', requests: 1, inputTokens: 100, outputTokens: 900, cost: null },
  ]);
  await gateway.settle(call.reservation, { inputTokens: 30, outputTokens: 12, reached: true });
  const corrected = (await readApp(gateway)).usage;
  assert.deepEqual([corrected.requests, corrected.tokens, corrected.reserved], [1, 42, 0]);
  const { rows } = await world.core.context.pool.query(
    'SELECT count(*)::int AS count FROM intelligence_reservations WHERE installation_id = $1',
    [app.installationId],
  );
  assert.deepEqual(rows, [{ count: 0 }]);
});

test('an owner lowers the limits of an app, never above the operator’s, and lifts them again', async () => {
  const gateway = await newApp('*');
  const path = `/v1/apps/${gateway.app.appId}/intelligence`;
  const put = (body: object) => account.fetch(path, { method: 'PUT', body });
  assert.deepEqual((await readApp(gateway)).limits, { requestsPerMinute: 60, monthlyTokens: 20_000 });
  assert.deepEqual(refused(await put({ monthlyTokens: 20_001 })), [400, 'invalid_request']);
  assert.deepEqual(refused(await put({ requestsPerMinute: 0 })), [400, 'invalid_request']);
  assert.equal((await put({ monthlyTokens: 500 })).status, 200);
  assert.equal((await put({ requestsPerMinute: 2 })).status, 200);
  assert.deepEqual((await readApp(gateway)).limits, { requestsPerMinute: 2, monthlyTokens: 500 });
  assert.deepEqual(refused(await gateway.authorize({ bodyBytes: 0, outputLimit: 501 })), [429, 'budget_exhausted']);
  assert.equal((await gateway.authorize({ bodyBytes: 0, outputLimit: 500 })).status, 200);
  assert.deepEqual(refused(await gateway.authorize({ bodyBytes: 0, outputLimit: 0 })), [429, 'rate_limited']);
  assert.equal((await put({ requestsPerMinute: null, monthlyTokens: null })).status, 200);
  assert.deepEqual((await readApp(gateway)).limits, { requestsPerMinute: 60, monthlyTokens: 20_000 });
});

test('an own key is used where one is set, can be left aside for the platform’s, and cannot be read', async () => {
  const gateway = await newApp('*');
  const own = 'sk-own-canary-51f0';
  const route = (id: string) => `/v1/account/intelligence/${id}`;
  const call = () => gateway.authorized({ provider: 'models', bodyBytes: 0, outputLimit: 0 });
  const listed = async () => {
    const { items } = await account.browser.take<{ items: { provider: string; keySet: boolean; source: unknown }[] }>(
      '/v1/account/intelligence',
    );
    return items.map(({ provider, keySet, source }) => [provider, keySet, source]);
  };
  assert.deepEqual(await listed(), [
    ['models', false, 'platform'],
    ['keyless', false, null],
    ['claude', false, 'platform'],
  ]);
  const without = await gateway.authorize({ provider: 'keyless' });
  assert.deepEqual(refused(without), [403, 'not_authorized']);
  assert.match(without.text, /Settings → AI/);
  assert.equal((await account.fetch(route('nobody/key'), { method: 'PUT', body: { key: own } })).status, 404);
  assert.equal((await account.fetch(route('models'), { method: 'PATCH', body: { source: 'account' } })).status, 400);
  assert.equal((await account.fetch(route('models/key'), { method: 'PUT', body: { key: 'two words' } })).status, 400);
  for (const id of ['models', 'keyless'])
    assert.equal((await account.fetch(route(`${id}/key`), { method: 'PUT', body: { key: own } })).status, 204);
  assert.deepEqual(await listed(), [
    ['models', true, 'account'],
    ['keyless', true, 'account'],
    ['claude', false, 'platform'],
  ]);
  assert.equal(await gateway.open(await call(), 'models'), own);
  assert.equal((await account.fetch(route('models'), { method: 'PATCH', body: { source: 'platform' } })).status, 200);
  assert.equal(await gateway.open(await call(), 'models'), PLATFORM_KEY);
  assert.equal((await account.fetch(route('keyless'), { method: 'PATCH', body: { source: 'platform' } })).status, 400);
  assert.doesNotMatch(await databaseText(world.core.context.pool), /sk-(?:own|platform)-canary/);
  for (const id of ['models', 'keyless'])
    assert.equal((await account.fetch(route(`${id}/key`), { method: 'DELETE' })).status, 204);
  assert.equal(await gateway.open(await call(), 'models'), PLATFORM_KEY);
});

test('the platform’s key is used on machines of the platform alone, an own key everywhere', async () => {
  const gateway = await newApp('*');
  const { pool } = world.core.context;
  await pool.query("UPDATE nodes SET labels = '{self-hosted}'");
  try {
    const refusal = await gateway.authorize();
    assert.deepEqual(refused(refusal), [403, 'placement_not_allowed']);
    assert.match(refusal.text, /key of your own works/);
    await account.fetch('/v1/account/intelligence/models/key', { method: 'PUT', body: { key: 'sk-own' } });
    assert.equal((await gateway.authorize()).status, 200);
    await account.fetch('/v1/account/intelligence/models/key', { method: 'DELETE' });
  } finally {
    await pool.query("UPDATE nodes SET labels = '{platform-hosted}'");
  }
});

test('a Gateway without a key for envelopes is told to start the app anew', async () => {
  const gateway = await newApp('*');
  const answer = await gateway.app.call('/v1/gateway/intelligence/authorize', {
    body: {
      reservation: `res-${randomUUID()}`,
      provider: 'models',
      model: 'm',
      method: 'POST',
      path: 'x',
      bodyBytes: 1,
      outputLimit: 1,
    },
  });
  // Its own start, without a key, was replaced by the one with a key.
  assert.equal(answer.status, 401);
  await gateway.app.restart();
  const old = await gateway.app.call('/v1/gateway/intelligence/authorize', {
    body: {
      reservation: `res-${randomUUID()}`,
      provider: 'models',
      model: 'm',
      method: 'POST',
      path: 'x',
      bodyBytes: 1,
      outputLimit: 1,
    },
  });
  assert.deepEqual(refused(old), [503, 'unavailable']);
});

test('models beyond 200 a month are counted together', async () => {
  const gateway = await newApp('*');
  for (let index = 0; index < 203; index += 1) {
    if (index % 50 === 0) nextMinute();
    const call = await gateway.authorized({ model: `m-${index}`, bodyBytes: 0, outputLimit: 0 });
    await gateway.settle(call.reservation, { inputTokens: 1, outputTokens: 1, reached: true });
  }
  const { usage } = await readApp(gateway);
  assert.equal(usage.models.length, 201);
  assert.deepEqual(
    usage.models.find(({ model }) => model === '(other)'),
    { provider: 'models', model: '(other)', requests: 3, inputTokens: 3, outputTokens: 3, cost: null },
  );
  assert.deepEqual([usage.requests, usage.tokens], [203, 406]);
});

test('a changed file is read again, and a wrong one keeps the former', async () => {
  const gateway = await newApp('*');
  const good = { id: 'models', baseUrl: 'https://other.example/v1', dialect: 'openai', platformKeyFile: 'key' };
  providers.write({ providers: [good], requestsPerMinute: 1_000 });
  await world.core.reload();
  assert.equal((await gateway.authorized()).baseUrl, 'https://other.example/v1');
  assert.deepEqual(refused(await gateway.authorize({ provider: 'claude' })), [404, 'not_found']);
  providers.write({ providers: [{ ...good, dialect: 'esperanto' }] });
  await assert.rejects(world.core.reload(), /providers\.0\.dialect: must be "openai" or "anthropic"/);
  assert.equal((await gateway.authorized()).baseUrl, 'https://other.example/v1');
});

test('on a platform without any provider a call says so, and what the person can do', async () => {
  const gateway = await newApp('*');
  providers.write({ providers: [] });
  await world.core.reload();
  const answer = await gateway.authorize();
  assert.deepEqual(refused(answer), [503, 'unavailable']);
  assert.match(answer.text, /has no AI provider yet. Its operator can add one in Fleet, or as docs\/operators.md/);
});
