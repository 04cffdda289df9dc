// Promises of what the master account sets in Fleet: it counts everywhere at once, a passkey confirms exactly it, the operator's
// files win, keys are sealed and never shown, and each change is on record.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { AccountProvider, ConfirmedOperation, OperatorSettings, SettingChange } from '@platform/contract';
import { subjectOfProvider, subjectOfSetting } from '@platform/contract/setting-subjects';
import { confirm, registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation, type TestCore } from '../../../../tests/support/constellation.ts';
import { problemCode, type RawAnswer, rawRequest } from '../../../../tests/support/raw-http.ts';
import { until } from '../../../../tests/support/wait.ts';
import { databaseText } from '../../test-support/database-sweep.ts';
import { gatewaySide, providersFile } from '../../test-support/intelligence.ts';
import { tryPlatformKeys } from '../settings/sealed-key.ts';

const KEY = 'sk-fleet-canary-51d0a2';
const PROVIDERS = '/v1/operator/providers';
const SETTINGS = '/v1/operator/settings';

const file = providersFile({
  providers: [{ id: 'filed', baseUrl: 'https://filed.example/v1', dialect: 'openai', platformKeyFile: 'key' }],
  monthlyTokens: 20_000,
});

let world: Constellation;
let other: TestCore;
/** With `PLATFORM_REGISTRATION=closed`. */
let filed: TestCore;
let master: TestAccount;
let guest: TestAccount;
let count = 0;

before(async () => {
  const config = { masterAccount: 'landlord', registration: null, defaultPlan: null, intelligenceFile: file.file };
  world = await startConstellation({ config });
  const own = { ...world.core.context.config, listenPort: 0 };
  filed = await world.replica({ config: { ...own, registration: 'closed' } });
  other = await world.replica({ config: own });
  // Each start of a core gives the node of the machine another credential.
  world = { ...world, core: { ...world.core, localNode: other.localNode } };
  master = await registerAccount(world, 'landlord');
  guest = await registerAccount(world, 'guest');
});
after(async () => {
  await world.close();
  file.remove();
});

const read = () => master.browser.take<OperatorSettings>(SETTINGS);
const sourceOf = ({ source, value }: { readonly source: string; readonly value: unknown }) => [source, value];

async function set(setting: string, value: string | number | null, who = master): Promise<RawAnswer> {
  const subject = subjectOfSetting(setting as 'registration', value);
  const confirmation = await confirm(who, 'operator.setting.change', subject);
  return who.fetch(`${SETTINGS}/${setting}`, { method: 'PUT', body: { value, confirmation } });
}

async function setProvider(id: string, body: { readonly baseUrl: string; readonly [member: string]: unknown }) {
  const confirmation = await confirm(master, 'operator.provider.set', subjectOfProvider(id, body.baseUrl));
  return master.fetch(`${PROVIDERS}/${id}`, { method: 'PUT', body: { dialect: 'openai', ...body, confirmation } });
}

async function removeProvider(id: string): Promise<RawAnswer> {
  const confirmation = await confirm(master, 'operator.provider.remove', id);
  return master.fetch(`${PROVIDERS}/${id}`, { method: 'DELETE', body: { confirmation } });
}

function ok(answer: RawAnswer): OperatorSettings {
  assert.equal(answer.status, 200, answer.text);
  return answer.json as OperatorSettings;
}

function refused(answer: RawAnswer, status: number, code: string, words?: RegExp): void {
  assert.deepEqual([answer.status, problemCode(answer)], [status, code], answer.text);
  if (words !== undefined) assert.match(answer.text, words);
}

function newId(): string {
  count += 1;
  return `added-${count}`;
}

const providerOf = ({ providers }: OperatorSettings, id: string) => providers.find(({ provider }) => provider === id);

async function listed(id: string): Promise<AccountProvider | undefined> {
  const { items } = await guest.browser.take<{ items: AccountProvider[] }>('/v1/account/intelligence');
  return items.find(({ provider }) => provider === id);
}

describe('settings', () => {
  test('what nobody said is the default, and what the files say is theirs', async () => {
    const settings = await read();
    assert.deepEqual(sourceOf(settings.registration), ['default', 'open']);
    assert.deepEqual(sourceOf(settings.defaultPlan), ['default', 'free']);
    assert.deepEqual(sourceOf(settings.monthlyTokens), ['file', 20_000]);
    assert.deepEqual(sourceOf(settings.requestsPerMinute), ['default', 60]);
    assert.deepEqual(
      settings.providers.map(({ provider, source, keySet, inForce }) => [provider, source, keySet, inForce]),
      [['filed', 'file', true, true]],
    );
  });

  test('registration counts on every core as soon as it is answered, and can be given back', async () => {
    const elsewhere = { port: other.port, origin: world.origin };
    assert.deepEqual(sourceOf(ok(await set('registration', 'invite')).registration), ['fleet', 'invite']);
    for (const target of [world, elsewhere])
      await assert.rejects(registerAccount(target, 'stranger'), /invitation only/);
    assert.match((await guest.fetch('/v1/auth/registration')).text, /"invite"/);
    ok(await set('registration', 'closed'));
    await assert.rejects(registerAccount(elsewhere, 'stranger'), /no new accounts/);
    refused(await master.fetch('/v1/operator/invitations', { body: {} }), 403, 'not_authorized', /closed/);
    assert.deepEqual(sourceOf(ok(await set('registration', null)).registration), ['default', 'open']);
    await registerAccount(elsewhere, 'stranger');
  });

  test('the default plan counts for accounts without one of their own, on every core', async () => {
    ok(await set('defaultPlan', 'paid'));
    const { plan } = await planAt(world.core);
    assert.equal(plan, 'paid');
    await until('the other core knows it', async () => (await planAt(other)).plan === 'paid');
    ok(await set('defaultPlan', null));
    await until('the other core knows it', async () => (await planAt(other)).plan === 'free');
  });

  test('limits count for the next call', async () => {
    ok(await set('requestsPerMinute', 7));
    const { intelligence } = await other.context.settings.read();
    assert.deepEqual([intelligence.requestsPerMinute, intelligence.monthlyTokens], [7, 20_000]);
    ok(await set('requestsPerMinute', null));
  });

  test('what a file says cannot be changed, and values that mean nothing are refused', async () => {
    refused(await set('monthlyTokens', 5), 403, 'not_authorized', /file of AI providers says this/);
    refused(await set('registration', 'sometimes'), 400, 'invalid_request', /value/);
    refused(await set('requestsPerMinute', 0), 400, 'invalid_request', /value/);
    refused(await set('currency', 'dollars'), 400, 'invalid_request', /code of a currency/);
    refused(await set('master', 'guest'), 400, 'invalid_request', /setting/);
    assert.deepEqual(sourceOf((await filed.context.settings.current()).registration), ['file', 'closed']);
  });
});

async function planAt(core: TestCore): Promise<{ plan: string }> {
  const { defaultPlan } = await core.context.settings.current();
  return { plan: defaultPlan.value };
}

describe('AI providers', () => {
  test('one is added with its key, which is sealed, used and never shown', async () => {
    const id = newId();
    const body = { name: 'Added', baseUrl: 'https://added.example/v1', key: KEY, models: [{ id: 'small' }] };
    const answer = await setProvider(id, body);
    const { keySet, source, inForce, environment } = providerOf(ok(answer), id) ?? {};
    assert.deepEqual([keySet, source, inForce], [true, 'fleet', true]);
    assert.deepEqual(environment, { baseUrl: 'PROVIDER_B_BASE_URL', apiKey: 'PROVIDER_B_API_KEY' });
    assert.equal((await listed(id))?.source, 'platform');
    const gateway = await gatewaySide(world, guest, 'asks-added', [`${id}:*`]);
    const call = await gateway.authorized({ provider: id });
    assert.equal(call.baseUrl, 'https://added.example/v1');
    assert.equal(await gateway.open(call, id), KEY);
    const shown = [answer.text, (await master.fetch(SETTINGS)).text, (await master.fetch(`${SETTINGS}/changes`)).text];
    assert.ok(!shown.some((text) => text.includes(KEY)));
    assert.ok(!JSON.stringify(world.log).includes(KEY));
    const stored = await databaseText(world.core.context.pool);
    assert.ok(!stored.includes(KEY) && !stored.includes(Buffer.from(KEY).toString('hex')));
    assert.deepEqual(await tryPlatformKeys(world.core.context), { count: 1, closed: 0 });
    ok(await removeProvider(id));
    refused(await gateway.authorize({ provider: id }), 404, 'not_found');
  });

  test('the policy of a running app follows: its own origin is added, and taken away again', async () => {
    const id = newId();
    const gateway = await gatewaySide(world, guest, `follows-${id}`, [`${id}:*`]);
    const origins = async (core: TestCore) => {
      const answer = await rawRequest({
        port: core.port,
        path: '/v1/node/assignments',
        headers: {
          host: new URL(world.origin).host,
          authorization: `Bearer ${other.localNode.nodeCredential}`,
        },
      });
      assert.equal(answer.status, 200, answer.text);
      const { items } = answer.json as { items: { installationId: string; gateway: { privateOrigins?: string[] } }[] };
      return items.find(({ installationId }) => installationId === gateway.app.installationId)?.gateway.privateOrigins;
    };
    assert.equal(await origins(world.core), undefined);
    ok(await setProvider(id, { baseUrl: 'http://127.0.0.1:11434/v1', key: 'local' }));
    for (const core of [world.core, other]) assert.deepEqual(await origins(core), ['http://127.0.0.1:11434']);
    ok(await removeProvider(id));
    for (const core of [world.core, other]) assert.equal(await origins(core), undefined);
  });

  test('a key stays with its origin: a change of the path keeps it, another origin ends it and those of accounts', async () => {
    const id = newId();
    ok(await setProvider(id, { baseUrl: 'https://stays.example/v1', key: KEY }));
    await guest.browser.take(`/v1/account/intelligence/${id}/key`, { method: 'PUT', body: { key: 'sk-own' } });
    assert.equal(providerOf(ok(await setProvider(id, { baseUrl: 'https://stays.example/v2' })), id)?.keySet, true);
    assert.equal((await listed(id))?.keySet, true);
    assert.equal(providerOf(ok(await setProvider(id, { baseUrl: 'https://thief.example/v2' })), id)?.keySet, false);
    const { keySet, source } = (await listed(id)) ?? {};
    assert.deepEqual([keySet, source], [false, null]);
    assert.equal(
      providerOf(ok(await setProvider(id, { baseUrl: 'https://thief.example/v2', key: KEY })), id)?.keySet,
      true,
    );
    assert.equal(
      providerOf(ok(await setProvider(id, { baseUrl: 'https://thief.example/v2', key: null })), id)?.keySet,
      false,
    );
    ok(await removeProvider(id));
  });

  test('a sealed key that somebody moves in the database to another origin does not open there', async () => {
    const id = newId();
    ok(await setProvider(id, { baseUrl: 'https://moved.example/v1', key: KEY }));
    const { pool } = world.core.context;
    const { count: keys } = await tryPlatformKeys(world.core.context);
    const move = (baseUrl: string) =>
      pool.query(`UPDATE platform_providers SET details = jsonb_set(details, '{baseUrl}', $2) WHERE id = $1`, [
        id,
        JSON.stringify(baseUrl),
      ]);
    await move('https://thief.example/v1');
    assert.deepEqual(await tryPlatformKeys(world.core.context), { count: keys, closed: 1 });
    await move('https://moved.example/v1');
    ok(await removeProvider(id));
  });

  test('the file’s provider of the same id wins, and cannot be set or removed', async () => {
    refused(await setProvider('filed', { baseUrl: 'https://evil.example/v1' }), 403, 'not_authorized', /file/);
    refused(await removeProvider('filed'), 403, 'not_authorized', /file/);
    refused(await removeProvider('nobody'), 404, 'not_found');
    const id = newId();
    ok(await setProvider(id, { baseUrl: 'https://fleet.example/v1', key: KEY }));
    const filed = { id, baseUrl: 'https://file.example/v1', dialect: 'openai' };
    const before = { id: 'filed', baseUrl: 'https://filed.example/v1', dialect: 'openai', platformKeyFile: 'key' };
    file.write({ providers: [before, filed], monthlyTokens: 20_000 });
    await world.core.reload();
    const both = (await read()).providers.filter(({ provider }) => provider === id);
    assert.deepEqual(
      both.map(({ source, inForce, baseUrl }) => [source, inForce, baseUrl]),
      [
        ['file', true, 'https://file.example/v1'],
        ['fleet', false, 'https://fleet.example/v1'],
      ],
    );
    assert.equal((await listed(id))?.source, null, 'the key of Fleet is not for the file’s');
    ok(await removeProvider(id));
    file.write({ providers: [before], monthlyTokens: 20_000 });
    await world.core.reload();
  });

  for (const [baseUrl, words] of [
    ['ftp://one.example', /http: or https:/],
    ['https://user:pass@one.example/v1', /without user/],
    ['https://one.example/v1?x=1', /without user, query/],
    ['http://169.254.169.254/latest', /address of no server/],
    ['http://[::ffff:a9fe:a9fe]/latest', /address of no server/],
    ['http://[fe80::1]/v1', /address of no server/],
    ['http://0.0.0.0:11434/v1', /address of no server/],
    ['http://0:11434/v1', /without user/],
    ['http://shell.platform.localhost/v1', /the platform itself/],
    ['http://notes--abc.apps.platform.localhost:1/v1', /the platform itself/],
    ['http://public.platform.localhost:1/v1', /the platform itself/],
    ['http://127.0.0.1:$PORT/v1', /the platform itself/],
    ['http://localhost:$PORT/v1', /the platform itself/],
    ['http://127.9.9.9:8788/v1', /the platform itself/],
    ['http://[::1]:8791/v1', /the platform itself/],
  ] as const)
    test(`a provider cannot be at ${baseUrl}`, async () => {
      const place = baseUrl.replace('$PORT', String(world.port));
      refused(await setProvider(newId(), { baseUrl: place, key: KEY }), 400, 'invalid_request', words);
    });

  test('variables of two providers are never the same, and none is the platform’s', async () => {
    const id = newId();
    const environment = { baseUrl: 'PROVIDER_A_BASE_URL', apiKey: 'MY_KEY' };
    const at = { baseUrl: 'https://named.example/v1' };
    refused(await setProvider(id, { ...at, environment }), 400, 'invalid_request', /another provider sets/);
    const same = { baseUrl: 'MY_KEY', apiKey: 'MY_KEY' };
    refused(await setProvider(id, { ...at, environment: same }), 400, 'invalid_request', /two different names/);
    const reserved = { baseUrl: 'PATH', apiKey: 'MY_KEY' };
    refused(await setProvider(id, { ...at, environment: reserved }), 400, 'invalid_request');
  });
});

describe('nobody else, and nothing else', () => {
  const provider = { dialect: 'openai', baseUrl: 'https://evil.example/v1' };

  test('every other account is refused, with a passkey of its own as well', async () => {
    refused(await set('registration', 'closed', guest), 403, 'master_account_only');
    const confirmation = await confirm(guest, 'operator.provider.set', subjectOfProvider('evil', provider.baseUrl));
    const body = { ...provider, confirmation };
    refused(await guest.fetch(`${PROVIDERS}/evil`, { method: 'PUT', body }), 403, 'master_account_only');
    refused(await guest.fetch(SETTINGS), 403, 'master_account_only');
    refused(await guest.fetch(`${SETTINGS}/changes`), 403, 'master_account_only');
    refused(await guest.fetch('/v1/operator/model-servers/find', { body: {} }), 403, 'master_account_only');
  });

  test('without a confirmation nothing changes, and one of another account, operation, value or origin is none', async () => {
    const former = (await master.fetch(SETTINGS)).text;
    const change = (body: object) => master.fetch(`${SETTINGS}/registration`, { method: 'PUT', body });
    refused(await change({ value: 'closed' }), 400, 'invalid_request', /confirmation/);
    const wrong: readonly [ConfirmedOperation, string | undefined][] = [
      ['account.export', undefined],
      ['operator.setting.change', 'registration.invite'],
      ['operator.setting.change', 'defaultPlan.closed'],
      ['operator.provider.remove', 'registration.closed'],
    ];
    for (const [operation, subject] of wrong)
      refused(
        await change({ value: 'closed', confirmation: await confirm(master, operation, subject) }),
        401,
        'verification_failed',
      );
    const foreign = await confirm(guest, 'operator.setting.change', 'registration.closed');
    refused(await change({ value: 'closed', confirmation: foreign }), 401, 'verification_failed');
    for (const subject of ['evil@https://other.example', 'other@https://evil.example']) {
      const confirmation = await confirm(master, 'operator.provider.set', subject);
      const body = { ...provider, confirmation };
      refused(await master.fetch(`${PROVIDERS}/evil`, { method: 'PUT', body }), 401, 'verification_failed');
    }
    assert.equal((await master.fetch(SETTINGS)).text, former);
  });

  test('a confirmation works once', async () => {
    const confirmation = await confirm(master, 'operator.setting.change', 'registration.invite');
    const change = () =>
      master.fetch(`${SETTINGS}/registration`, { method: 'PUT', body: { value: 'invite', confirmation } });
    ok(await change());
    ok(await set('registration', null));
    refused(await change(), 401, 'verification_failed');
    assert.equal((await read()).registration.source, 'default');
  });

  test('of a change that is refused nothing is on record', async () => {
    const { items } = await master.browser.take<{ items: SettingChange[] }>(`${SETTINGS}/changes?limit=200`);
    refused(await set('monthlyTokens', 5), 403, 'not_authorized');
    const again = await master.browser.take<{ items: SettingChange[] }>(`${SETTINGS}/changes?limit=200`);
    assert.deepEqual(again.items, items);
  });
});

test('the record says who changed what from what, the newest first, page by page', async () => {
  const id = newId();
  ok(await setProvider(id, { baseUrl: 'https://recorded.example/v1', key: KEY }));
  ok(await set('currency', 'EUR'));
  ok(await set('currency', 'CHF'));
  ok(await removeProvider(id));
  const first = await master.browser.take<{ items: SettingChange[]; nextCursor: string }>(
    `${SETTINGS}/changes?limit=3`,
  );
  const next = await master.browser.take<{ items: SettingChange[] }>(
    `${SETTINGS}/changes?limit=1&cursor=${encodeURIComponent(first.nextCursor)}`,
  );
  const changes = [...first.items, ...next.items];
  assert.deepEqual(new Set(changes.map(({ by }) => by)), new Set(['landlord']));
  const baseUrl = 'https://recorded.example/v1';
  assert.deepEqual(
    changes.map(({ change }) => change),
    [
      { kind: 'provider-removed', provider: id, baseUrl },
      { kind: 'setting', setting: 'currency', value: 'CHF', former: 'EUR' },
      { kind: 'setting', setting: 'currency', value: 'EUR', former: null },
      { kind: 'provider-set', provider: id, baseUrl, formerBaseUrl: null, key: 'set' },
    ],
  );
});

test('of changes at the same time each is whole, and each is on record', async () => {
  const ids = Array.from({ length: 4 }, newId);
  const answers = await Promise.all(ids.map((id) => setProvider(id, { baseUrl: `https://${id}.example/v1` })));
  for (const answer of answers) ok(answer);
  const { providers } = await read();
  assert.deepEqual(
    ids.filter((id) => providers.some(({ provider }) => provider === id)),
    ids,
  );
  const environments = providers.flatMap(({ environment }) => environment?.apiKey ?? []);
  assert.equal(new Set(environments).size, environments.length);
  for (const id of ids) ok(await removeProvider(id));
});
