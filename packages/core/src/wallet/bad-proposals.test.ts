// What apps, and pages that pose as the shell, send to the wallet: refused with the code of its fault, and nothing moves.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { confirm, registerAccount, signIn, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../../../tests/support/installed-app.ts';
import { problemCode } from '../../../../tests/support/raw-http.ts';
import {
  approve,
  balanceOf,
  credit,
  findings,
  newKey,
  payment,
  policyFor,
  propose,
  readProposal,
  WALLET_GRANTS,
} from '../../test-support/wallet.ts';

let now = new Date();
let world: Constellation;
let ada: TestAccount;
let ben: TestAccount;
let app: InstalledTestApp;
let other: InstalledTestApp;

before(async () => {
  world = await startConstellation({ clock: () => now });
  ada = await registerAccount(world, 'ada', { counts: true });
  ben = await registerAccount(world, 'ben');
  app = await installTestApp(world, ada, 'payer', WALLET_GRANTS);
  other = await installTestApp(world, ada, 'other-payer', WALLET_GRANTS);
  await credit(world, 'ada', 1_000_000n);
});
after(() => world?.close());

const PAYMENT = () => ({ to: 'ben', amount: { currency: 'CREDIT', value: '1' }, idempotencyKey: newKey() });
const POLICY = () => policyFor(['ben']);
const amount = (value: unknown, currency: unknown = 'CREDIT') => ({ amount: { currency, value } });

/** Members that replace those of a valid payment, and where the refusal says the fault is. */
const BAD_PAYMENTS: readonly (readonly [string, object, string])[] = [
  ['a negative amount', amount('-1'), 'amount.value'],
  ['an amount with a sign', amount('+1'), 'amount.value'],
  ['an amount in powers', amount('1e3'), 'amount.value'],
  ['a leading zero', amount('01'), 'amount.value'],
  ['nothing', amount('0'), 'amount.value'],
  ['sixteen digits', amount('1234567890123456'), 'amount.value'],
  ['a fraction', amount('1.50'), 'amount.value'],
  ['a comma', amount('1,000'), 'amount.value'],
  ['blanks', amount(' 1'), 'amount.value'],
  ['a line break behind', amount('1\n'), 'amount.value'],
  ['hexadecimal digits', amount('0x10'), 'amount.value'],
  ['digits of another script', amount('\u0661'), 'amount.value'],
  ['no digits', amount(''), 'amount.value'],
  ['infinity', amount('Infinity'), 'amount.value'],
  ['a number', amount(1), 'amount.value'],
  ['a list', amount(['1']), 'amount.value'],
  ['null', amount(null), 'amount.value'],
  ['another currency', amount('1', 'EUR'), 'amount.currency'],
  ['a currency in small letters', amount('1', 'credit'), 'amount.currency'],
  ['a currency with blanks', amount('1', 'CREDIT '), 'amount.currency'],
  ['no currency', amount('1', ''), 'amount.currency'],
  ['an unknown member of the amount', { amount: { currency: 'CREDIT', value: '1', decimals: 0 } }, 'amount'],
  ['no amount', { amount: undefined }, 'amount'],
  ['an amount that is text', { amount: '1 CREDIT' }, 'amount'],
  ['oneself', { to: 'ada' }, 'to'],
  ['oneself by the whole address', { to: 'ada@shell.platform.localhost' }, 'to'],
  ['oneself in capital letters', { to: 'ADA' }, 'to'],
  ['oneself as the transport calls it', { to: '@ada:shell.platform.localhost' }, 'to'],
  ['nobody', { to: 'nobody-here' }, 'to'],
  ['somebody elsewhere', { to: 'ben@elsewhere.example' }, 'to'],
  ['somebody elsewhere, as the transport calls them', { to: '@ben:elsewhere.example' }, 'to'],
  ['the key of an account', { to: 'acct-01890000-0000-7000-8000-000000000000' }, 'to'],
  ['a name with a blank inside', { to: 'b en' }, 'to'],
  ['two names', { to: 'ben, ada' }, 'to'],
  ['a name that looks the same', { to: 'b\u0435n' }, 'to'],
  ['an empty name', { to: '' }, 'to'],
  ['a list of names', { to: ['ben'] }, 'to'],
  ['a reference in two lines', { reference: 'a\nb' }, 'reference'],
  ['a reference that turns the direction', { reference: 'a\u202eb' }, 'reference'],
  ['a reference with a control character', { reference: 'a\u0007b' }, 'reference'],
  ['a long reference', { reference: 'x'.repeat(141) }, 'reference'],
  ['a reference that is a number', { reference: 7 }, 'reference'],
  ['a target elsewhere', { target: 'https://evil.example' }, 'target'],
  ['a target with a fragment', { target: '?a#b' }, 'target'],
  ['a target with a backslash', { target: '?a\\b' }, 'target'],
  ['a target that is a path', { target: '/a' }, 'target'],
  ['a long target', { target: `?${'x'.repeat(512)}` }, 'target'],
  ['no key', { idempotencyKey: undefined }, 'idempotencyKey'],
  ['an empty key', { idempotencyKey: '' }, 'idempotencyKey'],
  ['a long key', { idempotencyKey: 'x'.repeat(129) }, 'idempotencyKey'],
  ['who pays', { from: 'ben' }, ''],
  ['an app that it names itself', { app: 'store' }, ''],
  ['a state', { state: 'executed' }, ''],
  ['a receipt', { receipt: { id: 'rcp-x' } }, ''],
];

for (const [what, change, path] of BAD_PAYMENTS)
  test(`no payment is proposed of ${what}`, async () => {
    const answer = await app.call('/v1/services/wallet/payments', { body: { ...PAYMENT(), ...change } });
    assert.deepEqual([answer.status, problemCode(answer)], [400, 'invalid_request'], answer.text);
    const { errors } = answer.json as { errors?: { path: string }[] };
    assert.ok(
      errors?.some((fault) => fault.path.startsWith(path)),
      answer.text,
    );
  });

const BAD_POLICIES: readonly (readonly [string, object, string])[] = [
  ['nobody', { recipients: [] }, 'recipients'],
  ['a stranger among others', { recipients: ['ben', 'nobody-here'] }, 'recipients[1]'],
  ['an external contact', { recipients: ['ben', '@carol:elsewhere.example'] }, 'recipients[1]'],
  ['oneself', { recipients: ['ada'] }, 'recipients[0]'],
  ['more than a thousand', { recipients: Array.from({ length: 1_001 }, () => 'ben') }, 'recipients'],
  ['a name as text', { recipients: 'ben' }, 'recipients'],
  ['no limit', { perPayment: undefined }, 'perPayment'],
  ['a limit of nothing', { perPayment: '0' }, 'perPayment'],
  ['a negative limit', { perDay: '-1' }, 'perDay'],
  ['a limit with a fraction', { perMonth: '1.5' }, 'perMonth'],
  ['another currency', { currency: 'USD' }, 'currency'],
  ['no apps', { appIds: [] }, 'appIds'],
  ['what is no app', { appIds: ['../x'] }, 'appIds[0]'],
  ['a time that is over', { expiresAt: '2020-01-01T00:00:00.000Z' }, 'expiresAt'],
  ['a time without a zone', { expiresAt: '2030-01-01T00:00:00' }, 'expiresAt'],
  ['an invisible name', { name: '\u200b' }, 'name'],
  ['a name in two lines', { name: 'a\nb' }, 'name'],
  ['a long name', { name: 'x'.repeat(61) }, 'name'],
  ['a root that it names itself', { recipientsRoot: '0'.repeat(64) }, ''],
];

for (const [what, change, path] of BAD_POLICIES)
  test(`no policy is proposed of ${what}`, async () => {
    const answer = await app.call('/v1/services/wallet/policies', { body: { ...POLICY(), ...change } });
    assert.deepEqual([answer.status, problemCode(answer)], [400, 'invalid_request'], answer.text);
    const { errors } = answer.json as { errors?: { path: string }[] };
    assert.ok(
      errors?.some((fault) => fault.path.startsWith(path)),
      answer.text,
    );
  });

interface Approval {
  readonly id: string;
  readonly otherId: string;
}

const to = (id: string, by: TestAccount, confirmation: unknown, headers: Record<string, string | undefined> = {}) =>
  by.fetch(`/v1/wallet/proposals/${id}/approve`, { body: { confirmation }, headers });
const signed = (id: string, by = ada) => confirm(by, 'wallet.payment', id);
const minutes = (count: number) => {
  now = new Date(now.getTime() + count * 60_000);
};

/** What is tried instead of an approval, and the code it is refused with. */
const BAD_APPROVALS: Readonly<
  Record<string, readonly [code: string, attempt: (approval: Approval) => Promise<unknown>]>
> = {
  'without a passkey': ['invalid_request', ({ id }) => to(id, ada, undefined)],
  'of another proposal': ['verification_failed', async ({ id, otherId }) => to(id, ada, await signed(otherId))],
  'of another operation': ['verification_failed', async ({ id }) => to(id, ada, await confirm(ada, 'account.export'))],
  'that a second session signed': [
    'verification_failed',
    async ({ id }) => {
      const session = await signIn(world, ada.authenticator);
      return to(id, ada, await confirm(session, 'wallet.payment', id));
    },
  ],
  'after two minutes': [
    'verification_failed',
    async ({ id }) => {
      const late = await signed(id);
      now = new Date(now.getTime() + 120_001);
      return to(id, ada, late);
    },
  ],
  'after a day': [
    'proposal_conflict',
    async ({ id }) => {
      minutes(24 * 60 + 1);
      const answer = await ada.fetch('/v1/auth/confirm/options', {
        body: { operation: 'wallet.payment', subject: id },
      });
      minutes(-24 * 60 - 1);
      return answer;
    },
  ],
  'with another signature': [
    'verification_failed',
    async ({ id }) => {
      const { challengeId, credential } = await signed(id);
      const signature = Buffer.from(credential.response.signature, 'base64url');
      signature.writeUInt8(signature.readUInt8(signature.length - 1) ^ 1, signature.length - 1);
      const response = { ...credential.response, signature: signature.toString('base64url') };
      return to(id, ada, { challengeId, credential: { ...credential, response } });
    },
  ],
  'with a signature of another challenge': [
    'verification_failed',
    async ({ id, otherId }) => {
      const { challengeId } = await signed(id);
      return to(id, ada, { challengeId, credential: (await signed(otherId)).credential });
    },
  ],
  'by another account': ['not_found', async ({ id }) => to(id, ben, await signed(id))],
  'with the passkey of another account': [
    'verification_failed',
    async ({ id }) => {
      const options = await ada.browser.begin('/v1/auth/confirm/options', { operation: 'wallet.payment', subject: id });
      return to(id, ada, { challengeId: options.challengeId, credential: ben.authenticator.get(options) });
    },
  ],
  'from a page of another origin': [
    'origin_not_allowed',
    async ({ id }) => to(id, ada, await signed(id), { origin: app.origin }),
  ],
  'without an origin': ['origin_not_allowed', async ({ id }) => to(id, ada, await signed(id), { origin: undefined })],
  'with a result of PRF': [
    'forbidden_material',
    async ({ id }) => {
      const { challengeId, credential } = await signed(id);
      const results = { prf: { results: { first: 'AAAA' } } };
      return to(id, ada, { challengeId, credential: { ...credential, clientExtensionResults: results } });
    },
  ],
  'with an operation of its own': [
    'invalid_request',
    async ({ id }) =>
      ada.fetch(`/v1/wallet/proposals/${id}/approve`, {
        body: { confirmation: await signed(id), operation: { amount: { currency: 'CREDIT', value: '9' } } },
      }),
  ],
  'as a policy': [
    'proposal_conflict',
    ({ id }) => ada.fetch('/v1/auth/confirm/options', { body: { operation: 'wallet.policy', subject: id } }),
  ],
  'of a proposal that is not there': [
    'not_found',
    () =>
      ada.fetch('/v1/auth/confirm/options', {
        body: { operation: 'wallet.payment', subject: 'wpr-01890000-0000-7000-8000-000000000000' },
      }),
  ],
  'of nothing': [
    'invalid_request',
    () => ada.fetch('/v1/auth/confirm/options', { body: { operation: 'wallet.payment' } }),
  ],
  'after it was declined': [
    'proposal_conflict',
    async ({ id }) => {
      const confirmation = await signed(id);
      await ada.browser.take(`/v1/wallet/proposals/${id}/decline`, { method: 'POST' });
      return to(id, ada, confirmation);
    },
  ],
  'after the permission was taken away': [
    'proposal_conflict',
    async ({ id }) => {
      const path = `/v1/apps/${app.appId}/permissions`;
      const confirmation = await signed(id);
      await ada.browser.take(path, { method: 'PUT', body: { permissions: [WALLET_GRANTS[1]] } });
      const answer = await to(id, ada, confirmation);
      await ada.browser.take(path, { method: 'PUT', body: { permissions: WALLET_GRANTS } });
      return answer;
    },
  ],
};

for (const [what, [code, attempt]] of Object.entries(BAD_APPROVALS))
  test(`no approval ${what}`, async () => {
    const before = [await balanceOf(ada), await balanceOf(ben)];
    const { id } = await propose(app, payment('ben', '5'));
    const { id: otherId } = await propose(app, payment('ben', '7'));
    const answer = (await attempt({ id, otherId })) as Parameters<typeof problemCode>[0];
    assert.equal(problemCode(answer), code, answer.text);
    assert.deepEqual([await balanceOf(ada), await balanceOf(ben)], before);
    assert.deepEqual(await findings(world), []);
    for (const each of [id, otherId]) await ada.fetch(`/v1/wallet/proposals/${each}/decline`, { method: 'POST' });
  });

test('an approval that was used is used up, in a second tab as well', async () => {
  const proposal = await propose(app, payment('ben', '3'));
  const [one, two] = [await signed(proposal.id), await signed(proposal.id)];
  const answers = await Promise.all([to(proposal.id, ada, one), to(proposal.id, ada, two)]);
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  for (const each of [one, two]) assert.equal(problemCode(await to(proposal.id, ada, each)), 'verification_failed');
});

test('an app learns of its own proposals alone, and nothing of the wallet', async () => {
  const { id } = await propose(app, payment('ben', '3'));
  assert.equal(problemCode(await other.call(`/v1/services/wallet/proposals/${id}`)), 'not_found');
  for (const path of [
    '/v1/wallet',
    '/v1/wallet/entries',
    '/v1/wallet/export?format=json',
    `/v1/wallet/proposals/${id}`,
  ])
    assert.equal(problemCode(await app.call(path)), 'not_authorized', path);
  const own = await app.call(`/v1/services/wallet/proposals/${id}`);
  assert.deepEqual(Object.keys((own.json as { proposal: object }).proposal).sort(), [
    ...['createdAt', 'expiresAt', 'id', 'kind', 'receipt', 'state'],
  ]);
  await ada.fetch(`/v1/wallet/proposals/${id}/decline`, { method: 'POST' });
});

test('a policy whose recipients leave admits nobody in their place, and one that is over admits nobody', async () => {
  const carol = await registerAccount(world, 'carol');
  const until = new Date(now.getTime() + 3_600_000).toISOString();
  await approve(ada, await propose(app, policyFor([carol.name], { appIds: [app.appId], expiresAt: until })));
  const open = await propose(app, payment('carol', '2'));
  const expiring = await propose(app, payment('carol', '2'));
  minutes(61);
  const late = await to(expiring.id, ada, await signed(expiring.id));
  assert.deepEqual([late.status, problemCode(late)], [403, 'policy_refused']);
  minutes(-61);
  await world.core.context.pool.query("DELETE FROM accounts WHERE name = 'carol'");
  const gone = await to(open.id, ada, await signed(open.id));
  assert.equal(problemCode(gone), 'proposal_conflict');
  assert.equal((await readProposal(ada, open.id)).proposal.state, 'failed');
  const unnamed = await app.call('/v1/services/wallet/payments', { body: payment('ben', '1') });
  assert.equal(problemCode(unnamed), 'policy_refused');
  assert.equal((await other.call('/v1/services/wallet/payments', { body: payment('ben', '1') })).status, 201);
});
