// Promises of registration: all or nothing, one winner, one use of a challenge, and options as the contract says.
import { strict as assert } from 'node:assert';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { newAuthenticator, registerAccount, signIn, TestBrowser } from '../../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../../tests/support/constellation.ts';
import { problemCode, type RawAnswer } from '../../../../../tests/support/raw-http.ts';
import { countRows, databaseText } from '../../../test-support/database-sweep.ts';
import { defaultAppIds } from '../../catalog/face.ts';

let constellation: Constellation;
let ahead = 0;
before(async () => {
  constellation = await startConstellation({ clock: () => new Date(Date.now() + ahead) });
});
after(() => constellation.close());

const REGISTER = '/v1/auth/register';

function statuses(answers: readonly RawAnswer[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** Rows without what passes by itself: a challenge lives until it is used or cleared. */
async function lastingRows(): Promise<Record<string, number>> {
  const { challenges: _, ...lasting } = await countRows(constellation.core.context.pool);
  return lasting;
}

test('the options ask for a discoverable, verified passkey of a pinned algorithm and convey no attestation', async () => {
  const { config, pool } = constellation.core.context;
  const { challengeId, publicKey } = await new TestBrowser(constellation).begin(`${REGISTER}/options`, {
    name: 'Option-Asker',
  });
  const user = publicKey.user as { id: string; name: string; displayName: string };
  assert.match(Buffer.from(user.id, 'base64url').toString(), /^acct-[0-9a-f-]{36}$/);
  const prfInput = createHash('sha256').update(`platform/prf/v1:${config.rpId}`).digest('base64url');
  assert.deepEqual(publicKey, {
    challenge: publicKey.challenge,
    rp: { id: config.rpId, name: config.rpName },
    user: { id: user.id, name: 'option-asker', displayName: 'option-asker' },
    pubKeyCredParams: [-8, -7, -257].map((alg) => ({ type: 'public-key', alg })),
    timeout: config.challengeMilliseconds,
    excludeCredentials: [],
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    attestation: 'none',
    extensions: { credProps: true, prf: { eval: { first: prfInput } } },
  });
  assert.equal(Buffer.from(publicKey.challenge, 'base64url').length, 32);
  const { rows } = await pool.query('SELECT * FROM challenges WHERE id = $1', [challengeId]);
  assert.equal(rows[0].account_name, 'option-asker');
  assert.equal(rows[0].account_key, Buffer.from(user.id, 'base64url').toString());
});

test('an account has its passkey, its default apps and a session from its first moment', async () => {
  const account = await registerAccount(constellation, 'Ada-Lovelace');
  assert.equal(account.name, 'ada-lovelace');
  const session = (await account.fetch('/v1/auth/session')).json as { account: { name: string; createdAt: string } };
  assert.equal(session.account.name, 'ada-lovelace');
  const { rows } = await constellation.core.context.pool.query(
    `SELECT key, created_at, (SELECT count(*)::int FROM passkeys WHERE account_key = key) AS passkeys,
            (SELECT count(*)::int FROM installations WHERE account_key = key) AS installations
     FROM accounts WHERE name = 'ada-lovelace'`,
  );
  assert.deepEqual([rows[0].passkeys, rows[0].installations], [1, defaultAppIds.length]);
  assert.equal(session.account.createdAt, rows[0].created_at.toISOString());
  const [credential] = account.authenticator.credentials;
  assert.equal(credential?.userHandle.toString(), rows[0].key, 'the user handle is the account key');
  const apps = (await account.fetch('/v1/apps')).text;
  assert.ok(!apps.includes(rows[0].key), 'the account key is disclosed to no app');
});

test('nothing but public material and hashes is stored', async () => {
  const account = await registerAccount(constellation, 'only-hashes');
  const text = await databaseText(constellation.core.context.pool);
  const token = account.cookie.split('=')[1] ?? '';
  assert.match(token, /^pss_[\w-]{43}$/);
  assert.ok(!text.includes(token) && !text.includes(Buffer.from(token).toString('hex')));
  const [credential] = account.authenticator.credentials;
  const { d = '' } = credential?.privateKey.export({ format: 'jwk' }) ?? {};
  assert.ok(d.length > 40 && !text.includes(d) && !text.includes(Buffer.from(d, 'base64url').toString('hex')));
});

test('a taken name is refused at the first step, and decided at the second', async () => {
  const [early, late] = [new TestBrowser(constellation), new TestBrowser(constellation)];
  const options = await late.begin(`${REGISTER}/options`, { name: 'wanted-name' });
  await registerAccount(constellation, 'wanted-name');
  const taken = await early.fetch(`${REGISTER}/options`, { body: { name: 'WANTED-name' } });
  assert.equal(taken.status, 409);
  assert.equal(problemCode(taken), 'account_name_taken');
  const before = await lastingRows();
  const credential = newAuthenticator(constellation).create(options);
  const decided = await late.fetch(`${REGISTER}/verify`, { body: { challengeId: options.challengeId, credential } });
  assert.equal(problemCode(decided), 'account_name_taken');
  assert.equal(decided.headers['set-cookie'], undefined);
  assert.deepEqual(await lastingRows(), before);
});

test('of ten registrations of one name at the same time exactly one wins and the others leave nothing', async () => {
  const before = await lastingRows();
  await registerAccount(constellation, 'race-measure');
  const one = await lastingRows();
  const racers = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const browser = new TestBrowser(constellation);
      const options = await browser.begin(`${REGISTER}/options`, { name: 'race-winner' });
      const credential = newAuthenticator(constellation).create(options);
      return { browser, body: { challengeId: options.challengeId, credential } };
    }),
  );
  const answers = await Promise.all(racers.map(({ browser, body }) => browser.fetch(`${REGISTER}/verify`, { body })));
  assert.deepEqual(statuses(answers), { 201: 1, 409: 9 });
  assert.equal(racers.filter(({ browser }) => browser.cookie !== '').length, 1);
  const after = await lastingRows();
  for (const [table, rows] of Object.entries(after)) {
    const expected = (one[table] ?? 0) + ((one[table] ?? 0) - (before[table] ?? 0));
    assert.equal(rows, expected, `rows of ${table}`);
  }
});

test('of twenty uses of one challenge at the same time exactly one succeeds', async () => {
  const authenticator = newAuthenticator(constellation);
  const options = await new TestBrowser(constellation).begin(`${REGISTER}/options`, { name: 'one-use' });
  const body = { challengeId: options.challengeId, credential: authenticator.create(options) };
  const registered = await Promise.all(
    Array.from({ length: 20 }, () => new TestBrowser(constellation).fetch(`${REGISTER}/verify`, { body })),
  );
  assert.deepEqual(statuses(registered), { 201: 1, 401: 19 });

  const login = await new TestBrowser(constellation).begin('/v1/auth/login/options');
  const answer = { challengeId: login.challengeId, credential: authenticator.get(login) };
  const signedIn = await Promise.all(
    Array.from({ length: 20 }, () => new TestBrowser(constellation).fetch('/v1/auth/login/verify', { body: answer })),
  );
  assert.deepEqual(statuses(signedIn), { 200: 1, 401: 19 });
});

test('a failed attempt uses the challenge up too', async () => {
  const browser = new TestBrowser(constellation);
  const options = await browser.begin(`${REGISTER}/options`, { name: 'burned-once' });
  const authenticator = newAuthenticator(constellation);
  const forged = authenticator.create(options, { clientData: (data) => ({ ...data, origin: 'https://evil.example' }) });
  const valid = newAuthenticator(constellation).create(options);
  for (const credential of [forged, valid]) {
    const answer = await browser.fetch(`${REGISTER}/verify`, {
      body: { challengeId: options.challengeId, credential },
    });
    assert.equal(problemCode(answer), 'verification_failed');
  }
});

test('when the default apps cannot be installed, nothing of the account remains', async () => {
  const { pool } = constellation.core.context;
  await pool.query("ALTER TABLE installations ADD CONSTRAINT none_for_now CHECK (app_id <> 'wallet') NOT VALID");
  try {
    const before = await lastingRows();
    await assert.rejects(registerAccount(constellation, 'half-made'), /500 internal_error/);
    assert.deepEqual(await lastingRows(), before);
  } finally {
    await pool.query('ALTER TABLE installations DROP CONSTRAINT none_for_now');
  }
  assert.equal((await registerAccount(constellation, 'half-made')).name, 'half-made');
});

test('expired challenges are cleared while new ones are made, and never more than a few at once', async () => {
  const { pool, config } = constellation.core.context;
  const browser = new TestBrowser(constellation);
  for (let index = 0; index < 45; index += 1) await browser.begin('/v1/auth/login/options');
  const count = async () => (await countRows(pool)).challenges ?? 0;
  const full = await count();
  ahead += config.challengeMilliseconds;
  const left: number[] = [];
  for (let index = 0; index < 4; index += 1) {
    await browser.begin('/v1/auth/login/options');
    left.push(await count());
  }
  assert.ok(full >= 45);
  assert.deepEqual(left[0], full - 20 + 1);
  const { rows } = await pool.query('SELECT count(*)::int FROM challenges WHERE expires_at <= $1', [
    new Date(Date.now() + ahead),
  ]);
  assert.equal(rows[0].count, 0);
});

test('the sign-in options name no account and carry the PRF inputs of the relying party', async () => {
  const salt = Buffer.alloc(32, 3);
  const legacy = await startConstellation({ config: { rpId: 'example.test', prfLegacySalt: salt } });
  try {
    const { publicKey } = await new TestBrowser(legacy).begin('/v1/auth/login/options');
    assert.deepEqual(publicKey, {
      challenge: publicKey.challenge,
      rpId: 'example.test',
      allowCredentials: [],
      userVerification: 'required',
      timeout: 300_000,
      // SHA-256 of "platform/prf/v1:example.test".
      extensions: {
        prf: { eval: { first: PRF_INPUT_OF_EXAMPLE_TEST, second: salt.toString('base64url') } },
      },
    });
  } finally {
    await legacy.close();
  }
});

/** Computed with another program. */
const PRF_INPUT_OF_EXAMPLE_TEST = '5SldEYbybfpoJ0eujkCWhdGvgK14OTqeKHHcs52ubyw';

test('two sign-ins with one counter value: the second is refused, whichever comes first', async () => {
  const { authenticator, name } = await registerAccount(constellation, 'counting-key', { counts: true });
  const [credential] = authenticator.credentials;
  assert.ok(credential !== undefined);
  const attempts = [];
  for (let index = 0; index < 8; index += 1) {
    const browser = new TestBrowser(constellation);
    const options = await browser.begin('/v1/auth/login/options');
    credential.counter = 1;
    attempts.push({ browser, body: { challengeId: options.challengeId, credential: authenticator.get(options) } });
  }
  const answers = await Promise.all(
    attempts.map(({ browser, body }) => browser.fetch('/v1/auth/login/verify', { body })),
  );
  assert.deepEqual(statuses(answers), { 200: 1, 401: 7 });
  const { rows } = await constellation.core.context.pool.query(
    'SELECT counter::int FROM passkeys p JOIN accounts a ON a.key = p.account_key WHERE a.name = $1',
    [name],
  );
  assert.equal(rows[0].counter, 2);
});

test('a counter never goes back, and one that starts to count must not fall to 0 again', async () => {
  const { authenticator } = await registerAccount(constellation, 'cloned-key', { counts: true });
  const [credential] = authenticator.credentials;
  assert.ok(credential !== undefined);
  credential.counter = 10;
  await signIn(constellation, authenticator);
  for (const counter of [5, 10, -1]) {
    credential.counter = counter;
    await assert.rejects(
      signIn(constellation, authenticator),
      /401 verification_failed/,
      `after 11 came ${counter + 1}`,
    );
  }
  credential.counter = 4_294_967_294;
  await signIn(constellation, authenticator);
});

test('backup eligibility never changes, backup state is noted', async () => {
  const account = await registerAccount(constellation, 'backed-up', { backupEligible: true, backedUp: false });
  const [credential] = account.authenticator.credentials;
  assert.ok(credential !== undefined);
  const backedUp = async () =>
    ((await account.fetch('/v1/auth/passkeys')).json as { items: { backedUp: boolean }[] }).items[0]?.backedUp;
  assert.equal(await backedUp(), false);
  credential.backedUp = true;
  await signIn(constellation, account.authenticator);
  assert.equal(await backedUp(), true);
  Object.assign(credential, { backupEligible: false, backedUp: false });
  await assert.rejects(signIn(constellation, account.authenticator), /401 verification_failed/);
  assert.equal(await backedUp(), true);
});

test('a ceremony without user verification is refused, at registration and at sign-in', async () => {
  const withoutVerification = (bytes: Buffer) => {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(32) & ~0x04, 32);
    return changed;
  };
  const browser = new TestBrowser(constellation);
  const options = await browser.begin(`${REGISTER}/options`, { name: 'unverified' });
  const credential = newAuthenticator(constellation).create(options, { authData: withoutVerification });
  const registered = await browser.fetch(`${REGISTER}/verify`, {
    body: { challengeId: options.challengeId, credential },
  });
  assert.equal(problemCode(registered), 'verification_failed');
  const { authenticator } = await registerAccount(constellation, 'unverified');
  const login = await browser.begin('/v1/auth/login/options');
  const answer = await browser.fetch('/v1/auth/login/verify', {
    body: { challengeId: login.challengeId, credential: authenticator.get(login, { authData: withoutVerification }) },
  });
  assert.equal(problemCode(answer), 'verification_failed');
});

test("a passkey signs in to its own account only, even with another owner's handle over its own signature", async () => {
  const victim = await registerAccount(constellation, 'victim-one');
  const thief = await registerAccount(constellation, 'thief-one');
  const browser = new TestBrowser(constellation);
  const options = await browser.begin('/v1/auth/login/options');
  const [own] = victim.authenticator.credentials;
  const answer = thief.authenticator.get(options);
  const credential = {
    ...answer,
    response: { ...answer.response, userHandle: own?.userHandle.toString('base64url') },
  };
  const refused = await browser.fetch('/v1/auth/login/verify', {
    body: { challengeId: options.challengeId, credential },
  });
  assert.equal(problemCode(refused), 'verification_failed');
});

test('every failed ceremony answers the same, and only the log knows why', async () => {
  const { authenticator } = await registerAccount(constellation, 'same-answer');
  const browser = new TestBrowser(constellation);
  const bodies = [];
  for (const origin of ['https://canary-origin.example', undefined]) {
    const options = await browser.begin('/v1/auth/login/options');
    const credential = authenticator.get(
      options,
      origin === undefined ? {} : { clientData: (data) => ({ ...data, origin }) },
    );
    const id = origin === undefined ? 'A'.repeat(43) : credential.id;
    const answer = await browser.fetch('/v1/auth/login/verify', {
      body: { challengeId: options.challengeId, credential: { ...credential, id, rawId: id } },
    });
    const { requestId, ...same } = answer.json as { requestId: string };
    assert.ok(constellation.log.some(({ fields }) => 'requestId' in fields && fields.requestId === requestId));
    bodies.push(same);
  }
  assert.deepEqual(bodies[0], bodies[1]);
  assert.ok(!JSON.stringify(constellation.log).includes('canary-origin'), 'the log repeats what a client sent');
});
