// Promises of what a person reads about AI models: what each app may use, what it used, and what that cost.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { AccountIntelligenceUsage, AppIntelligence } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { type GatewaySide, gatewaySide, providersFile } from '../../test-support/intelligence.ts';
import { selectAccountUsage } from './queries.ts';

const NOW = new Date('2026-11-21T10:00:00.000Z');
const MONTH = '2026-11-01';
const providers = providersFile({
  providers: [
    {
      id: 'models',
      baseUrl: 'https://models.example/v1',
      dialect: 'openai',
      platformKeyFile: 'key',
      models: [{ id: 'small', inputPrice: 0.5, outputPrice: 2 }, { id: 'unpriced' }],
    },
  ],
  requestsPerMinute: 120,
  monthlyTokens: 5_000_000,
  currency: 'EUR',
});

let world: Constellation;

before(async () => {
  world = await startConstellation({ clock: () => NOW, config: { intelligenceFile: providers.file } });
});
after(async () => {
  await world.close();
  providers.remove();
});

async function use(gateway: GatewaySide, model: string, inputTokens: number, outputTokens: number): Promise<void> {
  const { reservation } = await gateway.authorized({ model, bodyBytes: 0, outputLimit: 0 });
  await gateway.settle(reservation, { inputTokens, outputTokens, reached: true });
}

function readUsage(account: TestAccount): Promise<AccountIntelligenceUsage> {
  return account.browser.take('/v1/account/intelligence/usage');
}

test('an app’s page can say the operator’s limits, also while the owner’s are lower, and what the app cost', async () => {
  const account = await registerAccount(world, 'reader');
  const gateway = await gatewaySide(world, account, 'priced', ['*']);
  const path = '/v1/apps/priced/intelligence';
  const lowered = await account.fetch(path, {
    method: 'PUT',
    body: { requestsPerMinute: 3, monthlyTokens: 4_000_000 },
  });
  assert.equal(lowered.status, 200, lowered.text);
  await use(gateway, 'small', 1_000_000, 250_000);
  await use(gateway, 'unpriced', 7, 7);
  const { limits, operatorLimits, currency, usage } = await account.browser.take<AppIntelligence>(path);
  assert.deepEqual(limits, { requestsPerMinute: 3, monthlyTokens: 4_000_000 });
  assert.deepEqual(operatorLimits, { requestsPerMinute: 120, monthlyTokens: 5_000_000 });
  assert.equal(currency, 'EUR');
  assert.deepEqual(
    usage.models.map(({ model, cost }) => [model, cost]),
    [
      ['small', 1],
      ['unpriced', null],
    ],
  );
});

test('a month counts the apps that were removed, together, and nothing of other accounts', async () => {
  const account = await registerAccount(world, 'remover');
  const neighbour = await registerAccount(world, 'neighbour');
  const kept = await gatewaySide(world, account, 'kept', ['*']);
  for (const appId of ['gone-one', 'gone-two']) {
    await use(await gatewaySide(world, account, appId, ['*']), 'small', 100, 100);
    assert.equal((await account.fetch(`/v1/apps/${appId}`, { method: 'DELETE' })).status, 204);
  }
  await use(kept, 'small', 10, 10);
  await use(await gatewaySide(world, neighbour, 'other', ['*']), 'small', 1, 1);
  const { month, currency, models } = await readUsage(account);
  assert.deepEqual([month, currency], ['2026-11', 'EUR']);
  const small = { provider: 'models', model: 'small' };
  assert.deepEqual(models, [
    { appId: null, ...small, requests: 2, inputTokens: 200, outputTokens: 200, cost: 0.0005 },
    { appId: 'kept', ...small, requests: 1, inputTokens: 10, outputTokens: 10, cost: 0.000_025 },
  ]);
});

test('an app that is installed again has what it used before', async () => {
  const account = await registerAccount(world, 'returner');
  await use(await gatewaySide(world, account, 'comes-back', ['*']), 'small', 5, 5);
  assert.equal((await account.fetch('/v1/apps/comes-back', { method: 'DELETE' })).status, 204);
  assert.deepEqual(
    (await readUsage(account)).models.map(({ appId }) => appId),
    [null],
  );
  await account.browser.take('/v1/apps', { body: { appId: 'comes-back' } });
  assert.deepEqual(
    (await readUsage(account)).models.map(({ appId }) => appId),
    ['comes-back'],
  );
});

test('models beyond the most that are listed are added up by app', async () => {
  const account = await registerAccount(world, 'collector');
  const gateway = await gatewaySide(world, account, 'many-models', ['*']);
  for (const [place, model] of ['a', 'b', 'c', 'd'].entries()) await use(gateway, model, 10 - place, 0);
  const { database } = world.core.context;
  const { key: accountKey } = await database
    .selectFrom('accounts')
    .select('key')
    .where('name', '=', account.name)
    .executeTakeFirstOrThrow();
  const rows = await selectAccountUsage(database, { accountKey, month: MONTH, most: 2 });
  assert.deepEqual(
    rows.map(({ model, inputTokens }) => [model, inputTokens]),
    [
      ['(other)', '15'],
      ['a', '10'],
      ['b', '9'],
    ],
  );
});
