// A secret goes to a new origin only with the passkey of its owner: a session alone binds it where it goes already, and what it
// has just stored.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { secretBindingList } from '@platform/contract';
import { confirm, registerAccount, signIn, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { installTestApp } from '../../../../tests/support/installed-app.ts';
import { publishTestApp } from '../../../../tests/support/publish.ts';
import { problemCode, type RawAnswer } from '../../../../tests/support/raw-http.ts';

const ORIGIN = 'https://api.github.example';
const EVIL = 'https://collector.example';

let platform: Constellation;
let account: TestAccount;
let now = Date.parse('2026-11-21T10:00:00.000Z');

before(async () => {
  platform = await startConstellation({ clock: () => new Date(now) });
  account = await registerAccount(platform, 'tenant');
});
after(() => platform.close());
beforeEach(async () => {
  now += 60_000;
  await account.fetch('/v1/account/secrets/token', { method: 'DELETE' });
  await putSecret();
  const bind = await installCaller(`caller-${now}`, ORIGIN);
  assert.equal((await bind()).status, 200, 'stored a moment ago');
});

const putSecret = () => account.fetch('/v1/account/secrets/token', { method: 'PUT', body: { value: 'key-0b1e4c5d' } });
const slotPath = (appId: string) => `/v1/apps/${appId}/secret-bindings/out`;

function assertRefused(answer: RawAnswer, status: number, code: string): void {
  assert.deepEqual([answer.status, problemCode(answer)], [status, code], answer.text);
}

type Bind = (confirmation?: unknown, by?: TestAccount) => Promise<RawAnswer>;

const installThief = (appId: string) => installCaller(appId, EVIL);

/** @returns what binds the secret to it */
async function installCaller(appId: string, origin: string): Promise<Bind> {
  const permissions = [
    { id: 'secrets.use' as const, resources: ['out'] },
    { id: 'network.connect' as const, resources: [origin] },
  ];
  const slot = { name: 'out', origin, pathPrefix: '/', methods: ['POST'] };
  await installTestApp(platform, account, appId, permissions, { secretSlots: [slot] });
  const { items } = secretBindingList.parse(await account.browser.take(`/v1/apps/${appId}/secret-bindings`));
  const declarationHash = items[0]?.declarationHash ?? '';
  return (confirmation, by = account) => {
    const body = { secret: 'token', declarationHash, ...(confirmation === undefined ? {} : { confirmation }) };
    return by.fetch(slotPath(appId), { method: 'PUT', body });
  };
}

test('a session alone sends a secret to no new origin; a passkey does, for this secret, once', async () => {
  const bindOut = await installThief('thief');
  now += 5 * 60_000 + 1;
  assertRefused(await bindOut(), 400, 'invalid_request');
  assertRefused(await bindOut(await confirm(account, 'secret.bind', 'other-token')), 401, 'verification_failed');
  assertRefused(await bindOut(await confirm(account, 'account.export')), 401, 'verification_failed');
  const elsewhere = await signIn(platform, account.authenticator);
  assertRefused(await bindOut(await confirm(elsewhere, 'secret.bind', 'token')), 401, 'verification_failed');
  const about = await account.fetch('/v1/auth/confirm/options', { body: { operation: 'secret.bind' } });
  assertRefused(about, 400, 'invalid_request');
  const confirmation = await confirm(account, 'secret.bind', 'token');
  assert.equal((await bindOut(confirmation)).status, 200);
  await account.fetch(slotPath('thief'), { method: 'DELETE' });
  assertRefused(await bindOut(confirmation), 401, 'verification_failed');
  assertRefused(await bindOut(), 400, 'invalid_request');
});

test('where a secret goes already needs no passkey, and neither does what this session has just stored', async () => {
  now += 5 * 60_000 + 1;
  const bindThere = await installCaller('second', ORIGIN);
  assert.equal((await bindThere()).status, 200, 'another app, the same origin');
  const bindOut = await installThief('recorder');
  const elsewhere = await signIn(platform, account.authenticator);
  assertRefused(await bindOut(), 400, 'invalid_request');
  await putSecret();
  assertRefused(await bindOut(undefined, elsewhere), 400, 'invalid_request');
  now -= 60_000;
  assertRefused(await bindOut(), 400, 'invalid_request');
  now += 60_000;
  assert.equal((await bindOut()).status, 200);
  now += 5 * 60_000 + 1;
  assert.equal((await bindOut()).status, 200, 'it goes there already');
});

test('a slot that an update took away opens no origin', async () => {
  const bindOut = await installThief('changer');
  assert.equal((await bindOut()).status, 200, 'stored a moment ago');
  const second = await installThief('sibling');
  now += 5 * 60_000 + 1;
  // Declares its slot no more, nor asks for it.
  await publishTestApp(account, 'changer', { version: '2.0.0', permissions: [] });
  await account.browser.take('/v1/apps/changer/upgrade', { body: { version: '2.0.0' } });
  assertRefused(await second(), 400, 'invalid_request');
});
