// Secrets, their bindings, and what Gateways are answered: nobody reads a value, and a call is allowed by what holds now.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import {
  authorizedOutbound,
  limits,
  outboundContext,
  type SecretBinding,
  secretBinding,
  secretBindingList,
  secretList,
} from '@platform/contract';
import { EnvelopeOpener, newEnvelopeKey } from '@platform/link';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../../../tests/support/installed-app.ts';
import { publishTestApp } from '../../../../tests/support/publish.ts';
import { problemCode, type RawAnswer } from '../../../../tests/support/raw-http.ts';
import { databaseText } from '../../test-support/database-sweep.ts';

const CANARY = 'canary-secret-0b1e4c5d77aa';
const ORIGIN = 'https://api.github.example';
const SLOT = { name: 'github', origin: ORIGIN, pathPrefix: '/repos', methods: ['POST', 'GET'] };
const PERMISSIONS = [
  { id: 'secrets.use' as const, resources: ['github', 'other'] },
  { id: 'network.connect' as const, resources: [ORIGIN] },
];
const AUTHORIZE = '/v1/gateway/outbound/authorize';

let platform: Constellation;
let account: TestAccount;
let stranger: TestAccount;
let app: InstalledTestApp;
let key: Awaited<ReturnType<typeof newEnvelopeKey>>;
let now = Date.parse('2026-11-21T10:00:00.000Z');

before(async () => {
  platform = await startConstellation({ clock: () => new Date(now) });
  account = await registerAccount(platform, 'tenant');
  stranger = await registerAccount(platform, 'stranger');
  app = await installTestApp(platform, account, 'caller', PERMISSIONS, {
    secretSlots: [SLOT, { ...SLOT, name: 'other', pathPrefix: '/' }],
  });
  key = await newEnvelopeKey();
  await app.restart(key.publicKey);
});
after(() => platform.close());
beforeEach(async () => {
  now += 60_000;
  await putSecret('token');
  await grant(PERMISSIONS);
  await bind();
});

const putSecret = (name: string, value: unknown = CANARY, by = account) =>
  by.fetch(`/v1/account/secrets/${name}`, { method: 'PUT', body: { value } });
const grant = (permissions: object) =>
  account.fetch('/v1/apps/caller/permissions', { method: 'PUT', body: { permissions } });
const slotPath = (slot = 'github', appId = 'caller') => `/v1/apps/${appId}/secret-bindings/${slot}`;
const authorize = (slot = 'github', method = 'GET') => app.call(AUTHORIZE, { body: { slot, method } });

async function bindings(by = account): Promise<SecretBinding[]> {
  return secretBindingList.parse(await by.browser.take('/v1/apps/caller/secret-bindings')).items;
}

async function bind(more: object = {}, slot = 'github'): Promise<RawAnswer> {
  const declared = (await bindings()).find((one) => one.slot === slot);
  const body = { secret: 'token', declarationHash: declared?.declarationHash ?? '', ...more };
  return account.fetch(slotPath(slot), { method: 'PUT', body });
}

function assertRefused(answer: RawAnswer, status: number, code: string): void {
  assert.deepEqual([answer.status, problemCode(answer)], [status, code], answer.text);
  assert.ok(!answer.text.includes(CANARY));
}

test('the hash of a declaration is the one that anybody computes from its RFC 8785 form', async () => {
  const canonical =
    '{"methods":["GET","POST"],"name":"github","origin":"https://api.github.example","pathPrefix":"/repos"}';
  const [first] = await bindings();
  assert.equal(first?.declarationHash, createHash('sha256').update(canonical).digest('hex'));
});

test('a secret is listed by name, with its bindings and its last use, and never by value', async () => {
  assert.equal((await authorize()).status, 200);
  const listed = await account.fetch('/v1/account/secrets');
  const [secret] = secretList.parse(listed.json).items;
  assert.deepEqual(secret, {
    name: 'token',
    createdAt: secret?.createdAt,
    lastUsedAt: new Date(now).toISOString(),
    bindings: [{ appId: 'caller', slot: 'github' }],
  });
  assert.ok(!listed.text.includes(CANARY));
  assert.deepEqual(secretList.parse((await stranger.fetch('/v1/account/secrets')).json).items, []);
});

test('a call gets its secret sealed for this Gateway, and for exactly this call', async () => {
  const answer = await authorize();
  assert.equal(answer.status, 200, answer.text);
  const { envelope, ...call } = authorizedOutbound.parse(answer.json);
  assert.deepEqual(call, {
    origin: ORIGIN,
    pathPrefix: '/repos',
    inject: { in: 'header', name: 'Authorization', scheme: 'Bearer' },
  });
  const opener = new EnvelopeOpener(key);
  const said = { slot: 'github', method: 'GET', ...call };
  const open = (changed: object) =>
    opener.open(outboundContext(app.installationId, { ...said, ...changed }), envelope).then(String);
  assert.equal(await open({}), CANARY);
  for (const changed of [
    { slot: 'other' },
    { method: 'POST' },
    { origin: 'https://evil.example' },
    { pathPrefix: '/' },
    { inject: { ...call.inject, name: 'X-Key' } },
    { inject: { ...call.inject, in: 'query' as const } },
    { inject: { ...call.inject, scheme: '' } },
  ])
    await assert.rejects(open(changed), JSON.stringify(changed));
  const other = new EnvelopeOpener(await newEnvelopeKey());
  await assert.rejects(other.open(outboundContext(app.installationId, said), envelope));
});

test('a call needs a declared slot and method, both grants, and a current binding', async () => {
  assertRefused(await authorize('nowhere'), 404, 'not_found');
  assertRefused(await authorize('../github'), 404, 'not_found');
  for (const method of ['DELETE', 'get', 'HEAD', 'OPTIONS', 'GET '])
    assertRefused(await authorize('github', method), 403, 'not_authorized');
  assertRefused(await authorize('other'), 403, 'not_authorized');
  const [secrets, connect] = PERMISSIONS;
  for (const held of [[connect], [secrets], [connect, { ...secrets, resources: ['other'] }]]) {
    assert.equal((await grant(held)).status, 200);
    assertRefused(await authorize(), 403, 'not_authorized');
  }
  await grant(PERMISSIONS);
  assert.equal((await account.fetch(slotPath(), { method: 'DELETE' })).status, 204);
  assertRefused(await authorize(), 403, 'not_authorized');
  assertRefused(await account.fetch(slotPath(), { method: 'DELETE' }), 404, 'not_found');
});

test('a binding says where its secret goes, and only to places that are for secrets', async () => {
  const bound = async (inject: object) => secretBinding.parse((await bind({ inject })).json).inject;
  assert.deepEqual(await bound({ in: 'header', name: 'X-Api-Key', scheme: '' }), {
    in: 'header',
    name: 'X-Api-Key',
    scheme: '',
  });
  assert.deepEqual(await bound({ in: 'header', name: 'Authorization' }), {
    in: 'header',
    name: 'Authorization',
    scheme: 'Bearer',
  });
  assert.deepEqual(await bound({ in: 'query', name: 'api_key' }), { in: 'query', name: 'api_key', scheme: '' });
  const refused = ['Host', 'cookie', 'Set-Cookie', 'Content_Length', 'Transfer-Encoding', 'TE', 'Upgrade', 'Trailer'];
  const more = [
    'Connection',
    'Proxy-Authorization',
    'X-Forwarded-Host',
    'X-Original-URL',
    'Forwarded',
    'Expect',
    'Via',
  ];
  for (const name of [...refused, ...more, 'a b', 'a\r\nb', 'é', '', ':path'])
    assertRefused(await bind({ inject: { in: 'header', name } }), 400, 'invalid_request');
  for (const name of ['a&b', 'a=b', 'a%62', '', 'a b', 'a#'])
    assertRefused(await bind({ inject: { in: 'query', name } }), 400, 'invalid_request');
  for (const scheme of ['Bearer x', 'a\r\n', 'é'])
    assertRefused(await bind({ inject: { in: 'header', name: 'X-Key', scheme } }), 400, 'invalid_request');
  assertRefused(await bind({ inject: { in: 'query', name: 'k', scheme: 'Bearer' } }), 400, 'invalid_request');
  assertRefused(await bind({ inject: { in: 'body', name: 'k' } }), 400, 'invalid_request');
});

test('what cannot be bound', async () => {
  assertRefused(await bind({ secret: 'missing' }), 404, 'not_found');
  assertRefused(await bind({ declarationHash: '0'.repeat(64) }), 409, 'binding_stale');
  assertRefused(await bind({ declarationHash: 'x' }), 400, 'invalid_request');
  assertRefused(await bind({}, 'nowhere'), 400, 'invalid_request');
  const body = { secret: 'token', declarationHash: '0'.repeat(64) };
  assertRefused(await account.fetch(slotPath('nowhere'), { method: 'PUT', body }), 404, 'not_found');
  assertRefused(await account.fetch(slotPath('github', 'absent'), { method: 'PUT', body }), 404, 'not_found');
  assertRefused(await stranger.fetch(slotPath(), { method: 'PUT', body }), 404, 'not_found');
  assertRefused(await stranger.fetch('/v1/apps/caller/secret-bindings'), 404, 'not_found');
});

test('names and values that are none are refused, without quoting the value', async () => {
  for (const name of ['Token', '-a', 'a_b', 'ä', 'a'.repeat(65)])
    assertRefused(await putSecret(encodeURIComponent(name)), 400, 'invalid_request');
  for (const value of ['', ' x', 'x ', `${CANARY}\n`, `${CANARY}\r\nHost: evil`, `a\0${CANARY}`, 'x'.repeat(8_193), 7])
    assertRefused(await putSecret('token', value), 400, 'invalid_request');
  assert.equal((await putSecret('token', 'x'.repeat(8_192))).status, 204);
  assert.equal((await putSecret('token', 'schlüssel 鍵')).status, 204);
  assertRefused(await account.fetch('/v1/account/secrets/absent', { method: 'DELETE' }), 404, 'not_found');
});

test('another value under the same name keeps its bindings; removing the name ends them', async () => {
  assert.equal((await putSecret('token', 'second-value')).status, 204);
  const { envelope, ...call } = authorizedOutbound.parse((await authorize()).json);
  const context = outboundContext(app.installationId, { slot: 'github', method: 'GET', ...call });
  assert.equal(String(await new EnvelopeOpener(key).open(context, envelope)), 'second-value');
  assert.equal((await account.fetch('/v1/account/secrets/token', { method: 'DELETE' })).status, 204);
  assertRefused(await authorize(), 403, 'not_authorized');
  assert.equal((await bindings())[0]?.state, 'unbound');
  await putSecret('token');
  assertRefused(await authorize(), 403, 'not_authorized');
});

test('a version that declares something else leaves the binding stale, and going back makes it current', async () => {
  const manifest = { workload: { runtime: 'node', entry: 'main.js' }, permissions: PERMISSIONS };
  const files = { 'frontend/index.html': 't', 'workload/main.js': '' };
  const publish = (version: string, secretSlots: object[]) =>
    publishTestApp(account, 'caller', { ...manifest, version, secretSlots }, files);
  const upgrade = (version: string) => account.browser.take('/v1/apps/caller/upgrade', { body: { version } });
  const other = { ...SLOT, name: 'other', pathPrefix: '/' };
  await publish('2.0.0', [{ ...SLOT, methods: ['GET', 'POST', 'DELETE'] }, other]);
  await publish('3.0.0', [{ ...SLOT, methods: ['GET', 'POST'] }]);
  await bind({}, 'other');
  await upgrade('2.0.0');
  const [stale] = await bindings();
  assert.equal(stale?.state, 'stale');
  assert.equal(stale?.secret, 'token');
  assert.deepEqual(stale?.former, { origin: ORIGIN, pathPrefix: '/repos', methods: ['POST', 'GET'] });
  assertRefused(await authorize(), 403, 'not_authorized');
  assertRefused(await authorize('github', 'DELETE'), 403, 'not_authorized');
  assert.equal((await authorize('other')).status, 200, 'what is declared as before goes on');
  await upgrade('3.0.0');
  assert.equal((await bindings())[0]?.state, 'bound', 'the order of methods says nothing');
  assert.equal((await authorize()).status, 200);
  assertRefused(await authorize('other'), 404, 'not_found');
  await upgrade('2.0.0');
  assert.equal((await bindings())[1]?.state, 'unbound', 'a slot that was gone comes back without its secret');
  assert.equal((await bind()).status, 200);
  assert.equal((await authorize('github', 'DELETE')).status, 200, 'reviewed again');
  await upgrade('1.0.0');
});

test('removing the app ends its bindings, and installing it again begins without', async () => {
  assert.equal((await account.fetch('/v1/apps/caller', { method: 'DELETE' })).status, 204);
  assert.deepEqual(secretList.parse((await account.fetch('/v1/account/secrets')).json).items[0]?.bindings, []);
  assert.equal((await authorize()).status, 401);
  await account.browser.take('/v1/apps', { body: { appId: 'caller', version: '1.0.0' } });
  assert.equal((await bindings())[0]?.state, 'unbound');
  await app.restart(key.publicKey);
});

test('a Gateway that gave no key gets no secret, and is told what to do', async () => {
  await app.restart();
  assertRefused(await authorize(), 503, 'unavailable');
  await app.restart(key.publicKey);
  assert.equal((await authorize()).status, 200);
});

test('an account has a limited number of secrets', async () => {
  for (let index = 0; index < limits.secrets.value; index += 1)
    assert.equal((await putSecret(`s-${index}`, 'x', stranger)).status, 204);
  assertRefused(await putSecret('one-more', 'x', stranger), 400, 'invalid_request');
  assert.equal((await putSecret('s-7', 'y', stranger)).status, 204, 'replacing one is none more');
});

test('a slot in a package cannot lead anywhere but below its prefix', async () => {
  for (const change of [
    { origin: 'http://api.example' },
    { origin: 'https://api.example/' },
    { origin: 'https://user@api.example' },
    { origin: 'https://API.example' },
    { origin: 'https://api.example:443' },
    { origin: 'https://api.example?x' },
    { pathPrefix: 'v1' },
    { pathPrefix: '/..' },
    { pathPrefix: '/../x' },
    { pathPrefix: '/a/%2e%2e' },
    { pathPrefix: '/a/.' },
    { pathPrefix: '/a%2fb' },
    { pathPrefix: '/a%00' },
    { pathPrefix: '//evil.example' },
    { pathPrefix: '/a?b' },
    { methods: [] },
    { methods: ['TRACE'] },
    { methods: ['CONNECT'] },
    { methods: ['get'] },
  ])
    await assert.rejects(
      publishTestApp(
        account,
        'bad-slot',
        { workload: { runtime: 'node', entry: 'main.js' }, secretSlots: [{ ...SLOT, ...change }] },
        { 'frontend/index.html': 't', 'workload/main.js': '' },
      ),
      /secretSlots/,
      JSON.stringify(change),
    );
});

test('the value is nowhere in the database, the log or an answer', async () => {
  await authorize();
  const text = await databaseText(platform.core.context.pool);
  assert.ok(text.includes('caller'), 'there is something to look at');
  for (const spelling of [CANARY, Buffer.from(CANARY).toString('hex'), Buffer.from(CANARY).toString('base64')])
    assert.ok(!text.includes(spelling));
  assert.ok(!JSON.stringify(platform.log).includes(CANARY));
});
