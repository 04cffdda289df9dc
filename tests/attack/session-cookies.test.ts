// What a page of a sibling host can do to the cookies that the shell sends: it sets others of the session's name for the
// parent domain, with the value of its own session, on longer paths that come first, and in any number. With the id of
// its session (`Platform-Session`) the shell acts in that session alone, or learns that it is not there.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { SESSION_HEADER, type SessionAnswer } from '@platform/contract';
import { registerAccount, signIn, type TestAccount, TestBrowser } from '../support/client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../support/installed-app.ts';
import { problemCode, type RawAnswer, rawRequest } from '../support/raw-http.ts';

const NAME = 'platform_session';
const ABSENT = 'ses-01890000-0000-7000-8000-000000000000';

let world: Constellation;
let owner: TestAccount;
let attacker: TestAccount;
/** Of the owner. */
let app: InstalledTestApp;
let ahead = 0;

before(async () => {
  world = await startConstellation({ clock: () => new Date(Date.now() + ahead) });
  owner = await registerAccount(world, 'cookie-owner');
  attacker = await registerAccount(world, 'cookie-attacker');
  app = await installTestApp(world, owner, 'asks-for-pins', []);
});
after(() => world.close());

/** Several cookies, as a browser sends them. */
const jar = (...cookies: readonly string[]) => cookies.join('; ');
const planted = (value: string) => `${NAME}=${value}`;
const junk = (count: number) => Array.from({ length: count }, (_none, index) => planted(`pss_junk-${index}`));

/** Whose session the request is in: the account's name, or the code of the refusal. */
async function actsAs(cookie: string | undefined, pin: string | undefined): Promise<string> {
  const answer = await new TestBrowser(world).fetch('/v1/auth/session', { headers: { cookie, [SESSION_HEADER]: pin } });
  if (answer.status !== 200) {
    assert.equal(answer.status, 401);
    return problemCode(answer);
  }
  const { account, session } = answer.json as SessionAnswer;
  if (pin !== undefined) assert.equal(session.id, pin);
  return account.name;
}

describe('with the id of the session', () => {
  test('the cookie of that session counts, wherever it stands among others', async () => {
    const pin = owner.sessionId;
    assert.equal(await actsAs(owner.cookie, pin), 'cookie-owner');
    for (const cookie of [
      jar(attacker.cookie, owner.cookie),
      jar(owner.cookie, attacker.cookie),
      jar(planted(''), owner.cookie, planted('')),
      jar(planted('pss_x'), attacker.cookie, owner.cookie, attacker.cookie),
      jar(owner.cookie, owner.cookie),
      jar('other=1', attacker.cookie, 'theme=dark', owner.cookie),
      jar(...junk(400), owner.cookie, ...junk(100)),
    ])
      assert.equal(await actsAs(cookie, pin), 'cookie-owner', cookie.slice(0, 100));
  });

  test('no other session counts, alone or among others', async () => {
    const pin = owner.sessionId;
    for (const cookie of [
      attacker.cookie,
      planted('pss_x'),
      planted(''),
      planted(pin),
      jar(attacker.cookie, attacker.cookie),
      jar(attacker.cookie, planted(pin)),
      jar(...junk(500)),
      jar(owner.cookie.slice(0, -1), attacker.cookie),
    ])
      assert.equal(await actsAs(cookie, pin), 'session_replaced', cookie.slice(0, 100));
  });

  test('an id opens nothing by itself: not without a cookie, and not as the value of one', async () => {
    const pin = owner.sessionId;
    assert.equal(await actsAs(owner.cookie, pin), 'cookie-owner', 'its session is in the cache');
    assert.equal(await actsAs(undefined, pin), 'unauthenticated');
    assert.equal(await actsAs(planted(pin), undefined), 'unauthenticated');
    const bearer = await new TestBrowser(world).fetch('/v1/auth/session', {
      headers: { authorization: `Bearer ${pin}`, [SESSION_HEADER]: pin },
    });
    assert.equal(problemCode(bearer), 'unauthenticated');
  });

  test('the id of another session is not made up for by the right cookie', async () => {
    const second = await signIn(world, owner.authenticator);
    for (const pin of [attacker.sessionId, second.sessionId, ABSENT])
      assert.equal(await actsAs(owner.cookie, pin), 'session_replaced', pin);
    assert.equal(await actsAs(jar(owner.cookie, second.cookie), second.sessionId), 'cookie-owner');
    assert.equal(await actsAs(jar(owner.cookie, second.cookie), ABSENT), 'session_replaced');
  });

  test('an id in another form is no session, and never reaches the database', async () => {
    const pin = owner.sessionId;
    for (const form of [
      '',
      ' ',
      'x',
      '*',
      'ses-',
      pin.slice(0, -1),
      `${pin}0`,
      pin.toUpperCase(),
      `${pin}, ${pin}`,
      `${pin},${attacker.sessionId}`,
      `ses-${'0'.repeat(36)}`,
      `${pin}'; --`,
      'x'.repeat(4_000),
    ]) {
      assert.equal(await actsAs(owner.cookie, form), 'session_replaced', form.slice(0, 100));
      assert.equal(await actsAs(jar(owner.cookie, attacker.cookie), form), 'session_replaced', form.slice(0, 100));
    }
    // Sent twice it is two ids, not the first.
    const host = new URL(world.origin).host;
    const answer = await rawRequest({
      port: world.port,
      path: '/v1/auth/session',
      headers: { host, cookie: owner.cookie, [SESSION_HEADER]: [pin, attacker.sessionId] },
    });
    assert.equal(problemCode(answer), 'session_replaced');
  });

  test('what changes something acts in that session too, and what is refused changes nothing', async () => {
    const pinned = (cookie: string, path: string, more: object = {}): Promise<RawAnswer> =>
      new TestBrowser(world).fetch(path, { ...more, headers: { cookie, [SESSION_HEADER]: owner.sessionId } });
    const paused = async (account: TestAccount) =>
      (await account.browser.take<{ pausedAt: string | null }>('/v1/runtime')).pausedAt !== null;
    const both = jar(attacker.cookie, owner.cookie);
    assert.equal((await pinned(both, '/v1/runtime/pause', { body: {} })).status, 200);
    assert.deepEqual([await paused(owner), await paused(attacker)], [true, false]);
    assert.equal((await pinned(both, '/v1/runtime/resume', { body: {} })).status, 200);
    assert.equal(problemCode(await pinned(attacker.cookie, '/v1/runtime/pause', { body: {} })), 'session_replaced');
    assert.deepEqual([await paused(owner), await paused(attacker)], [false, false]);
    const subscribed = await pinned(attacker.cookie, '/v1/push/subscriptions', { body: {} });
    assert.equal(problemCode(subscribed), 'session_replaced');
    assert.equal(problemCode(await pinned(attacker.cookie, '/v1/auth/logout', { body: {} })), 'session_replaced');
    assert.equal(await actsAs(attacker.cookie, undefined), 'cookie-attacker');
  });

  test('a live stream opens in that session, or not at all', async () => {
    const stream = (cookie: string) =>
      new TestBrowser(world).fetch('/v1/events', { headers: { cookie, [SESSION_HEADER]: owner.sessionId } });
    assert.equal(problemCode(await stream(attacker.cookie)), 'session_replaced');
    assert.equal(problemCode(await stream(jar(attacker.cookie, planted('x')))), 'session_replaced');
  });

  test('a session that ended or expired is told from one that was replaced', async () => {
    const one = await signIn(world, owner.authenticator);
    await one.browser.fetch('/v1/auth/logout', { body: {}, headers: { [SESSION_HEADER]: one.sessionId } });
    const [cookie, pin] = [`${NAME}=pss_of-a-session-that-ended`, one.sessionId];
    assert.equal(await actsAs(cookie, pin), 'unauthenticated');
    assert.equal(await actsAs(attacker.cookie, pin), 'session_replaced');
    const other = await signIn(world, owner.authenticator);
    const kept = other.cookie;
    ahead += world.core.context.config.sessionMilliseconds;
    const fresh = await signIn(world, attacker.authenticator);
    assert.equal(await actsAs(kept, other.sessionId), 'session_expired');
    assert.equal(await actsAs(jar(fresh.cookie, kept), other.sessionId), 'session_expired');
    assert.equal(await actsAs(fresh.cookie, other.sessionId), 'session_replaced');
    owner = await signIn(world, owner.authenticator);
    attacker = fresh;
  });

  test('a session that is ended elsewhere ends for the pinned browser at once, on this replica and others', async () => {
    const replica = await world.replica();
    const laptop = await signIn(world, owner.authenticator);
    const headers = { cookie: jar(attacker.cookie, laptop.cookie), [SESSION_HEADER]: laptop.sessionId };
    const there = new TestBrowser({ port: replica.port, origin: replica.context.config.origin });
    assert.equal((await there.fetch('/v1/auth/session', { headers })).status, 200);
    const signalled = new Promise((resolve) => replica.context.signals.on('session-ended', resolve));
    await owner.fetch(`/v1/auth/sessions/${laptop.sessionId}`, { method: 'DELETE' });
    assert.equal(await actsAs(headers.cookie, laptop.sessionId), 'session_replaced');
    assert.equal(await actsAs(laptop.cookie, laptop.sessionId), 'unauthenticated');
    await signalled;
    assert.equal(problemCode(await there.fetch('/v1/auth/session', { headers })), 'session_replaced');
  });
});

describe('without the id', () => {
  test('one cookie is taken as it is, two are refused', async () => {
    assert.equal(await actsAs(owner.cookie, undefined), 'cookie-owner');
    for (const cookie of [
      jar(owner.cookie, attacker.cookie),
      jar(owner.cookie, owner.cookie),
      jar(owner.cookie, planted('')),
    ])
      assert.equal(await actsAs(cookie, undefined), 'unauthenticated');
  });
});

describe('signing in', () => {
  /** The answer to the beginning of each way to sign in. */
  const beginnings = (cookie: string) =>
    ['/v1/auth/login/options', '/v1/auth/register/options'].map((path) =>
      new TestBrowser(world).fetch(path, {
        body: path.includes('login') ? {} : { name: 'never-made' },
        headers: { cookie },
      }),
    );

  test('a browser that holds several session cookies is told to delete them before it signs in', async () => {
    for (const answer of await Promise.all(beginnings(jar(attacker.cookie, planted('x'))))) {
      assert.equal(answer.status, 200);
      assert.equal(answer.headers['clear-site-data'], '"cookies"');
    }
  });

  test('a browser without or with one keeps the cookies of its apps', async () => {
    for (const cookie of ['', 'theme=dark', owner.cookie, jar(owner.cookie, 'theme=dark')])
      for (const answer of await Promise.all(beginnings(cookie)))
        assert.equal(answer.headers['clear-site-data'], undefined, cookie);
  });

  test('works with any number of planted cookies, and the new session is the one that its answer names', async () => {
    const browser = new TestBrowser(world);
    const cookies = jar(attacker.cookie, ...junk(300));
    browser.cookie = cookies;
    const signedIn = await signIn(world, owner.authenticator, browser);
    assert.equal(await actsAs(jar(cookies, signedIn.cookie), signedIn.sessionId), 'cookie-owner');
    assert.equal(await actsAs(attacker.cookie, undefined), 'cookie-attacker', 'what was planted is not ended unasked');
  });
});

test('no app may send the id: neither a preflight nor an answer lets its origin', async () => {
  const { origin } = app;
  for (const [method, path] of [
    ['POST', '/v1/frontend/exchange'],
    ['GET', '/v1/services/apps'],
  ] as const) {
    const answer = await new TestBrowser(world).fetch(path, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': SESSION_HEADER.toLowerCase(),
      },
    });
    assert.equal(answer.status, 204);
    assert.doesNotMatch(String(answer.headers['access-control-allow-headers']), /platform-session|\*/i);
    assert.equal(answer.headers['access-control-allow-credentials'], undefined);
  }
  for (const path of ['/v1/auth/session', '/v1/apps']) {
    const answer = await new TestBrowser(world).fetch(path, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'GET' },
    });
    assert.equal(answer.headers['access-control-allow-origin'], undefined, path);
  }
  const withSession = await owner.fetch('/v1/auth/session', { headers: { origin, [SESSION_HEADER]: owner.sessionId } });
  assert.equal(problemCode(withSession), 'origin_not_allowed');
});

describe('400 large cookies', () => {
  const flood = Array.from({ length: 400 }, (_none, index) => `flood${index}=${'x'.repeat(4_000)}`).join('; ');
  const hosts = () => {
    const { origin, appsDomain } = world.core.context.config;
    const { host, port } = new URL(origin);
    return [host, `an-app--abcdefghijklmnopqrstu.${appsDomain}:${port}`];
  };

  test('every host that browsers reach answers with a page, tells the browser to delete them, and hangs up', async () => {
    for (const host of hosts()) {
      const headers = { host, accept: 'text/html,*/*;q=0.8', cookie: flood };
      const answer = await rawRequest({ port: world.port, path: '/', headers });
      assert.equal(answer.status, 431);
      assert.equal(answer.headers['clear-site-data'], '"cookies"');
      assert.equal(answer.headers.connection, 'close');
      assert.match(answer.headers['content-type'] ?? '', /^text\/html/);
      assert.match(answer.text, /Your browser sent too many cookies/);
      assert.match(answer.text, /Reload this page/);
    }
  });

  test('a request of the shell learns it from a problem document', async () => {
    const headers = { host: hosts()[0] ?? '', accept: '*/*', cookie: flood, [SESSION_HEADER]: owner.sessionId };
    const answer = await rawRequest({ port: world.port, path: '/v1/auth/session', headers });
    assert.deepEqual([answer.status, problemCode(answer)], [431, 'head_too_large']);
    assert.equal(answer.headers['clear-site-data'], '"cookies"');
  });
});
