// Promises of sessions: the cookie's attributes, the list, and that what ends ends everywhere and with all it carried.
import { strict as assert } from 'node:assert';
import { after, before, test } from 'node:test';
import { limits, type SessionAnswer, type SessionView } from '@platform/contract';
import { registerAccount, signIn, type TestAccount, TestBrowser } from '../../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../../tests/support/constellation.ts';
import { problemCode } from '../../../../../tests/support/raw-http.ts';
import { hashCredential } from '../../credentials/credential.ts';
import { findSession } from './session-caller.ts';

const DAY = 24 * 60 * 60 * 1000;

let constellation: Constellation;
let ahead = 0;
const clock = () => new Date(Date.now() + ahead);
before(async () => {
  constellation = await startConstellation({ clock });
});
after(() => constellation.close());

async function sessionsOf(account: TestAccount): Promise<SessionView[]> {
  const answer = await account.fetch('/v1/auth/sessions?limit=200');
  assert.equal(answer.status, 200, answer.text);
  return (answer.json as { items: SessionView[] }).items;
}

async function codeOf(account: Pick<TestAccount, 'fetch'>): Promise<string> {
  const answer = await account.fetch('/v1/auth/session');
  return answer.status === 200 ? 'signed in' : problemCode(answer);
}

/** The frontend of a default app, opened by the account and past its exchange. */
async function openFrontend(account: TestAccount): Promise<Pick<TestAccount, 'fetch'>> {
  const launched = await account.browser.take<{ origin: string; frontendCapability: string }>(
    '/v1/apps/launcher/launch',
    { body: {} },
  );
  const frontend = new TestBrowser(constellation);
  const headers = { origin: launched.origin };
  const { capability } = await frontend.take<{ capability: string }>('/v1/frontend/exchange', {
    body: { capability: launched.frontendCapability },
    headers,
  });
  return { fetch: (path) => frontend.fetch(path, { headers: { ...headers, authorization: `Bearer ${capability}` } }) };
}

async function frontendCode(frontend: Pick<TestAccount, 'fetch'>): Promise<string> {
  return problemCode(await frontend.fetch('/v1/services/apps'));
}

/** Every `Set-Cookie` of a sign-in. */
async function setCookiesOf(target: Constellation): Promise<string[]> {
  const { authenticator } = await registerAccount(target, 'cookie-owner');
  const browser = new TestBrowser(target);
  const options = await browser.begin('/v1/auth/login/options');
  const body = { challengeId: options.challengeId, credential: authenticator.get(options) };
  const { headers } = await browser.fetch('/v1/auth/login/verify', { body });
  return headers['set-cookie'] ?? [];
}

/** As a browser shows `Set-Cookie`, with the tokens left out. */
const withoutTokens = (setCookies: readonly string[] = []) =>
  setCookies.map((setCookie) => setCookie.replace(/=(?:pss_[\w-]{43}|[\w-]{22}\.[\w-]{43});/, '=TOKEN;'));

test('the cookie is host-only, out of reach of scripts and lax; what an app set above the host goes', async () => {
  assert.deepEqual(withoutTokens(await setCookiesOf(constellation)), [
    'platform_session=TOKEN; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax',
    'platform_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Domain=platform.localhost',
    'platform_session-browser=TOKEN; Path=/; Max-Age=34560000; HttpOnly; SameSite=Lax',
  ]);
});

test('on https the cookie is secure, no other host can set one of its name, and the one without prefix goes', async () => {
  const https = await startConstellation({
    config: { origin: 'https://shell.example.test', rpId: 'shell.example.test' },
  });
  try {
    const target = { ...https, origin: 'https://shell.example.test' };
    assert.deepEqual(withoutTokens(await setCookiesOf(target)), [
      '__Host-platform_session=TOKEN; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure',
      'platform_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure',
      '__Host-platform_session-browser=TOKEN; Path=/; Max-Age=34560000; HttpOnly; SameSite=Lax; Secure',
    ]);
    const account = await registerAccount(target, 'on-https');
    assert.equal(await codeOf(account), 'signed in');
    const unprefixed = account.cookie.replace('__Host-', '');
    const former = await account.fetch('/v1/auth/session', { headers: { cookie: unprefixed } });
    assert.equal(problemCode(former), 'unauthenticated', 'the cookie of a version before the prefix');
    const beside = await account.fetch('/v1/auth/session', { headers: { cookie: `${unprefixed}; ${account.cookie}` } });
    assert.equal(beside.status, 200);
    const { headers } = await account.fetch('/v1/auth/logout', { body: {} });
    assert.equal(
      headers['set-cookie']?.[0],
      '__Host-platform_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure',
    );
  } finally {
    await https.close();
  }
});

test('the token of a session is no bearer credential, also while the session is in use', async () => {
  const account = await registerAccount(constellation, 'no-bearer');
  assert.equal(await codeOf(account), 'signed in');
  const token = account.cookie.split('=')[1] ?? '';
  const headers = { cookie: '', authorization: `Bearer ${token}` };
  assert.equal(problemCode(await account.fetch('/v1/auth/session', { headers })), 'unauthenticated');
});

test('a sign-in and the session itself name the same public id, which the list shows too', async () => {
  const account = await registerAccount(constellation, 'names-it');
  const { account: view, session } = await account.browser.take<SessionAnswer>('/v1/auth/session');
  assert.equal(view.name, 'names-it');
  assert.match(session.id, /^ses-[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/);
  assert.equal(account.sessionId, session.id, 'register/verify');
  assert.deepEqual(
    (await sessionsOf(account)).map(({ id }) => id),
    [session.id],
  );
  const options = await account.browser.begin('/v1/auth/login/options');
  const body = { challengeId: options.challengeId, credential: account.authenticator.get(options) };
  const again = await account.browser.take<SessionAnswer>('/v1/auth/login/verify', { body });
  assert.deepEqual(again, await account.browser.take<SessionAnswer>('/v1/auth/session'), 'login/verify');
  assert.notEqual(again.session.id, session.id);
  const lifetime = Date.parse(again.session.expiresAt) - Date.parse(again.session.createdAt);
  assert.equal(lifetime, constellation.core.context.config.sessionMilliseconds);
});

test('signing out ends the session, its cookie and the frontends it opened', async () => {
  const account = await registerAccount(constellation, 'signs-out');
  const frontend = await openFrontend(account);
  assert.equal(await frontendCode(frontend), 'grant_missing', 'the capability works, the app was granted nothing');
  const { cookie } = account;
  const answer = await account.fetch('/v1/auth/logout', { body: {} });
  assert.equal(answer.status, 204);
  const cleared = 'platform_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax';
  assert.deepEqual(answer.headers['set-cookie'], [cleared, `${cleared}; Domain=platform.localhost`]);
  const replayed = await account.fetch('/v1/auth/session', { headers: { cookie } });
  assert.equal(problemCode(replayed), 'unauthenticated');
  assert.equal(await frontendCode(frontend), 'unauthenticated');
});

test('the list shows each session once, the newest use first, and which one is asking', async () => {
  const first = await registerAccount(constellation, 'two-places');
  ahead += 1_000;
  const second = await signIn(constellation, first.authenticator);
  const [newest, oldest, ...more] = await sessionsOf(second);
  assert.deepEqual(more, []);
  assert.deepEqual([newest?.current, oldest?.current], [true, false]);
  assert.deepEqual(
    (await sessionsOf(first)).map(({ id, current }) => [id, current]),
    [
      [newest?.id, false],
      [oldest?.id, true],
    ],
  );
});

test('a browser is listed by the name it gives itself, shortened and without control characters', async () => {
  const account = await registerAccount(constellation, 'named-browser');
  const browser = new TestBrowser(constellation);
  const options = await browser.begin('/v1/auth/login/options');
  await browser.take('/v1/auth/login/verify', {
    body: { challengeId: options.challengeId, credential: account.authenticator.get(options) },
    headers: { 'user-agent': `Mozilla/5.0\tx${'y'.repeat(500)}` },
  });
  const names = (await sessionsOf(account)).map(({ userAgent }) => userAgent);
  assert.deepEqual(names, [`Mozilla/5.0x${'y'.repeat(188)}`, null]);
});

test('a revoked session ends at once, here and on every other replica, with its frontends', async () => {
  const account = await registerAccount(constellation, 'loses-a-laptop');
  const laptop = await signIn(constellation, account.authenticator);
  const replica = await constellation.replica();
  const there = new TestBrowser({ port: replica.port, origin: replica.context.config.origin });
  there.cookie = laptop.cookie;
  const frontend = await openFrontend(laptop);
  assert.deepEqual([await codeOf(laptop), await codeOf(there)], ['signed in', 'signed in']);
  const id = (await sessionsOf(laptop)).find(({ current }) => current)?.id;
  const signalled = new Promise((resolve) => replica.context.signals.on('session-ended', resolve));
  assert.equal((await account.fetch(`/v1/auth/sessions/${id}`, { method: 'DELETE' })).status, 204);
  assert.deepEqual([await codeOf(laptop), await frontendCode(frontend)], ['unauthenticated', 'unauthenticated']);
  await signalled;
  assert.equal(await codeOf(there), 'unauthenticated');
  assert.equal(await codeOf(account), 'signed in');
});

test("an account cannot end another account's session, or learn that it exists", async () => {
  const owner = await registerAccount(constellation, 'session-owner');
  const stranger = await registerAccount(constellation, 'session-stranger');
  const [session] = await sessionsOf(owner);
  const foreign = await stranger.fetch(`/v1/auth/sessions/${session?.id}`, { method: 'DELETE' });
  const unknown = await stranger.fetch('/v1/auth/sessions/ses-unknown', { method: 'DELETE' });
  assert.deepEqual([problemCode(foreign), problemCode(unknown)], ['not_found', 'not_found']);
  assert.equal(await codeOf(owner), 'signed in');
});

test('revoking the session that asks signs out', async () => {
  const account = await registerAccount(constellation, 'ends-itself');
  const [session] = await sessionsOf(account);
  const answer = await account.fetch(`/v1/auth/sessions/${session?.id}`, { method: 'DELETE' });
  assert.equal(answer.status, 204);
  assert.match(answer.headers['set-cookie']?.[0] ?? '', /^platform_session=; .*Max-Age=0/);
});

test('signing in again in one browser replaces its session, also one of another account', async () => {
  const ada = await registerAccount(constellation, 'ada-again');
  const bob = await registerAccount(constellation, 'bob-again');
  const elsewhere = await signIn(constellation, ada.authenticator);
  const former = ada.cookie;
  await signIn(constellation, ada.authenticator, ada.browser);
  assert.notEqual(ada.cookie, former);
  const withFormer = (cookie: string) => ({ fetch: (path: string) => elsewhere.fetch(path, { headers: { cookie } }) });
  assert.equal(await codeOf(withFormer(former)), 'unauthenticated');
  assert.equal((await sessionsOf(ada)).length, 2);
  const adas = ada.cookie;
  await signIn(constellation, bob.authenticator, ada.browser);
  assert.equal(await codeOf(withFormer(adas)), 'unauthenticated');
  assert.equal(await codeOf(elsewhere), 'signed in');
});

test('a cookie that was planted beside the real one ends no session', async () => {
  const account = await registerAccount(constellation, 'tossed-cookie');
  const { cookie } = account;
  const attacker = new TestBrowser(constellation);
  attacker.cookie = `${cookie}; platform_session=pss_planted`;
  const options = await attacker.begin('/v1/auth/login/options');
  const body = { challengeId: options.challengeId, credential: account.authenticator.get(options) };
  await attacker.take('/v1/auth/login/verify', { body });
  assert.equal(await codeOf(account), 'signed in');
  const both = await account.fetch('/v1/auth/session', { headers: { cookie: `${cookie}; ${cookie}` } });
  assert.equal(problemCode(both), 'unauthenticated');
});

test('a session expires after its lifetime, differs from an unknown one for a week and is then forgotten', async () => {
  const account = await registerAccount(constellation, 'long-gone');
  const { config, pool } = constellation.core.context;
  ahead += config.sessionMilliseconds - 60_000;
  assert.equal(await codeOf(account), 'signed in');
  ahead += 60_000;
  assert.equal(await codeOf(account), 'session_expired');
  const back = await signIn(constellation, account.authenticator);
  assert.equal((await sessionsOf(back)).length, 1, 'the list leaves expired sessions out');
  ahead += 7 * DAY + 1_000;
  await signIn(constellation, account.authenticator);
  const hash = hashCredential(account.cookie.split('=')[1] ?? '');
  // Cleared a few at a time: sign in until the turn of this one has come.
  for (let turn = 0; turn < 10 && (await findSession({ pool, clock }, hash)) !== null; turn += 1)
    await signIn(constellation, account.authenticator);
  assert.equal(await findSession({ pool, clock }, hash), null);
});

test('looking a session up notes its use at most once a minute', async () => {
  const account = await registerAccount(constellation, 'often-used');
  const { pool } = constellation.core.context;
  const hash = hashCredential(account.cookie.split('=')[1] ?? '');
  const lastUsed = async () => {
    const { rows } = await pool.query('SELECT last_used_at FROM sessions WHERE token_hash = $1', [hash]);
    return rows[0].last_used_at.getTime() as number;
  };
  const opened = await lastUsed();
  const uses: number[] = [];
  for (const later of [30_000, 59_999, 60_000, 90_000, 119_999, 120_000]) {
    const found = await findSession({ pool, clock: () => new Date(opened + later) }, hash);
    assert.ok(found !== null && found !== 'expired');
    uses.push((await lastUsed()) - opened);
  }
  assert.deepEqual(uses, [0, 0, 60_000, 60_000, 60_000, 120_000]);
});

test('the list shows the last use to the minute, also of a session that is in use all the time', async () => {
  const account = await registerAccount(constellation, 'busy-session');
  const lastUsed = async () => Date.parse((await sessionsOf(account))[0]?.lastUsedAt ?? '');
  const opened = await lastUsed();
  ahead += 30_000;
  assert.equal(await lastUsed(), opened);
  ahead += 31_000;
  assert.equal(await codeOf(account), 'signed in');
  assert.ok((await lastUsed()) >= opened + 61_000);
});

test('a suspended account has no session', async () => {
  const account = await registerAccount(constellation, 'suspended-one');
  const { pool } = constellation.core.context;
  const hash = hashCredential(account.cookie.split('=')[1] ?? '');
  await pool.query('UPDATE accounts SET suspended_at = now() WHERE name = $1', [account.name]);
  assert.equal(await findSession({ pool, clock }, hash), null);
});

test('one session more than an account may have ends the one that was used longest ago', async () => {
  const account = await registerAccount(constellation, 'many-places');
  for (let count = 1; count < limits.sessionsPerAccount.value; count += 1) {
    await signIn(constellation, account.authenticator);
  }
  assert.equal(await codeOf(account), 'signed in');
  ahead += 1_000;
  const newest = await signIn(constellation, account.authenticator);
  assert.equal((await sessionsOf(newest)).length, limits.sessionsPerAccount.value);
  assert.equal(await codeOf(account), 'unauthenticated');
});
