// An operation that needs the passkey once more takes effect with exactly the assertion made for it, once.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { CeremonyOptions } from '@platform/contract';
import {
  confirm,
  newAuthenticator,
  registerAccount,
  signIn,
  type TestAccount,
} from '../../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../../tests/support/constellation.ts';
import { problemCode, type RawAnswer } from '../../../../../tests/support/raw-http.ts';

const PATH = '/v1/account/deletion';

let now = new Date();
let platform: Constellation;
let account: TestAccount;
let stranger: TestAccount;
let accounts = 0;

before(async () => {
  platform = await startConstellation({ clock: () => now });
  stranger = await registerAccount(platform, 'stranger');
});
after(() => platform.close());
beforeEach(async () => {
  accounts += 1;
  now = new Date();
  account = await registerAccount(platform, `leaver-${accounts}`, { counts: true });
});

type Confirmation = Awaited<ReturnType<typeof confirm>>;

const remove = (confirmation: unknown, by = account, headers: Record<string, string | undefined> = {}) =>
  by.fetch(PATH, { body: { name: by.name, confirmation }, headers });
const begin = (by = account, operation = 'account.delete') =>
  by.browser.begin('/v1/auth/confirm/options', { operation });
const answered = (options: CeremonyOptions, by = account): Confirmation => ({
  challengeId: options.challengeId,
  credential: by.authenticator.get(options),
});

function refused(answer: RawAnswer, status = 401, code = 'verification_failed'): void {
  assert.deepEqual([answer.status, problemCode(answer)], [status, code], answer.text);
}
const faults = () => platform.log.flatMap(({ fields }) => ('fault' in fields ? [fields.fault] : []));

async function stillOpen(): Promise<void> {
  const { account: view } = await account.browser.take<{ account: object }>('/v1/auth/session');
  assert.ok(!('deletesAt' in view));
}

test('it offers the passkeys of the account, and no secret of them is evaluated', async () => {
  const { publicKey } = await begin();
  const { allowCredentials, userVerification } = publicKey as {
    allowCredentials?: object[];
    userVerification?: string;
  };
  const [{ id }] = account.authenticator.credentials as unknown as [{ id: Buffer }];
  assert.deepEqual(allowCredentials, [
    { type: 'public-key', id: id.toString('base64url'), transports: ['internal', 'hybrid'] },
  ]);
  assert.equal(userVerification, 'required');
  assert.ok(!('extensions' in publicKey));
});

test('an authenticator need not say whose passkey it is, but may not say another', async () => {
  const own = await confirm(account, 'account.delete');
  const { userHandle: _, ...response } = own.credential.response;
  const foreign = stranger.authenticator.credentials[0]?.userHandle.toString('base64url');
  refused(await remove({ ...own, credential: { ...own.credential, response: { ...response, userHandle: foreign } } }));
  assert.equal(faults().at(-1), 'user-handle-differs');
  const second = await confirm(account, 'account.delete');
  const { userHandle: __, ...without } = second.credential.response;
  assert.equal((await remove({ ...second, credential: { ...second.credential, response: without } })).status, 200);
});

test('one assertion works once, also of many at the same time', async () => {
  const confirmation = await confirm(account, 'account.delete');
  const answers = await Promise.all(Array.from({ length: 6 }, () => remove(confirmation)));
  assert.deepEqual(answers.map(({ status }) => status).filter((status) => status === 200).length, 1);
  await account.fetch(PATH, { method: 'DELETE' });
  refused(await remove(confirmation));
  assert.equal(faults().at(-1), 'challenge-unknown');
  await stillOpen();
});

test('a refused attempt uses the challenge up', async () => {
  const options = await begin();
  const wrong = { challengeId: options.challengeId, credential: stranger.authenticator.get(options) };
  refused(await remove(wrong));
  assert.equal(faults().at(-1), 'credential-of-another-account');
  refused(await remove(answered(options)));
  assert.equal(faults().at(-1), 'challenge-unknown');
  await stillOpen();
});

test('an assertion for another operation, another ceremony or another session is refused', async () => {
  refused(await remove(await confirm(account, 'account.export')));
  assert.equal(faults().at(-1), 'challenge-of-another-operation');

  refused(await remove(answered(await account.browser.begin('/v1/auth/login/options'))));
  assert.equal(faults().at(-1), 'challenge-of-another-operation');

  const forSignIn = await account.fetch('/v1/auth/login/verify', { body: answered(await begin()) });
  refused(forSignIn);
  assert.equal(faults().at(-1), 'challenge-of-another-operation');

  const otherDevice = await signIn(platform, account.authenticator);
  refused(await remove(answered(await begin(otherDevice))));
  assert.equal(faults().at(-1), 'challenge-of-another-session');
  await stillOpen();
});

test('the challenge of another account confirms nothing, whoever answers it', async () => {
  const theirs = await begin(stranger);
  refused(await remove(answered(theirs)));
  assert.equal(faults().at(-1), 'challenge-of-another-session');
  refused(
    await remove({ challengeId: (await begin(stranger)).challengeId, credential: stranger.authenticator.get(theirs) }),
  );
  await stillOpen();
});

test('it expires', async () => {
  const confirmation = await confirm(account, 'account.delete');
  now = new Date(now.getTime() + platform.core.context.config.challengeMilliseconds + 1);
  refused(await remove(confirmation));
  assert.equal(faults().at(-1), 'challenge-expired');
  await stillOpen();
});

test('a passkey that was removed, or a session that was ended, since it began confirms nothing', async () => {
  const options = await account.browser.begin('/v1/auth/passkeys/options');
  const body = { challengeId: options.challengeId, credential: newAuthenticator(platform).create(options) };
  await account.browser.take('/v1/auth/passkeys/verify', { body });
  const before = await begin();
  const { items } = await account.browser.take<{ items: { id: string; label: string }[] }>('/v1/auth/passkeys');
  const removed = items.find(({ label }) => label === 'Passkey 1')?.id;
  const removal = { confirmation: await confirm(account, 'passkey.remove', removed) };
  assert.equal((await account.fetch(`/v1/auth/passkeys/${removed}`, { method: 'DELETE', body: removal })).status, 204);
  refused(await remove({ challengeId: before.challengeId, credential: account.authenticator.get(before) }));
  assert.equal(faults().at(-1), 'credential-unknown');
  const confirmation = await confirm(stranger, 'account.delete');
  const elsewhere = await signIn(platform, stranger.authenticator);
  await elsewhere.fetch(`/v1/auth/sessions/${stranger.sessionId}`, { method: 'DELETE' });
  refused(await remove(confirmation, stranger), 401, 'unauthenticated');
  stranger = elsewhere;
});

test('the request must come from the shell, with its session', async () => {
  refused(
    await remove(await confirm(account, 'account.delete'), account, { origin: undefined }),
    403,
    'origin_not_allowed',
  );
  const app = { origin: `http://x.apps.${new URL(platform.origin).host}` };
  refused(await remove(await confirm(account, 'account.delete'), account, app), 403, 'origin_not_allowed');
  refused(
    await remove(await confirm(account, 'account.delete'), account, { cookie: undefined }),
    401,
    'unauthenticated',
  );
  const noOrigin = await account.fetch('/v1/auth/confirm/options', {
    body: { operation: 'account.delete' },
    headers: { origin: undefined },
  });
  refused(noOrigin, 403, 'origin_not_allowed');
  await stillOpen();
});

test('a name that differs refuses before the passkey counts', async () => {
  const confirmation = await confirm(account, 'account.delete');
  const answer = await account.fetch(PATH, { body: { name: 'stranger', confirmation } });
  refused(answer, 400, 'invalid_request');
  assert.match(answer.text, new RegExp(`Type ${account.name}`));
  assert.equal((await remove(confirmation)).status, 200);
});
