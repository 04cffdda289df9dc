// The recipient of an account over HTTP: changed on the condition that nobody did meanwhile, with wrappings of the account's own
// passkeys alone, replaced only with a passkey; and nothing that opens it is taken.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { limits, type Recipient, type RecipientWrapping } from '@platform/contract';
import { confirm, newAuthenticator, registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { problemCode, type RawAnswer } from '../../../../tests/support/raw-http.ts';
import { prfOutput } from '../../../../tests/support/software-authenticator.ts';
import { until } from '../../../../tests/support/wait.ts';

const PATH = '/v1/account/recipient';

let world: Constellation;
let accounts = 0;
before(async () => {
  world = await startConstellation();
});
after(() => world.close());

async function newAccount(): Promise<TestAccount> {
  accounts += 1;
  return registerAccount(world, `recipient-${accounts}`);
}

const sealed = (bytes = 60) => randomBytes(bytes).toString('base64url');
const publicKey = () => randomBytes(32).toString('base64url');

function passkeyIds({ authenticator }: TestAccount): string[] {
  return authenticator.credentials.map(({ id }) => createHash('sha256').update(id.toString('base64url')).digest('hex'));
}

function wrapping(account: TestAccount, at = 0, change: Partial<RecipientWrapping> = {}): RecipientWrapping {
  return { passkeyId: passkeyIds(account)[at] ?? '', salt: 'rp', sealed: sealed(), ...change };
}

const read = async ({ browser }: TestAccount) => (await browser.take<{ recipient: Recipient | null }>(PATH)).recipient;
const put = ({ browser }: TestAccount, body: object) => browser.fetch(PATH, { method: 'PUT', body });

function refused(answer: RawAnswer, status: number, code: string): void {
  assert.deepEqual([answer.status, problemCode(answer)], [status, code], answer.text);
}

async function first(account: TestAccount): Promise<Recipient> {
  const answer = await put(account, { ifVersion: 0, publicKey: publicKey(), wrappings: [wrapping(account)] });
  assert.equal(answer.status, 200, answer.text);
  return JSON.parse(answer.text).recipient;
}

/** With the same authenticator. */
async function addPasskey(account: TestAccount): Promise<void> {
  const confirmation = await confirm(account, 'passkey.add');
  const options = await account.browser.begin('/v1/auth/passkeys/options', { confirmation });
  const other = newAuthenticator(world);
  const credential = other.create(options);
  account.authenticator.credentials.push(...other.credentials);
  await account.browser.take('/v1/auth/passkeys/verify', { body: { challengeId: options.challengeId, credential } });
}

test('there is none at first; what is put is what is read, by this account alone', async () => {
  const [account, neighbour] = [await newAccount(), await newAccount()];
  assert.equal(await read(account), null);
  const body = { publicKey: publicKey(), wrappings: [wrapping(account)] };
  const answer = await put(account, { ifVersion: 0, ...body });
  assert.deepEqual(JSON.parse(answer.text), { recipient: { version: 1, ...body } });
  assert.deepEqual(await read(account), { version: 1, ...body });
  assert.equal(await read(neighbour), null);
});

test('a change of another version than the one that is there is refused, and changes nothing', async () => {
  const account = await newAccount();
  const there = await first(account);
  for (const ifVersion of [0, 2, 2_147_483_647])
    refused(await put(account, { ...there, version: undefined, ifVersion }), 409, 'recipient_conflict');
  assert.deepEqual(await read(account), there);
});

test('of many first recipients at once one is kept', async () => {
  const account = await newAccount();
  const bodies = Array.from({ length: 8 }, () => ({
    ifVersion: 0,
    publicKey: publicKey(),
    wrappings: [wrapping(account)],
  }));
  const answers = await Promise.all(bodies.map((body) => put(account, body)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array<number>(7).fill(409)]);
  const won = answers.findIndex(({ status }) => status === 200);
  assert.equal((await read(account))?.publicKey, bodies[won]?.publicKey);
});

test('wrappings are for passkeys of the account, each named once', async () => {
  const [account, neighbour] = [await newAccount(), await newAccount()];
  const key = publicKey();
  const own = wrapping(account);
  for (const wrappings of [
    [],
    [own, own],
    [wrapping(neighbour)],
    [own, wrapping(neighbour)],
    [{ ...own, passkeyId: 'x' }],
  ])
    refused(await put(account, { ifVersion: 0, publicKey: key, wrappings }), 400, 'invalid_request');
  assert.equal(await read(account), null);
});

test('a passkey that opens it goes on opening it: a session alone takes no wrapping away', async () => {
  const account = await newAccount();
  const there = await first(account);
  await addPasskey(account);
  const two = [...there.wrappings, wrapping(account, 1)];
  const body = { publicKey: there.publicKey, wrappings: two };
  assert.equal((await put(account, { ifVersion: 1, ...body })).status, 200);
  refused(await put(account, { ifVersion: 2, ...body, wrappings: [wrapping(account, 1)] }), 400, 'invalid_request');
  // Other bytes in place of them would open nothing.
  const anew = [two[0], wrapping(account, 1)];
  const without = await put(account, { ifVersion: 2, ...body, wrappings: anew });
  refused(without, 400, 'invalid_request');
  assert.match(without.text, /recipient\.replace/);
  refused(
    await put(account, { ifVersion: 2, ...body, wrappings: two.map((one) => ({ ...one, salt: 'older' })) }),
    400,
    'invalid_request',
  );
  assert.equal((await read(account))?.version, 2);
  const confirmation = await confirm(account, 'recipient.replace');
  assert.equal((await put(account, { ifVersion: 2, ...body, wrappings: anew, confirmation })).status, 200);
});

test('what was sealed under the older salt is wrapped anew once, by a session', async () => {
  const account = await newAccount();
  const body = { publicKey: publicKey(), wrappings: [wrapping(account, 0, { salt: 'older' })] };
  assert.equal((await put(account, { ifVersion: 0, ...body })).status, 200);
  const wrappings = [wrapping(account)];
  assert.equal((await put(account, { ...body, ifVersion: 1, wrappings })).status, 200);
  refused(await put(account, { ...body, ifVersion: 2, wrappings: [wrapping(account)] }), 400, 'invalid_request');
  assert.deepEqual((await read(account))?.wrappings, wrappings);
});

test('a passkey that is removed takes its wrapping along, and what was read before is of a former version', async () => {
  const account = await newAccount();
  const there = await first(account);
  await addPasskey(account);
  const [one = wrapping(account)] = there.wrappings;
  const other = wrapping(account, 1);
  await put(account, { ifVersion: 1, publicKey: there.publicKey, wrappings: [one, other] });
  const confirmation = await confirm(account, 'passkey.remove', one.passkeyId);
  await account.browser.take(`/v1/auth/passkeys/${one.passkeyId}`, { method: 'DELETE', body: { confirmation } });
  assert.deepEqual(await read(account), { version: 3, publicKey: there.publicKey, wrappings: [other] });
  const stale = { publicKey: there.publicKey, wrappings: [one, other] };
  refused(await put(account, { ifVersion: 2, ...stale }), 409, 'recipient_conflict');
  refused(await put(account, { ifVersion: 3, ...stale }), 400, 'invalid_request');
});

test('another public key needs a passkey, for this and nothing else, and its owner is notified', async () => {
  const account = await newAccount();
  const there = await first(account);
  const body = { ifVersion: 1, publicKey: publicKey(), wrappings: [wrapping(account)] };
  const without = await put(account, body);
  refused(without, 400, 'invalid_request');
  assert.match(without.text, /recipient\.replace/);
  const wrong = await confirm(account, 'passkey.add');
  refused(await put(account, { ...body, confirmation: wrong }), 401, 'verification_failed');
  assert.deepEqual(await read(account), there);
  const confirmation = await confirm(account, 'recipient.replace');
  const answer = await put(account, { ...body, confirmation });
  assert.equal(answer.status, 200, answer.text);
  assert.equal((await read(account))?.version, 2);
  refused(
    await put(account, { ...body, ifVersion: 2, publicKey: publicKey(), confirmation }),
    401,
    'verification_failed',
  );
  await until('the notice', async () => {
    const { items } = await account.browser.take<{ items: { title: string }[] }>('/v1/notifications');
    return items.some(({ title }) => title === 'Apps encrypt for you with a new key');
  });
});

test('the ceremonies in which the shell opens it ask for a PRF result, and no others that confirm something', async () => {
  const account = await newAccount();
  const inputs = async (path: string, body: object) =>
    (await account.browser.begin(path, body)).publicKey as unknown as { extensions?: { prf?: object } };
  const input = createHash('sha256').update('platform/prf/v1:shell.platform.localhost').digest('base64url');
  for (const operation of ['passkey.add', 'recipient.replace'])
    assert.deepEqual(
      (await inputs('/v1/auth/confirm/options', { operation })).extensions?.prf,
      { eval: { first: input } },
      operation,
    );
  const { extensions } = await inputs('/v1/auth/confirm/options', { operation: 'account.export' });
  assert.equal(extensions, undefined);
});

test('PRF results, private keys and what else opens it are refused in the body, and logged nowhere', async () => {
  const account = await newAccount();
  const good = { ifVersion: 0, publicKey: publicKey(), wrappings: [wrapping(account)] };
  const secret = prfOutput(account.authenticator.credentials[0]?.credRandom ?? Buffer.alloc(32), Buffer.alloc(32, 1));
  const [text, hex] = [secret.toString('base64url'), secret.toString('hex')];
  const [only] = good.wrappings;
  const confirmation = await confirm(account, 'recipient.replace');
  const bodies: readonly object[] = [
    { ...good, prf: { results: { first: text } } },
    { ...good, prfResult: text },
    { ...good, results: { first: text, second: hex } },
    { ...good, privateKey: text },
    { ...good, seed: hex },
    { ...good, plaintext: text },
    { ...good, wrappings: [{ ...only, privateKey: text }] },
    { ...good, wrappings: [{ ...only, prf: { first: text } }] },
    { ...good, key: { kty: 'OKP', crv: 'X25519', x: good.publicKey, d: text } },
    {
      ...good,
      wrappings: [{ ...only, sealed: Buffer.from(JSON.stringify({ privateKey: text })).toString('base64url') }],
    },
    {
      ...good,
      confirmation: {
        ...confirmation,
        credential: { ...confirmation.credential, clientExtensionResults: { prf: { results: { first: text } } } },
      },
    },
  ];
  const logged = world.log.length;
  for (const body of bodies) refused(await put(account, body), 400, 'forbidden_material');
  assert.equal(await read(account), null);
  const lines = JSON.stringify(world.log.slice(logged));
  for (const form of [text, hex, secret.toString('base64')]) assert.ok(!lines.includes(form));
});

test('what is no recipient is refused', async () => {
  const account = await newAccount();
  const good = { ifVersion: 0, publicKey: publicKey(), wrappings: [wrapping(account)] };
  const [only] = good.wrappings;
  const long = sealed(limits.recipientWrapping.value + 3);
  const wrong: readonly object[] = [
    { ...good, ifVersion: -1 },
    { ...good, ifVersion: 0.5 },
    { ...good, publicKey: 'AAAA' },
    { ...good, publicKey: `${'A'.repeat(42)}B` },
    { ...good, publicKey: null },
    ...['', 'AAAA', long, `${'A'.repeat(50)}=`, `${'A'.repeat(50)}+`].map((text) => ({
      ...good,
      wrappings: [{ ...only, sealed: text }],
    })),
    { ...good, wrappings: [{ ...only, salt: 'newer' }] },
    { ...good, wrappings: [{ passkeyId: only?.passkeyId, salt: 'rp' }] },
    { ...good, other: true },
  ];
  for (const body of wrong) refused(await put(account, body), 400, 'invalid_request');
  const longest = sealed(limits.recipientWrapping.value);
  assert.equal((await put(account, { ...good, wrappings: [{ ...only, sealed: longest }] })).status, 200);
});
