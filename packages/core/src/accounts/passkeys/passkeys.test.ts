// Promises of further passkeys and of the operator's enrolment link.
import { strict as assert } from 'node:assert';
import { after, before, test } from 'node:test';
import { limits, type PasskeyView } from '@platform/contract';
import {
  confirm,
  newAuthenticator,
  registerAccount,
  signIn,
  type TestAccount,
  TestBrowser,
} from '../../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../../tests/support/constellation.ts';
import { problemCode, type RawAnswer } from '../../../../../tests/support/raw-http.ts';
import type { SoftwareAuthenticator } from '../../../../../tests/support/software-authenticator.ts';
import { until } from '../../../../../tests/support/wait.ts';
import { databaseText } from '../../../test-support/database-sweep.ts';
import { hashCredential } from '../../credentials/credential.ts';
import { suspendAccount } from '../suspension/suspend-account.ts';
import { createEnrolmentLink } from './enrolment-link.ts';

let constellation: Constellation;
let ahead = 0;
before(async () => {
  constellation = await startConstellation({ clock: () => new Date(Date.now() + ahead) });
});
after(() => constellation.close());

async function passkeysOf(account: TestAccount): Promise<PasskeyView[]> {
  const answer = await account.fetch('/v1/auth/passkeys');
  assert.equal(answer.status, 200, answer.text);
  return (answer.json as { items: PasskeyView[] }).items;
}

async function addPasskey(account: TestAccount): Promise<{ answer: RawAnswer; authenticator: SoftwareAuthenticator }> {
  const authenticator = newAuthenticator(constellation);
  const options = await account.browser.begin('/v1/auth/passkeys/options');
  const body = { challengeId: options.challengeId, credential: authenticator.create(options) };
  return { answer: await account.fetch('/v1/auth/passkeys/verify', { body }), authenticator };
}

async function remove(
  account: TestAccount,
  id: string | undefined,
  authenticator = account.authenticator,
): Promise<RawAnswer> {
  const confirmation = await confirm({ ...account, authenticator }, 'passkey.remove', id);
  return account.fetch(`/v1/auth/passkeys/${id}`, { method: 'DELETE', body: { confirmation } });
}

async function newLink(name: string): Promise<string> {
  const link = await createEnrolmentLink(constellation.core.context, name);
  assert.ok(link !== null);
  const [origin, token = ''] = link.url.split('/#enrol=');
  assert.equal(origin, constellation.origin);
  return token;
}

interface Enrolment {
  readonly browser: TestBrowser;
  readonly authenticator: SoftwareAuthenticator;
  readonly body: unknown;
}

async function beginEnrolment(token: string): Promise<Enrolment> {
  const browser = new TestBrowser(constellation);
  const authenticator = newAuthenticator(constellation);
  const options = await browser.begin('/v1/auth/enrol/options', { token });
  return {
    browser,
    authenticator,
    body: { challengeId: options.challengeId, credential: authenticator.create(options) },
  };
}

test('a further passkey signs in to the same account, and each has its own name', async () => {
  const account = await registerAccount(constellation, 'two-passkeys');
  const { answer, authenticator } = await addPasskey(account);
  assert.equal(answer.status, 201, answer.text);
  const { passkey } = answer.json as { passkey: PasskeyView };
  assert.deepEqual(await passkeysOf(account), [(await passkeysOf(account))[0], passkey]);
  assert.deepEqual(
    (await passkeysOf(account)).map(({ label }) => label),
    ['Passkey 1', 'Passkey 2'],
  );
  assert.equal((await signIn(constellation, authenticator)).name, account.name);
  assert.equal((await signIn(constellation, account.authenticator)).name, account.name);
  assert.ok((await passkeysOf(account)).every(({ lastUsedAt }) => lastUsedAt !== null));
});

test('a credential id of any allowed length is named by a short id', async () => {
  const browser = new TestBrowser(constellation);
  const authenticator = newAuthenticator(constellation);
  const options = await browser.begin('/v1/auth/register/options', { name: 'long-credential' });
  const credential = authenticator.create(options, { credentialId: Buffer.alloc(1023, 0xff) });
  await browser.take('/v1/auth/register/verify', { body: { challengeId: options.challengeId, credential } });
  const account = await signIn(constellation, authenticator);
  const [passkey] = await passkeysOf(account);
  assert.match(passkey?.id ?? '', /^[0-9a-f]{64}$/);
  const renamed = await account.fetch(`/v1/auth/passkeys/${passkey?.id}`, { method: 'PATCH', body: { label: 'Long' } });
  assert.equal((renamed.json as { passkey: PasskeyView }).passkey.label, 'Long');
});

test("an account cannot rename or remove another account's passkey", async () => {
  const owner = await registerAccount(constellation, 'passkey-owner');
  const stranger = await registerAccount(constellation, 'passkey-stranger');
  await addPasskey(owner);
  const [passkey] = await passkeysOf(owner);
  const renamed = await stranger.fetch(`/v1/auth/passkeys/${passkey?.id}`, { method: 'PATCH', body: { label: 'x' } });
  assert.deepEqual(
    [problemCode(renamed), problemCode(await remove(stranger, passkey?.id))],
    ['not_found', 'not_found'],
  );
  assert.equal((await passkeysOf(owner)).length, 2);
});

test('a removed passkey no longer signs in; the last one stays', async () => {
  const account = await registerAccount(constellation, 'keeps-one');
  const { authenticator } = await addPasskey(account);
  const [first, second] = await passkeysOf(account);
  assert.equal((await remove(account, first?.id)).status, 204);
  await assert.rejects(signIn(constellation, account.authenticator), /401 verification_failed/);
  assert.equal(problemCode(await remove(account, second?.id, authenticator)), 'not_authorized');
  assert.equal((await signIn(constellation, authenticator)).name, account.name);
});

test('removing a passkey ends the sessions it opened, and no others', async () => {
  const owner = await registerAccount(constellation, 'lost-a-phone');
  const { authenticator: phone } = await addPasskey(owner);
  const stolen = await signIn(constellation, phone);
  const other = await signIn(constellation, owner.authenticator);
  const [first, second] = await passkeysOf(owner);
  assert.equal((await remove(owner, second?.id)).status, 204);
  assert.equal((await stolen.fetch('/v1/auth/session')).status, 401);
  assert.equal((await other.fetch('/v1/auth/session')).status, 200);
  assert.equal((await owner.fetch('/v1/auth/session')).status, 200);

  const { authenticator: key } = await addPasskey(owner);
  assert.equal((await remove(owner, first?.id)).status, 204, 'also the one that opened the session that asks');
  assert.equal((await owner.fetch('/v1/auth/session')).status, 200);
  assert.equal((await other.fetch('/v1/auth/session')).status, 401);
  assert.equal((await (await signIn(constellation, key)).fetch('/v1/auth/session')).status, 200);
});

test('a session that ends while the account is locked adds no passkey', async () => {
  const { pool } = constellation.core.context;
  const account = await registerAccount(constellation, 'outlived');
  const before = await passkeysOf(account);
  const options = await account.browser.begin('/v1/auth/passkeys/options');
  const credential = newAuthenticator(constellation).create(options);
  const lock = await pool.connect();
  try {
    await lock.query('BEGIN');
    await lock.query('SELECT FROM accounts WHERE name = $1 FOR UPDATE', [account.name]);
    const acting = account.fetch('/v1/auth/passkeys/verify', {
      body: { challengeId: options.challengeId, credential },
    });
    await until('it to wait for the account', async () => {
      const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%"accounts"%'`;
      return ((await pool.query(waiting)).rowCount ?? 0) > 0;
    });
    // As a revocation in another browser does it, which would wait for nothing here either.
    await pool.query('DELETE FROM sessions WHERE token_hash = $1', [
      hashCredential(account.cookie.slice(account.cookie.indexOf('=') + 1)),
    ]);
    await lock.query('COMMIT');
    assert.deepEqual([(await acting).status, problemCode(await acting)], [401, 'session_expired']);
  } finally {
    lock.release();
  }
  assert.deepEqual(await passkeysOf(await signIn(constellation, account.authenticator)).then(idsOf), idsOf(before));
});

const idsOf = (passkeys: readonly PasskeyView[]) => passkeys.map(({ id }) => id);

test('a session alone adds no passkey; with another passkey it does, and after a registration for five minutes', async () => {
  const account = await registerAccount(constellation, 'adds-later');
  const second = await addPasskey(account);
  assert.equal(second.answer.status, 201, 'at once after the registration');
  const elsewhere = await signIn(constellation, account.authenticator);
  for (const [what, session, minutes] of [
    ['another session', elsewhere, 0],
    ['the session of the registration, later', account, 5.1],
    ['the same with a clock that was set back', account, -1],
  ] as const) {
    ahead = minutes * 60_000;
    try {
      const refused = await session.fetch('/v1/auth/passkeys/options', { body: {} });
      assert.deepEqual([refused.status, problemCode(refused)], [400, 'invalid_request'], what);
      assert.match(refused.text, /"path":"confirmation"/);
      const wrong = await session.fetch('/v1/auth/passkeys/options', {
        body: { confirmation: await confirm(session, 'account.export') },
      });
      assert.deepEqual([wrong.status, problemCode(wrong)], [401, 'verification_failed'], what);
    } finally {
      ahead = 0;
    }
  }
  const confirmation = await confirm(elsewhere, 'passkey.add');
  const options = await elsewhere.browser.begin('/v1/auth/passkeys/options', { confirmation });
  const body = { challengeId: options.challengeId, credential: newAuthenticator(constellation).create(options) };
  assert.equal((await elsewhere.fetch('/v1/auth/passkeys/verify', { body })).status, 201);
  assert.equal((await elsewhere.fetch('/v1/auth/passkeys/options', { body: { confirmation } })).status, 401, 'once');
});

test('a session alone removes no passkey, nor does the confirmation of another removal', async () => {
  const account = await registerAccount(constellation, 'keeps-keys');
  await addPasskey(account);
  const [first, second] = await passkeysOf(account);
  const path = `/v1/auth/passkeys/${first?.id}`;
  const bare = await account.fetch(path, { method: 'DELETE' });
  assert.deepEqual([bare.status, problemCode(bare)], [400, 'invalid_request']);
  const empty = await account.fetch(path, { method: 'DELETE', body: {} });
  assert.deepEqual([empty.status, problemCode(empty)], [400, 'invalid_request']);
  const confirmation = await confirm(account, 'passkey.remove', second?.id);
  const other = await account.fetch(path, { method: 'DELETE', body: { confirmation } });
  assert.deepEqual([other.status, problemCode(other)], [401, 'verification_failed']);
  const without = await account.fetch('/v1/auth/confirm/options', { body: { operation: 'passkey.remove' } });
  assert.deepEqual([without.status, problemCode(without)], [400, 'invalid_request'], 'about no passkey');
  assert.equal((await passkeysOf(account)).length, 2);
});

test('of two removals of the last two passkeys at the same time one is refused, whichever passkey confirms which', async () => {
  for (let round = 0; round < 8; round += 1) {
    const account = await registerAccount(constellation, `removes-both-r${round}`);
    const { authenticator } = await addPasskey(account);
    const ids = (await passkeysOf(account)).map(({ id }) => id);
    // Each with the other one, then each with itself.
    const keys = round % 2 === 0 ? [authenticator, account.authenticator] : [account.authenticator, authenticator];
    const answers = await Promise.all(ids.map((id, at) => remove(account, id, keys[at])));
    const refused = answers.find(({ status }) => status !== 204) ?? assert.fail('both were removed');
    // It was confirmed with a passkey that is gone, or is about the last.
    assert.ok(['verification_failed', 'not_authorized'].includes(problemCode(refused) ?? ''), refused.text);
    assert.equal((await passkeysOf(account)).length, 1);
  }
});

test('a removal while the operator suspends the account comes before the suspension, or is refused', async () => {
  for (let round = 0; round < 8; round += 1) {
    const account = await registerAccount(constellation, `suspended-r${round}`);
    await addPasskey(account);
    const [passkey] = await passkeysOf(account);
    const confirmation = await confirm(account, 'passkey.remove', passkey?.id);
    const [answer, suspended] = await Promise.all([
      account.fetch(`/v1/auth/passkeys/${passkey?.id}`, { method: 'DELETE', body: { confirmation } }),
      suspendAccount(constellation.core.context, account.name),
    ]);
    assert.ok(suspended);
    assert.ok(answer.status === 204 || answer.status === 401, answer.text);
  }
});

test('a confirmation that begins while its session ends is refused as any request of it', async () => {
  const account = await registerAccount(constellation, 'begins-late');
  const other = await signIn(constellation, account.authenticator);
  const begin = () => other.fetch('/v1/auth/confirm/options', { body: { operation: 'account.export' } });
  const answers = await Promise.all([
    ...Array.from({ length: 8 }, begin),
    account.fetch(`/v1/auth/sessions/${other.sessionId}`, { method: 'DELETE' }),
    ...Array.from({ length: 8 }, begin),
  ]);
  assert.ok(
    answers.every(({ status }) => [200, 204, 401].includes(status)),
    answers.map(({ status }) => status).join(' '),
  );
});

test('an account has at most as many passkeys as the limit says, also when all are added at once', async () => {
  const account = await registerAccount(constellation, 'collects-keys');
  const { value } = limits.passkeysPerAccount;
  const begun = [];
  for (let count = 0; count < value + 5; count += 1) {
    const options = await account.browser.begin('/v1/auth/passkeys/options');
    const credential = newAuthenticator(constellation).create(options);
    begun.push({ challengeId: options.challengeId, credential });
  }
  const answers = await Promise.all(begun.map((body) => account.fetch('/v1/auth/passkeys/verify', { body })));
  assert.equal(answers.filter(({ status }) => status === 201).length, value - 1);
  assert.ok(answers.every((answer) => answer.status === 201 || problemCode(answer) === 'not_authorized'));
  assert.equal((await passkeysOf(account)).length, value);
  const refused = await account.fetch('/v1/auth/passkeys/options', { body: {} });
  assert.equal(problemCode(refused), 'not_authorized');
  assert.equal((await remove(account, (await passkeysOf(account))[0]?.id)).status, 204);
  assert.equal((await addPasskey(account)).answer.status, 201);
});

test('of twenty uses of one challenge for a further passkey exactly one succeeds', async () => {
  const account = await registerAccount(constellation, 'adds-once');
  const options = await account.browser.begin('/v1/auth/passkeys/options');
  const body = { challengeId: options.challengeId, credential: newAuthenticator(constellation).create(options) };
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => account.fetch('/v1/auth/passkeys/verify', { body })),
  );
  assert.equal(answers.filter(({ status }) => status === 201).length, 1);
  assert.equal((await passkeysOf(account)).length, 2);
});

test('labels are trimmed, bounded and free of control characters', async () => {
  const account = await registerAccount(constellation, 'labels-things');
  const [passkey] = await passkeysOf(account);
  const rename = (label: unknown) =>
    account.fetch(`/v1/auth/passkeys/${passkey?.id}`, { method: 'PATCH', body: { label } });
  assert.equal(((await rename('  Blue key 🔑 ')).json as { passkey: PasskeyView }).passkey.label, 'Blue key 🔑');
  for (const label of ['', '   ', 'x'.repeat(61), 'a\u0000b', 'a\nb', 7, null])
    assert.equal(problemCode(await rename(label)), 'invalid_request', JSON.stringify(label));
  assert.equal((await passkeysOf(account))[0]?.label, 'Blue key 🔑');
});

test("the operator's link adds a passkey and signs in, once", async () => {
  const account = await registerAccount(constellation, 'lost-everything');
  const token = await newLink('lost-everything');
  const { browser, authenticator, body } = await beginEnrolment(token);
  const answer = await browser.fetch('/v1/auth/enrol/verify', { body });
  assert.equal(answer.status, 200, answer.text);
  assert.equal((answer.json as { account: { name: string } }).account.name, account.name);
  assert.equal((await browser.fetch('/v1/auth/session')).status, 200);
  assert.equal((await signIn(constellation, authenticator)).name, account.name);
  assert.equal((await passkeysOf(account)).length, 2);
  const again = await new TestBrowser(constellation).fetch('/v1/auth/enrol/options', { body: { token } });
  assert.equal(problemCode(again), 'verification_failed');
});

test('of ten people with the same link one gets in', async () => {
  const account = await registerAccount(constellation, 'shared-link');
  const token = await newLink('shared-link');
  const all = await Promise.all(Array.from({ length: 10 }, () => beginEnrolment(token)));
  const answers = await Promise.all(all.map(({ browser, body }) => browser.fetch('/v1/auth/enrol/verify', { body })));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(9).fill(401)]);
  assert.equal((await passkeysOf(account)).length, 2);
});

test('a failed attempt leaves the link usable', async () => {
  await registerAccount(constellation, 'second-try');
  const token = await newLink('second-try');
  const browser = new TestBrowser(constellation);
  const options = await browser.begin('/v1/auth/enrol/options', { token });
  const credential = newAuthenticator(constellation).create(options, {
    format: 'packed',
    authData: (bytes) => bytes.subarray(1),
  });
  const failed = await browser.fetch('/v1/auth/enrol/verify', {
    body: { challengeId: options.challengeId, credential },
  });
  assert.equal(problemCode(failed), 'verification_failed');
  const { browser: next, body } = await beginEnrolment(token);
  assert.equal((await next.fetch('/v1/auth/enrol/verify', { body })).status, 200);
});

test('a link ends after fifteen minutes, between its two steps too', async () => {
  await registerAccount(constellation, 'too-late');
  const token = await newLink('too-late');
  ahead += limits.enrolmentLinkSeconds.value * 1000 - 60_000;
  const { browser, body } = await beginEnrolment(token);
  ahead += 60_000;
  assert.equal(problemCode(await browser.fetch('/v1/auth/enrol/verify', { body })), 'verification_failed');
  const late = await browser.fetch('/v1/auth/enrol/options', { body: { token } });
  assert.equal(problemCode(late), 'verification_failed');
});

test('a new link ends the former one, and an unknown account gets none', async () => {
  await registerAccount(constellation, 'asks-twice');
  const former = await newLink('asks-twice');
  const begun = await beginEnrolment(former);
  const token = await newLink('asks-twice');
  assert.equal(
    problemCode(await begun.browser.fetch('/v1/auth/enrol/verify', { body: begun.body })),
    'verification_failed',
  );
  const { browser, body } = await beginEnrolment(token);
  assert.equal((await browser.fetch('/v1/auth/enrol/verify', { body })).status, 200);
  assert.equal(await createEnrolmentLink(constellation.core.context, 'no-such-name'), null);
});

test('the token of a link is stored hashed and logged never', async () => {
  await registerAccount(constellation, 'quiet-link');
  const token = await newLink('quiet-link');
  const { browser, body } = await beginEnrolment(token);
  await browser.take('/v1/auth/enrol/verify', { body });
  await newLink('quiet-link');
  const text = (await databaseText(constellation.core.context.pool)) + JSON.stringify(constellation.log);
  assert.ok(!text.includes(token));
  assert.ok(!text.includes(Buffer.from(token).toString('hex')));
});

test('an enrolment challenge adds no passkey by another route', async () => {
  await registerAccount(constellation, 'enrol-victim');
  const stranger = await registerAccount(constellation, 'enrol-stranger');
  for (const path of ['/v1/auth/passkeys/verify', '/v1/auth/register/verify']) {
    const { body } = await beginEnrolment(await newLink('enrol-victim'));
    assert.equal(problemCode(await stranger.fetch(path, { body })), 'verification_failed');
  }
});
