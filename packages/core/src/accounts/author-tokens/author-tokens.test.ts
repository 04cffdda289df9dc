// Command lines that sign in: the code, the decision, the token, what it is good for and how it ends.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type AuthorRequestAnswer,
  type AuthorReview,
  type AuthorSelf,
  type AuthorTokenAnswer,
  type AuthorTokenView,
  authorCode,
  limits,
} from '@platform/contract';
import { authorToken, commandLine } from '../../../../../tests/support/author-token.ts';
import { confirm, newAuthenticator, registerAccount, type TestAccount } from '../../../../../tests/support/client.ts';
import { type Constellation, startConstellation, type TestCore } from '../../../../../tests/support/constellation.ts';
import { installTestApp } from '../../../../../tests/support/installed-app.ts';
import { buildTestPackage, testManifest } from '../../../../../tests/support/packages.ts';
import { problemCode, type RawAnswer } from '../../../../../tests/support/raw-http.ts';
import { defaultRates } from '../../config/rates.ts';
import { resumeSuspended, suspendAccount } from '../suspension/suspend-account.ts';

let platform: Constellation;
let replica: TestCore;
let anna: TestAccount;
let bert: TestAccount;

before(async () => {
  const first = await startConstellation();
  replica = await first.replica();
  // The local node has one credential: that of the last start.
  platform = { ...first, core: { ...first.core, localNode: replica.localNode } };
  anna = await registerAccount(platform, 'anna');
  bert = await registerAccount(platform, 'bert');
});
after(() => platform.close());

function send(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<RawAnswer> {
  return commandLine(platform).fetch(path, {
    ...(body === undefined ? {} : { body }),
    headers: { origin: undefined, ...headers },
  });
}
const as = (token: string) => ({ authorization: `Bearer ${token}` });
const whoAmI = (token: string) => send('/v1/author', undefined, as(token));

async function begin(machine = 'a laptop'): Promise<AuthorRequestAnswer> {
  const answer = await send('/v1/author/requests', { machine });
  assert.equal(answer.status, 201, answer.text);
  return answer.json as AuthorRequestAnswer;
}
const collect = (requestToken: string) => send('/v1/author/requests/collect', { requestToken });
const review = (who: TestAccount, code: string) => who.fetch('/v1/author/requests/review', { body: { code } });
async function decide(who: TestAccount, code: string, allow: boolean): Promise<RawAnswer> {
  const confirmation = allow ? { confirmation: await confirm(who, 'author.allow') } : {};
  return who.fetch('/v1/author/requests/decide', { body: { code, allow, ...confirmation } });
}

test('a command line gets its token once somebody approved its code, and only once', async () => {
  const { code, requestToken, page, pollSeconds } = await begin('anna’s laptop');
  assert.match(code, /^[2-9B-Z]{5}-[2-9B-Z]{5}$/);
  assert.match(requestToken, /^par_[\w-]{43}$/);
  assert.equal(page, `${platform.origin}/#/settings/command-line`);
  assert.equal(pollSeconds, limits.authorPollSeconds.value);
  assert.equal((await collect(requestToken)).status, 204);

  // As somebody types it who did not look closely.
  const seen = (await review(anna, ` ${code.toLowerCase().replace('-', ' ')}`)).json as AuthorReview;
  assert.deepEqual([seen.machine, seen.sameNetwork], ['anna’s laptop', true]);
  assert.equal((await collect(requestToken)).status, 204, 'looking at it decides nothing');
  assert.equal((await decide(anna, code, true)).status, 204);

  const answers = await Promise.all([1, 2, 3].map(() => collect(requestToken)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 404, 404]);
  const collected = answers.find(({ status }) => status === 200) ?? assert.fail();
  const { token, account } = collected.json as AuthorTokenAnswer;
  assert.match(token, /^pat_[\w-]{43}$/);
  assert.equal(account, 'anna');
  const self = (await whoAmI(token)).json as AuthorSelf;
  assert.deepEqual([self.account, self.machine], ['anna', 'anna’s laptop']);
});

test('without an answer, or with a no, there is no token', async () => {
  const denied = await begin();
  assert.equal((await decide(anna, denied.code, false)).status, 204);
  assert.equal(problemCode(await collect(denied.requestToken)), 'author_request_denied');
  assert.equal(problemCode(await decide(anna, denied.code, true)), 'author_request_ended', 'a no stays one');
  assert.equal(problemCode(await collect(denied.requestToken)), 'author_request_denied');
  assert.equal(problemCode(await collect(`par_${'A'.repeat(43)}`)), 'author_request_ended');

  const late = await begin();
  await platform.core.context.pool.query("UPDATE author_requests SET expires_at = now() - interval '1 second'");
  assert.equal(problemCode(await collect(late.requestToken)), 'author_request_ended');
  assert.equal(problemCode(await review(anna, late.code)), 'author_request_ended');
  assert.equal(problemCode(await decide(anna, late.code, true)), 'author_request_ended');
});

test('a session alone allows nothing: the passkey is used once more, for this and nothing else', async () => {
  const { code, requestToken } = await begin();
  const allowing = (body: object) => anna.fetch('/v1/author/requests/decide', { body: { code, allow: true, ...body } });
  const bare = await allowing({});
  assert.equal(problemCode(bare), 'invalid_request');
  assert.match(bare.text, /allowed with a passkey/);
  for (const confirmation of [await confirm(anna, 'account.export'), await confirm(bert, 'author.allow')])
    assert.equal(problemCode(await allowing({ confirmation })), 'verification_failed');
  assert.equal((await collect(requestToken)).status, 204, 'nothing is decided');

  const confirmation = await confirm(anna, 'author.allow');
  assert.equal((await allowing({ confirmation })).status, 204);
  const second = await begin();
  const replayed = await anna.fetch('/v1/author/requests/decide', {
    body: { code: second.code, allow: true, confirmation },
  });
  assert.equal(problemCode(replayed), 'verification_failed');
  assert.equal((await collect(second.requestToken)).status, 204);
});

test('the first decision counts, whoever makes it', async () => {
  const { code, requestToken } = await begin();
  const answers = await Promise.all([decide(anna, code, true), decide(bert, code, false), decide(bert, code, true)]);
  assert.equal(answers.filter(({ status }) => status === 204).length, 1);
  assert.ok(answers.every((answer) => answer.status === 204 || problemCode(answer) === 'author_request_ended'));
  await collect(requestToken);
});

test('neither codes nor tokens are stored in the clear, nor their plain hashes', async () => {
  const { code, requestToken } = await begin();
  const { token } = await authorToken(anna);
  const { rows } = await platform.core.context.pool.query<{ all: string }>(
    `SELECT (SELECT string_agg(r::text, '') FROM author_requests r) || (SELECT string_agg(t::text, '') FROM author_tokens t) AS all`,
  );
  const everything = rows[0]?.all ?? '';
  const plain = authorCode.parse(code);
  const { hash } = process.getBuiltinModule('node:crypto');
  for (const secret of [code, plain, requestToken, token, hash('sha256', plain), hash('sha256', code)])
    assert.ok(!everything.includes(secret));
});

test('a request from elsewhere shows', async () => {
  const { code } = await begin();
  await platform.core.context.pool.query("UPDATE author_requests SET address = '203.0.113.7'");
  const seen = (await review(anna, code)).json as AuthorReview;
  assert.deepEqual([seen.address, seen.sameNetwork], ['203.0.113.7', false]);
});

test('only the newest requests are kept', async () => {
  const { insertRequest } = await import('./author-queries.ts');
  const { database, time } = platform.core.context;
  const { requestToken: first } = await begin();
  const at = new Date(Date.now() + 1_000);
  const row = (n: number) => ({
    token_hash: Buffer.from(`token ${n}`),
    code_hash: Buffer.from(`code ${n}`),
    ...{
      machine: 'm',
      address: '::1',
      created_at: new Date(at.getTime() + n),
      expires_at: new Date(at.getTime() + 600_000),
    },
  });
  for (const n of [1, 2, 3]) await insertRequest(database, row(n), { kept: 2, proven: time.proven() });
  const { rows } = await platform.core.context.pool.query<{ n: number }>(
    'SELECT count(*)::int AS n FROM author_requests',
  );
  assert.equal(rows[0]?.n, 2);
  assert.equal(problemCode(await collect(first)), 'author_request_ended');
});

async function packageOf(appId: string, version: string): Promise<Buffer> {
  const manifest = {
    ...testManifest(appId, { workload: { runtime: 'node', entry: 'main.js' } }),
    version,
    visibility: 'private',
  };
  return buildTestPackage({ manifest, files: { 'frontend/index.html': '<!doctype html>', 'workload/main.js': '' } });
}

async function publish(token: string, appId: string, version: string): Promise<RawAnswer> {
  return commandLine(platform).fetch(`/v1/catalog/${appId}/versions/${version}`, {
    method: 'PUT',
    body: await packageOf(appId, version),
    headers: { origin: undefined, 'content-type': 'application/gzip', ...as(token) },
  });
}

function develop(token: string, appId: string, version: string): Promise<RawAnswer> {
  return commandLine(platform).fetch(`/v1/development/${appId}`, {
    method: 'PUT',
    body: { version },
    headers: { origin: undefined, ...as(token) },
  });
}

test('with a token one publishes in the name of its account, and nothing of anybody else', async () => {
  const { token } = await authorToken(anna);
  const other = await authorToken(bert);
  assert.equal((await publish(token, 'annas-app', '1.0.0')).status, 201);
  const { publisher } = await anna.browser.take<{ publisher: string }>('/v1/catalog/annas-app');
  assert.equal(publisher, 'anna');
  assert.equal(problemCode(await publish(other.token, 'annas-app', '1.1.0')), 'not_authorized');
  assert.equal(problemCode(await publish(token, 'launcher', '9.0.0')), 'not_authorized');
});

test('with a token one tries out development versions of one’s own, which gain no grants', async () => {
  const { token } = await authorToken(anna);
  const other = await authorToken(bert);
  const [first, second] = ['1.0.0-dev.1', '1.0.0-dev.2'];
  assert.equal((await publish(token, 'mine-dev', first)).status, 201);
  assert.equal(problemCode(await develop(other.token, 'mine-dev', first)), 'not_authorized');
  const installed = await develop(token, 'mine-dev', first);
  assert.deepEqual([installed.status, (installed.json as { missing: unknown[] }).missing], [200, []], installed.text);
  assert.equal((await publish(token, 'mine-dev', second)).status, 201);
  assert.equal((await develop(token, 'mine-dev', second)).status, 200);
  const { versions } = await anna.browser.take<{ versions: { version: string }[] }>('/v1/catalog/mine-dev');
  assert.deepEqual(
    versions.map(({ version }) => version),
    [second],
    'what was replaced is withdrawn',
  );
  // What is no development version is installed by a person, who reviews it.
  assert.equal((await publish(token, 'mine', '1.0.0')).status, 201);
  assert.equal(problemCode(await develop(token, 'mine', '1.0.0')), 'invalid_request');
  assert.equal(problemCode(await develop(token, 'launcher', '1.0.0')), 'not_authorized');
});

test('what a development version requests is listed, and granted by a person alone', async () => {
  const { token } = await authorToken(anna);
  const permissions = [{ id: 'notifications.publish', resources: ['news', 'more'] }];
  const manifest = { ...testManifest('asks-dev', { permissions }), version: '1.0.0-dev.1', visibility: 'private' };
  const body = await buildTestPackage({ manifest, files: { 'frontend/index.html': '<!doctype html>' } });
  const path = '/v1/catalog/asks-dev/versions/1.0.0-dev.1';
  const headers = { origin: undefined, 'content-type': 'application/gzip', ...as(token) };
  assert.equal((await commandLine(platform).fetch(path, { method: 'PUT', body, headers })).status, 201);
  assert.deepEqual((await develop(token, 'asks-dev', '1.0.0-dev.1')).json, {
    name: 'asks-dev',
    hasBackend: false,
    missing: permissions,
  });
  const grants = [{ id: 'notifications.publish', resources: ['news'] }];
  await anna.browser.take('/v1/apps/asks-dev/permissions', { method: 'PUT', body: { permissions: grants } });
  const again = (await develop(token, 'asks-dev', '1.0.0-dev.1')).json as { missing: unknown };
  assert.deepEqual(again.missing, [{ id: 'notifications.publish', resources: ['more'] }]);
});

test('a token reads the logs of apps of its account, and of no others that it has installed', async () => {
  const { token } = await authorToken(anna);
  const own = await installTestApp(platform, anna, 'logs-of-anna', []);
  const berts = await installTestApp(platform, bert, 'logs-of-bert', []);
  await anna.browser.take('/v1/apps', { body: { appId: berts.appId } });
  const read = (appId: string) => send(`/v1/apps/${appId}/logs`, undefined, as(token));
  // No node runs here that has the log; the token got through to it.
  assert.equal(problemCode(await read(own.appId)), 'workload_unavailable');
  assert.equal(problemCode(await read(berts.appId)), 'not_authorized');
  assert.equal(problemCode(await send(`/v1/apps/${berts.appId}/logs/stream`, undefined, as(token))), 'not_authorized');
});

interface Ended {
  readonly owner: TestAccount;
  readonly id: string;
  readonly token: string;
}

const ends: Readonly<Record<string, (ended: Ended) => Promise<unknown>>> = {
  'its owner revokes it': ({ owner, id }) => owner.browser.take(`/v1/author/tokens/${id}`, { method: 'DELETE' }),
  'the command line signs out': ({ token }) => send('/v1/author/logout', {}, as(token)),
  'its account is suspended, also once that is over': async ({ owner }) => {
    await suspendAccount(platform.core.context, owner.name);
    await resumeSuspended(platform.core.context, owner.name);
  },
};

let owners = 0;
for (const [how, end] of Object.entries(ends)) {
  test(`a token ends on every replica, with what it reads, when ${how}`, async () => {
    owners += 1;
    const owner = await registerAccount(platform, `owner-${owners}`);
    const { token } = await authorToken(owner);
    const there = { port: replica.port, origin: replica.context.config.origin };
    const onReplica = () => commandLine(there).fetch('/v1/author', { headers: { origin: undefined, ...as(token) } });
    for (const ask of [() => whoAmI(token), onReplica]) assert.equal((await ask()).status, 200);
    const { items } = await owner.browser.take<{ items: AuthorTokenView[] }>('/v1/author/tokens');
    await end({ owner, id: items[0]?.id ?? assert.fail(), token });
    await replica.context.signals.settled(replica.context.pool);
    await platform.core.context.signals.settled(platform.core.context.pool);
    for (const ask of [() => whoAmI(token), onReplica]) assert.equal(problemCode(await ask()), 'unauthenticated');
  });
}

test('an expired token is refused and not listed; nobody revokes the token of another account', async () => {
  const { token } = await authorToken(bert);
  const { items } = await bert.browser.take<{ items: AuthorTokenView[] }>('/v1/author/tokens');
  const path = `/v1/author/tokens/${items[0]?.id}`;
  assert.equal(problemCode(await anna.fetch(path, { method: 'DELETE' })), 'not_found');
  await platform.core.context.pool.query("UPDATE author_tokens SET expires_at = now() - interval '1 second'");
  assert.equal(problemCode(await whoAmI(token)), 'unauthenticated');
  assert.deepEqual((await bert.browser.take<{ items: unknown[] }>('/v1/author/tokens')).items, []);
});

test('what a passkey allowed ends with it: tokens, and codes that were not collected yet', async () => {
  const owner = await registerAccount(platform, 'lost-her-key');
  const key = newAuthenticator(platform);
  const options = await owner.browser.begin('/v1/auth/passkeys/options');
  const added = { challengeId: options.challengeId, credential: key.create(options) };
  const { passkey } = await owner.browser.take<{ passkey: { id: string } }>('/v1/auth/passkeys/verify', {
    body: added,
  });
  const withKey = { ...owner, authenticator: key };
  const tokenBy = async (who: TestAccount) => {
    const { code, requestToken } = await begin();
    assert.equal((await decide(who, code, true)).status, 204);
    return { requestToken, collect: async () => ((await collect(requestToken)).json as AuthorTokenAnswer).token };
  };
  const [kept, lost, waiting] = [await tokenBy(owner), await tokenBy(withKey), await tokenBy(withKey)];
  const [keptToken, lostToken] = [await kept.collect(), await lost.collect()];
  const confirmation = await confirm(owner, 'passkey.remove', passkey.id);
  await owner.browser.take(`/v1/auth/passkeys/${passkey.id}`, { method: 'DELETE', body: { confirmation } });
  assert.equal((await whoAmI(lostToken)).status, 401);
  assert.equal(problemCode(await collect(waiting.requestToken)), 'author_request_ended');
  assert.equal((await whoAmI(keptToken)).status, 200);
});

test('an account has a limited number of tokens: one more ends the one that was used longest ago', async () => {
  const owner = await registerAccount(platform, 'many-machines');
  const first = await authorToken(owner, 'first');
  const most = limits.authorTokensPerAccount.value;
  for (let n = 1; n <= most; n += 1) await authorToken(owner, `further ${n}`);
  const { items } = await owner.browser.take<{ items: AuthorTokenView[] }>('/v1/author/tokens');
  assert.deepEqual([items.length, items.some(({ machine }) => machine === 'first')], [most, false]);
  assert.equal(problemCode(await whoAmI(first.token)), 'unauthenticated');
});

test('codes cannot be tried out: one account enters few in a minute, one address begins few', async (t) => {
  const strict = await startConstellation({
    rates: { authorCode: defaultRates.authorCode, authorRequest: defaultRates.authorRequest },
  });
  t.after(() => strict.close());
  const owner = await registerAccount(strict, 'guesser');
  const tryOut = () => owner.fetch('/v1/author/requests/review', { body: { code: '22222-22222' } });
  const tried = await Promise.all(Array.from({ length: limits.authorCodeRate.value + 1 }, tryOut));
  assert.equal(tried.filter(({ status }) => status === 429).length, 1);
  // Deciding counts with looking.
  const decided = await owner.fetch('/v1/author/requests/decide', { body: { code: '22222-22222', allow: false } });
  assert.equal(problemCode(decided), 'rate_limited');
  const start = () =>
    commandLine(strict).fetch('/v1/author/requests', { body: { machine: 'm' }, headers: { origin: undefined } });
  const begun = await Promise.all(Array.from({ length: limits.authorRequestRate.value + 1 }, start));
  assert.equal(begun.filter(({ status }) => status === 429).length, 1);
});
