// A payment from an app's proposal to the ledger: nothing happens until its person's passkey signed exactly what was shown, then it happens
// once, and whoever has the statement can check all of it.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import type { GrantsOpened, Notification, Receipt, WalletProposal } from '@platform/contract';
import canonicalize from 'canonicalize';
import { confirm, registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../../../tests/support/installed-app.ts';
import { problemCode } from '../../../../tests/support/raw-http.ts';
import { until } from '../../../../tests/support/wait.ts';
import {
  approve,
  balanceOf,
  credit,
  entriesOf,
  findings,
  payment,
  policyFor,
  propose,
  readProposal,
  tryApprove,
  WALLET_GRANTS,
} from '../../test-support/wallet.ts';
import { isIncluded, recipientEntry } from './merkle.ts';
import { verifyExport } from './verify-export.ts';

let world: Constellation;
let ada: TestAccount;
let ben: TestAccount;
let app: InstalledTestApp;
let now = new Date();
let rounds = 0;

before(async () => {
  world = await startConstellation({ clock: () => now });
});
after(() => world?.close());
beforeEach(async () => {
  rounds += 1;
  now = new Date();
  ada = await registerAccount(world, `ada-${rounds}`);
  ben = await registerAccount(world, `ben-${rounds}`);
  app = await installTestApp(world, ada, `payer-${rounds}`, WALLET_GRANTS);
});

const server = () => world.core.context.config.messaging.serverName;

test('an app proposes, the person approves what was shown, and the money moves once', async () => {
  await credit(world, ada.name, 1_000n);
  const proposal = await propose(app, payment(ben.name, '250', { reference: 'Lunch', target: '?order=7' }));
  assert.deepEqual(
    { ...proposal, id: '', createdAt: '', expiresAt: '' },
    {
      ...{ id: '', kind: 'payment', state: 'pending', createdAt: '', expiresAt: '', receipt: null },
    },
  );
  assert.match(proposal.id, /^wpr-/);
  assert.equal(Date.parse(proposal.expiresAt) - Date.parse(proposal.createdAt), 86_400_000);
  const { operation, review } = await readProposal(ada, proposal.id);
  assert.ok(operation.type === 'platform.wallet.payment.v1');
  assert.deepEqual([operation.from, operation.to], [`${ada.name}@${server()}`, `${ben.name}@${server()}`]);
  assert.deepEqual([review.balance.before, review.balance.after], ['1000', '750']);
  assert.deepEqual([review.admittedBy, review.target], [null, '?order=7']);
  const confirmation = await confirm(ada, 'wallet.payment', proposal.id);
  const path = `/v1/wallet/proposals/${proposal.id}/approve`;
  const answers = await Promise.all(Array.from({ length: 5 }, () => ada.fetch(path, { body: { confirmation } })));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401, 401, 401]);
  const done = answers.find(({ status }) => status === 200)?.json as { proposal: WalletProposal; receipt: Receipt };
  assert.equal(done.proposal.state, 'executed');
  assert.deepEqual(done.proposal.receipt, { id: done.receipt.id, at: done.receipt.at });
  assert.deepEqual([await balanceOf(ada), await balanceOf(ben)], ['750', '250']);
  const clientData = JSON.parse(
    Buffer.from(done.receipt.assertion.credential.response.clientDataJSON, 'base64url').toString(),
  ) as { challenge: string };
  const hash = createHash('sha256').update(canonicalize(operation) ?? '');
  assert.equal(clientData.challenge, hash.digest('base64url'));
  const [paid, credited] = await entriesOf(ada);
  assert.deepEqual(
    [paid?.amount, paid?.balance, paid?.counterparty, paid?.reference, paid?.appId, paid?.receiptId],
    [
      { currency: 'CREDIT', value: '-250' },
      { currency: 'CREDIT', value: '750' },
      ...[`${ben.name}@${server()}`, 'Lunch', app.appId, done.receipt.id],
    ],
  );
  assert.deepEqual([credited?.amount.value, credited?.counterparty, credited?.receiptId], ['1000', null, null]);
  const [received] = await entriesOf(ben);
  assert.deepEqual([received?.amount.value, received?.counterparty], ['250', `${ada.name}@${server()}`]);
  const seen = await app.call(`/v1/services/wallet/proposals/${proposal.id}`);
  assert.deepEqual((seen.json as { proposal: WalletProposal }).proposal, done.proposal);
  assert.equal(problemCode(await tryDecline(proposal.id)), 'proposal_conflict');
  assert.deepEqual(await findings(world), []);
});

const tryDecline = (id: string) => ada.fetch(`/v1/wallet/proposals/${id}/decline`, { method: 'POST' });

test('whoever is paid is notified, and so is whoever an app in the background asks', async () => {
  await credit(world, ada.name, 1_000n);
  const proposal = await propose(app, payment(ben.name, '120', { reference: 'Tea' }));
  const titles = async (of: TestAccount) =>
    (await of.browser.take<{ items: Notification[] }>('/v1/notifications')).items.map(({ title }) => title);
  await until('the question', async () => (await titles(ada)).some((title) => title.includes('proposes to pay 1.20')));
  await approve(ada, proposal);
  await until('the news', async () => (await titles(ben)).includes('You received 1.20 CREDIT'));
});

test('the same key gives the same proposal, and another one for something else is refused', async () => {
  const body = payment(ben.name, '10');
  const [one, two] = await Promise.all([propose(app, body), propose(app, body)]);
  assert.equal(one.id, two.id);
  const other = await app.call('/v1/services/wallet/payments', { body: { ...body, reference: 'x' } });
  assert.equal(problemCode(other), 'proposal_conflict');
});

test('twenty wait, one more is refused until one is decided', async () => {
  const all = [];
  for (let count = 0; count < 20; count += 1) all.push(await propose(app, payment(ben.name, '1')));
  const more = () => app.call('/v1/services/wallet/payments', { body: payment(ben.name, '1') });
  const refused = await more();
  assert.deepEqual([refused.status, problemCode(refused)], [429, 'rate_limited']);
  // Nothing is looked up for it: neither who is to be paid, nor trees of a thousand.
  for (const [path, body] of [
    ['payments', payment('nobody-here', '1')],
    ['policies', policyFor(Array.from({ length: 1_000 }, (_, index) => `nobody-${index}`))],
  ] as const)
    assert.equal(problemCode(await app.call(`/v1/services/wallet/${path}`, { body })), 'rate_limited', path);
  assert.equal((await tryDecline(all[0]?.id ?? '')).status, 200);
  assert.equal((await more()).status, 201);
});

test('a permission of the wallet says what waits, how much more may, and what limits it', async () => {
  const opened = async () => {
    const { grants } = await ada.browser.take<GrantsOpened>(`/v1/apps/${app.appId}/opened`);
    return Object.fromEntries(grants.map(({ id, opens }) => [id, opens.map(({ what, count }) => [what, count])]));
  };
  const of = (payments: number, policies: number, limiting: number) => ({
    'wallet.payment.propose': [
      ['wallet-proposals', payments],
      ['wallet-proposals-left', 20 - payments - policies],
      ['wallet-policies', limiting],
    ],
    'wallet.policy.propose': [
      ['wallet-proposals', policies],
      ['wallet-proposals-left', 20 - payments - policies],
    ],
  });
  assert.deepEqual(await opened(), of(0, 0, 0));
  await propose(app, payment(ben.name, '1'));
  const policy = await propose(app, policyFor([ben.name]));
  const ofAnother = await propose(app, policyFor([ben.name], { appIds: ['another-app' as never] }));
  assert.deepEqual(await opened(), of(1, 2, 0));
  for (const one of [policy, ofAnother]) await approve(ada, one);
  assert.deepEqual(await opened(), of(1, 0, 1));
  now = new Date(now.getTime() + 86_400_001);
  assert.deepEqual(await opened(), of(0, 0, 1));
});

test('without enough nothing is paid, and the proposal waits', async () => {
  const proposal = await propose(app, payment(ben.name, '10'));
  const refused = await tryApprove(ada, proposal);
  assert.deepEqual([refused.status, problemCode(refused)], [409, 'insufficient_funds']);
  await credit(world, ada.name, 10n);
  assert.equal((await approve(ada, proposal)).proposal.state, 'executed');
  assert.equal(await balanceOf(ada), '0');
});

test('a policy limits what its apps propose, and a receipt keeps its proof', async () => {
  await credit(world, ada.name, 5_000n);
  const carol = await registerAccount(world, `carol-${rounds}`);
  const proposed = await propose(
    app,
    policyFor([ben.name, carol.name], { perPayment: '500', perDay: '800', appIds: [app.appId] }),
  );
  const { operation } = await readProposal(ada, proposed.id);
  assert.ok(operation.type === 'platform.wallet.policy.v1');
  await approve(ada, proposed);
  const { items } = await ada.browser.take<{ items: { id: string; recipientsRoot: string; recipientCount: number }[] }>(
    '/v1/wallet/policies',
  );
  const [policy] = items;
  assert.deepEqual([policy?.recipientsRoot, policy?.recipientCount], [operation.recipientsRoot, 2]);
  const refusedTo = async (to: string, value: string) =>
    problemCode(await app.call('/v1/services/wallet/payments', { body: payment(to, value) }));
  const dave = await registerAccount(world, `dave-${rounds}`);
  assert.equal(await refusedTo(ben.name, '501'), 'policy_refused');
  assert.equal(await refusedTo(dave.name, '1'), 'policy_refused');
  const [first, second] = [await propose(app, payment(ben.name, '500')), await propose(app, payment(ben.name, '400'))];
  const { receipt } = await approve(ada, first);
  const [proof] = receipt.policies;
  assert.ok(proof !== undefined && proof.policyId === policy?.id);
  const key = await world.core.context.pool.query('SELECT key FROM accounts WHERE name = $1', [ben.name]);
  const entry = recipientEntry(key.rows[0].key);
  assert.equal(proof.leaf, entry.toString('hex'));
  const path = proof.proof.map((hash) => Buffer.from(hash, 'hex'));
  assert.ok(
    isIncluded({ entry, index: proof.index, size: proof.size, proof: path }, Buffer.from(policy.recipientsRoot, 'hex')),
  );
  // The sum of the day is judged again at the approval.
  const late = await tryApprove(ada, second);
  assert.deepEqual([late.status, problemCode(late)], [403, 'policy_refused']);
  assert.equal((await readProposal(ada, second.id)).proposal.state, 'failed');
  assert.equal((await ada.fetch(`/v1/wallet/policies/${policy.id}`, { method: 'DELETE' })).status, 204);
  assert.equal((await app.call('/v1/services/wallet/payments', { body: payment(dave.name, '900') })).status, 201);
  assert.deepEqual(await findings(world), []);
});

test('an assertion holds for its own proposal, session and two minutes', async () => {
  await credit(world, ada.name, 100n);
  const [one, two] = [await propose(app, payment(ben.name, '1')), await propose(app, payment(ben.name, '2'))];
  const approveWith = (id: string, confirmation: object, by = ada) =>
    by.fetch(`/v1/wallet/proposals/${id}/approve`, { body: { confirmation } });
  const refused = async (answer: Promise<Parameters<typeof problemCode>[0]>) =>
    assert.equal(problemCode(await answer), 'verification_failed');
  await refused(approveWith(two.id, await confirm(ada, 'wallet.payment', one.id)));
  await refused(approveWith(one.id, await confirm(ada, 'account.export')));
  const late = await confirm(ada, 'wallet.payment', one.id);
  now = new Date(now.getTime() + 120_001);
  await refused(approveWith(one.id, late));
  // An assertion over another challenge, though the challenge is of the proposal.
  const options = await ada.browser.begin('/v1/auth/confirm/options', { operation: 'wallet.payment', subject: one.id });
  const foreign = await confirm(ada, 'account.export');
  await refused(approveWith(one.id, { ...foreign, challengeId: options.challengeId }));
  assert.equal((await approveWith(one.id, await confirm(ada, 'wallet.payment', one.id))).status, 200);
});

test('what can no longer be paid fails, and nothing moves', async () => {
  await credit(world, ada.name, 100n);
  const { context } = world.core;
  const suspended = await propose(app, payment(ben.name, '1'));
  await context.pool.query('UPDATE accounts SET suspended_at = now() WHERE name = $1', [ben.name]);
  assert.equal(problemCode(await tryApprove(ada, suspended)), 'proposal_conflict');
  assert.equal((await readProposal(ada, suspended.id)).proposal.state, 'failed');
  await context.pool.query('UPDATE accounts SET suspended_at = NULL WHERE name = $1', [ben.name]);
  const removed = await propose(app, payment(ben.name, '1'));
  const confirmation = await confirm(ada, 'wallet.payment', removed.id);
  await ada.browser.take(`/v1/apps/${app.appId}`, { method: 'DELETE' });
  const answer = await ada.fetch(`/v1/wallet/proposals/${removed.id}/approve`, { body: { confirmation } });
  assert.equal(problemCode(answer), 'proposal_conflict');
  assert.equal((await readProposal(ada, removed.id)).proposal.state, 'declined');
  assert.equal(await balanceOf(ada), '100');
});

test('while everything is paused nothing is approved', async () => {
  await credit(world, ada.name, 100n);
  const proposal = await propose(app, payment(ben.name, '1'));
  await ada.browser.take('/v1/runtime/pause', { body: {} });
  assert.equal(problemCode(await tryApprove(ada, proposal)), 'runtime_paused');
  await ada.browser.take('/v1/runtime/resume', { body: {} });
  assert.equal((await approve(ada, proposal)).proposal.state, 'executed');
});

test('the shell proposes for the page of an app, with its grants', async () => {
  const path = `/v1/apps/${app.appId}/wallet`;
  const answer = await ada.fetch(`${path}/payments`, { body: payment(ben.name, '5') });
  assert.equal(answer.status, 201, answer.text);
  assert.equal((await ada.fetch(`${path}/policies`, { body: policyFor([ben.name]) })).status, 201);
  const bare = await installTestApp(world, ada, `bare-${rounds}`, []);
  const refused = await ada.fetch(`/v1/apps/${bare.appId}/wallet/payments`, { body: payment(ben.name, '5') });
  assert.equal(problemCode(refused), 'grant_missing');
});

test('an export verifies by itself, and as a table runs nothing', async () => {
  await credit(world, ada.name, 1_000n);
  await approve(ada, await propose(app, payment(ben.name, '30', { reference: '=HYPERLINK("https://evil.example")' })));
  await approve(ada, await propose(app, policyFor([ben.name])));
  for (const account of [ada, ben]) {
    const answer = await account.fetch('/v1/wallet/export?format=json');
    assert.equal(answer.status, 200);
    const faults = await Array.fromAsync(verifyExport(JSON.parse(answer.text)));
    assert.deepEqual(faults, []);
  }
  const { text, headers } = await ada.fetch('/v1/wallet/export?format=csv');
  assert.match(headers['content-disposition'] as unknown as string, /attachment/);
  assert.match(text, /"'=HYPERLINK\(""https:\/\/evil\.example""\)"/);
  assert.match(text, /,-0\.30,CREDIT,9\.70,/);
});
