// What a passkey signed for a proposal counts once, however the attempt ends: the challenge of a proposal is always the same, so another
// one could be begun with it.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { confirmedOperation } from '@platform/contract';
import { confirm, registerAccount, signIn, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../../../tests/support/installed-app.ts';
import { problemCode } from '../../../../tests/support/raw-http.ts';
import type { Algorithm } from '../../../../tests/support/software-authenticator.ts';
import { balanceOf, credit, payment, propose, WALLET_GRANTS } from '../../test-support/wallet.ts';

let world: Constellation;
let ada: TestAccount;
let app: InstalledTestApp;
let now = new Date();
let fails = false;
let rounds = 0;

before(async () => {
  world = await startConstellation({
    clock: () => now,
    async at(point) {
      if (point === 'wallet.approve.committing' && fails) throw new Error('the machine stops here');
    },
  });
  await registerAccount(world, 'ben');
});
after(() => world?.close());
beforeEach(() => prepare('ES256'));

async function prepare(algorithm: Algorithm): Promise<void> {
  rounds += 1;
  now = new Date();
  fails = false;
  ada = await registerAccount(world, `ada-${rounds}`, { algorithm });
  app = await installTestApp(world, ada, `payer-${rounds}`, WALLET_GRANTS);
  await credit(world, ada.name, 1_000n);
}

type Confirmation = Awaited<ReturnType<typeof confirm>>;

const tryWith = (id: string, confirmation: Confirmation, by = ada) =>
  by.fetch(`/v1/wallet/proposals/${id}/approve`, { body: { confirmation } });

/** The same assertion for a challenge that was begun now. */
async function again(id: string, { credential }: Confirmation): Promise<Confirmation> {
  const { challengeId } = await ada.browser.begin('/v1/auth/confirm/options', {
    operation: 'wallet.payment',
    subject: id,
  });
  return { challengeId, credential };
}

/** Attempts that end without a payment, after which the proposal still waits. */
const ATTEMPTS: Readonly<Record<string, (id: string, confirmation: Confirmation) => Promise<unknown>>> = {
  'too little money': async (id, confirmation) => {
    const drain = await propose(app, payment('ben', '990'));
    assert.equal((await tryWith(drain.id, await confirm(ada, 'wallet.payment', drain.id))).status, 200);
    assert.equal(problemCode(await tryWith(id, confirmation)), 'insufficient_funds');
    await credit(world, ada.name, 990n);
  },
  'a pause of everything': async (id, confirmation) => {
    await ada.browser.take('/v1/runtime/pause', { body: {} });
    assert.equal(problemCode(await tryWith(id, confirmation)), 'runtime_paused');
    await ada.browser.take('/v1/runtime/resume', { body: {} });
  },
  'a failure before the commit': async (id, confirmation) => {
    fails = true;
    assert.equal((await tryWith(id, confirmation)).status, 500);
    fails = false;
  },
  'more than two minutes': async (id, confirmation) => {
    now = new Date(now.getTime() + 121_000);
    assert.equal(problemCode(await tryWith(id, confirmation)), 'verification_failed');
  },
  'another session': async (id, confirmation) => {
    const other = await signIn(world, ada.authenticator);
    assert.equal(problemCode(await tryWith(id, confirmation, other)), 'verification_failed');
  },
  'the confirmation of another proposal': async (_, confirmation) => {
    const other = await propose(app, payment('ben', '1'));
    assert.equal(problemCode(await tryWith(other.id, confirmation)), 'verification_failed');
  },
};

for (const [what, attempt] of Object.entries(ATTEMPTS))
  test(`an assertion counts for nothing more after ${what}`, async () => {
    const { id } = await propose(app, payment('ben', '20'));
    const confirmation = await confirm(ada, 'wallet.payment', id);
    await attempt(id, confirmation);
    const before = await balanceOf(ada);
    const replayed = await tryWith(id, await again(id, confirmation));
    assert.equal(problemCode(replayed), 'verification_failed', replayed.text);
    assert.equal(await balanceOf(ada), before);
    // A new one of the same proposal does.
    assert.equal((await tryWith(id, await confirm(ada, 'wallet.payment', id))).status, 200);
  });

/** Another spelling of what was signed. */
const SPELLINGS: Readonly<Record<string, (credential: Confirmation['credential']) => Confirmation['credential']>> = {
  'as it was': (credential) => credential,
  'with the other signature that an ECDSA signature gives': (credential) => withSignature(credential, mirrored),
  'without the user handle': ({ response: { userHandle: _, ...response }, ...credential }) =>
    ({ ...credential, response }) as Confirmation['credential'],
};

for (const [what, spelling] of Object.entries(SPELLINGS))
  test(`an assertion is known again ${what}`, async () => {
    const { id } = await propose(app, payment('ben', '20'));
    const confirmation = await confirm(ada, 'wallet.payment', id);
    fails = true;
    assert.equal((await tryWith(id, confirmation)).status, 500);
    fails = false;
    const { challengeId, credential } = await again(id, confirmation);
    const replayed = await tryWith(id, { challengeId, credential: spelling(credential) });
    assert.equal(problemCode(replayed), 'verification_failed', replayed.text);
    const faults = world.log.flatMap(({ fields }) => ('fault' in fields ? [fields.fault] : []));
    assert.equal(faults.at(-1), 'assertion-used');
  });

for (const algorithm of ['EdDSA', 'RS256'] as const)
  test(`an assertion of ${algorithm} is known again`, async () => {
    await prepare(algorithm);
    const { id } = await propose(app, payment('ben', '20'));
    const confirmation = await confirm(ada, 'wallet.payment', id);
    fails = true;
    assert.equal((await tryWith(id, confirmation)).status, 500);
    fails = false;
    assert.equal(problemCode(await tryWith(id, await again(id, confirmation))), 'verification_failed');
  });

test('of one assertion for many challenges at the same moment one counts', async () => {
  const { id } = await propose(app, payment('ben', '20'));
  const confirmation = await confirm(ada, 'wallet.payment', id);
  const all = await Promise.all(Array.from({ length: 6 }, () => again(id, confirmation)));
  const answers = await Promise.all(all.map((one) => tryWith(id, one)));
  assert.deepEqual(answers.filter(({ status }) => status === 200).length, 1);
  assert.equal(await balanceOf(ada), '980');
});

test('no other operation gives the same challenge twice', async () => {
  const subjects: Readonly<Record<string, string>> = { 'secret.bind': 'name', 'operator.setting.change': 'name' };
  for (const operation of confirmedOperation.options.filter((each) => !each.startsWith('wallet.'))) {
    const begin = (subject?: string) => ada.fetch('/v1/auth/confirm/options', { body: { operation, subject } });
    const first = await begin();
    const subject = first.status === 200 ? undefined : (subjects[operation] ?? 'anything');
    const challenges = new Set<string>();
    for (const answer of [await begin(subject), await begin(subject), await begin(subject)]) {
      assert.equal(answer.status, 200, `${operation}: ${answer.text}`);
      challenges.add((answer.json as { publicKey: { challenge: string } }).publicKey.challenge);
    }
    assert.equal(challenges.size, 3, operation);
  }
});

test('what was used is forgotten once its proposal is over', async () => {
  const { pool } = world.core.context;
  const { id } = await propose(app, payment('ben', '20'));
  assert.equal((await tryWith(id, await confirm(ada, 'wallet.payment', id))).status, 200);
  await pool.query("UPDATE used_confirmations SET expires_at = now() - interval '1 minute'");
  const next = await propose(app, payment('ben', '20'));
  assert.equal((await tryWith(next.id, await confirm(ada, 'wallet.payment', next.id))).status, 200);
  const { rows } = await pool.query('SELECT expires_at FROM used_confirmations');
  assert.deepEqual(
    rows.map(({ expires_at: at }) => at.toISOString()),
    [next.expiresAt],
  );
});

const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** (r, n - s) instead of (r, s). */
function mirrored(der: Buffer): Buffer {
  const rLength = der.readUInt8(3);
  const s = BigInt(`0x${der.subarray(6 + rLength).toString('hex')}`);
  const bytes = Buffer.from((ORDER - s).toString(16).padStart(64, '0'), 'hex');
  const start = bytes.findIndex((byte) => byte !== 0);
  const minimal = bytes.subarray(start);
  const number = minimal.readUInt8(0) > 0x7f ? Buffer.concat([Buffer.of(0), minimal]) : minimal;
  const body = Buffer.concat([der.subarray(2, 4 + rLength), Buffer.of(2, number.length), number]);
  return Buffer.concat([Buffer.of(0x30, body.length), body]);
}

function withSignature(
  credential: Confirmation['credential'],
  change: (signature: Buffer) => Buffer,
): Confirmation['credential'] {
  const signature = change(Buffer.from(credential.response.signature, 'base64url')).toString('base64url');
  return { ...credential, response: { ...credential.response, signature } };
}
