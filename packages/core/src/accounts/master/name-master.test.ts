// Who looks after the platform where no setting says so: one account, named by whoever has the data folder, and nobody else.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { type Notification, type OperatorGuide, RefusalError, routes } from '@platform/contract';
import { confirm, registerAccount, type TestAccount, TestBrowser } from '../../../../../tests/support/client.ts';
import { type Constellation, startConstellation, type TestCore } from '../../../../../tests/support/constellation.ts';
import { problemCode } from '../../../../../tests/support/raw-http.ts';
import { until } from '../../../../../tests/support/wait.ts';
import { nameOperator } from '../../fleet/name-operator.ts';
import { readMarker } from '../../identity/folder-marker.ts';
import { resumeSuspended, suspendAccount } from '../suspension/suspend-account.ts';
import { nameMaster, withdrawMaster } from './name-master.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'platform-named-'));
let platform: Constellation;
let replica: TestCore;
let ada: TestAccount;
let ben: TestAccount;
let count = 0;

before(async () => {
  platform = await startConstellation();
  replica = await platform.replica({ identity: { folder, isNew: false, list: path.join(folder, 'list.json') } });
  ada = await registerAccount(platform, 'ada');
  ben = await registerAccount(platform, 'ben');
});
afterEach(() => withdrawMaster(platform.core.context));
after(async () => {
  await platform.close();
  rmSync(folder, { recursive: true });
});

async function newAccount(): Promise<TestAccount> {
  count += 1;
  return registerAccount(platform, `guest-${count}`);
}

const guideOf = (account: TestAccount) => account.browser.take<OperatorGuide>('/v1/operator/guide');
const configOf = (masterAccount: string | null) => ({
  ...platform.core.context.config,
  masterAccount,
  listenPort: 0,
});

async function appsOf(account: TestAccount): Promise<string[]> {
  const { items } = await account.browser.take<{ items: { appId: string }[] }>('/v1/apps');
  return items.map(({ appId }) => appId);
}

async function titlesOf(account: TestAccount): Promise<string[]> {
  const { items } = await account.browser.take<{ items: Notification[] }>('/v1/notifications');
  return items.filter(({ topic }) => topic === 'security').map(({ title }) => title);
}

async function operates(account: TestAccount): Promise<boolean> {
  const answer = await account.fetch('/v1/operator/invitations');
  if (answer.status !== 200) assert.equal(problemCode(answer), 'master_account_only', answer.text);
  return answer.status === 200;
}

const isRefusal = (code: string, words: RegExp) => (error: unknown) =>
  error instanceof RefusalError && error.refusal.code === code && words.test(error.refusal.detail ?? '');

test('the account that is named has Fleet and may operate at once, and no other', async () => {
  assert.equal(await operates(ada), false);
  assert.ok(!(await appsOf(ada)).includes('fleet'));
  await nameOperator(replica.context, 'ada');
  assert.equal(await operates(ada), true);
  assert.ok((await appsOf(ada)).includes('fleet'));
  assert.equal(await operates(ben), false);
  assert.ok(!(await appsOf(ben)).includes('fleet'));
});

test('what was named is written down: for its account, in the log of each core, and in the data folder', async () => {
  const owner = await newAccount();
  const from = platform.log.length;
  await nameMaster(platform.core.context, owner.name);
  const named = 'You are the operator of this platform';
  await until('the notice', async () => (await titlesOf(owner)).includes(named));
  const lines = () => platform.log.slice(from).filter(({ message }) => message.includes('made the operator'));
  await until('both cores to log it', () => lines().length === 2);
  for (const { fields, level } of lines()) assert.deepEqual([fields, level], [{ account: owner.name }, 'warn']);
  await until('the folder to know it', () => readMarker(folder)?.masterAccount?.startsWith('acct-') === true);

  await nameMaster(platform.core.context, owner.name);
  await withdrawMaster(platform.core.context);
  await until('the other notice', async () => (await titlesOf(owner)).length === 2);
  assert.deepEqual(await titlesOf(owner), ['You are no longer the operator of this platform', named]);
});

test('of several that are named at the same time one is, and stays it until that is taken back', async () => {
  const contexts = [platform.core.context, replica.context];
  const racing = ['ada', 'ben', 'ada', 'ben'].map((name, at) => nameMaster(contexts[at % 2] ?? replica.context, name));
  const outcomes = await Promise.allSettled(racing);
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 2, 'one account, both times');
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') assert.ok(isRefusal('not_authorized', /is the operator/)(outcome.reason));
  const [first, second] = (await operates(ada)) ? [ada, ben] : [ben, ada];
  assert.equal(await operates(second), false);

  assert.equal(await withdrawMaster(replica.context), first.name);
  assert.equal(await operates(first), false, 'from the very next request');
  assert.equal(await withdrawMaster(replica.context), null);
  await nameMaster(replica.context, second.name);
  assert.equal(await operates(second), true);
});

test('the database holds one, whatever writes it', async () => {
  await nameMaster(platform.core.context, 'ada');
  const write = "UPDATE accounts SET named_master_at = now() WHERE name = 'ben'";
  await assert.rejects(platform.core.context.pool.query(write), /accounts_one_named_master/);
});

test('nobody is named whom nobody could be: unknown, suspended, about to be deleted', async () => {
  await assert.rejects(nameMaster(platform.core.context, 'nobody'), isRefusal('not_found', /no account named nobody/));
  const guest = await newAccount();
  await suspendAccount(platform.core.context, guest.name);
  await assert.rejects(nameMaster(platform.core.context, guest.name), isRefusal('not_found', /suspended/));
  await resumeSuspended(platform.core.context, guest.name);
  const leaving = await newAccount();
  await leaving.browser.take('/v1/account/deletion', {
    body: { name: leaving.name, confirmation: await confirm(leaving, 'account.delete') },
  });
  await assert.rejects(nameMaster(platform.core.context, leaving.name), isRefusal('account_closing', /to be deleted/));
});

async function askForDeletion(owner: TestAccount) {
  const confirmation = await confirm(owner, 'account.delete');
  return { send: () => owner.fetch('/v1/account/deletion', { body: { name: owner.name, confirmation } }) };
}

test('the one that is named is not deleted', async () => {
  const owner = await newAccount();
  const deletion = await askForDeletion(owner);
  await nameMaster(platform.core.context, owner.name);
  const answer = await deletion.send();
  assert.equal(problemCode(answer), 'not_authorized', answer.text);
  assert.match(answer.text, /account operator --withdraw/);
});

test('nor while it is being named', async () => {
  const owner = await newAccount();
  const deletion = await askForDeletion(owner);
  const naming = await platform.core.context.pool.connect();
  try {
    await naming.query('BEGIN');
    await naming.query('UPDATE accounts SET named_master_at = now() WHERE name = $1', [owner.name]);
    const answered = deletion.send();
    await until('the deletion to wait for it', async () => {
      // Not on the connection of the transaction, which sees what it saw first.
      const waiting = await platform.core.context.pool.query(
        `SELECT FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock' AND query ~ 'accounts'`,
      );
      return waiting.rowCount !== 0;
    });
    await naming.query('COMMIT');
    assert.equal(problemCode(await answered), 'not_authorized');
  } finally {
    naming.release();
  }
});

test('a setting that names the same account goes with it, and one that names another stops the start', async () => {
  await nameMaster(platform.core.context, 'ada');
  const same = await platform.replica({ config: configOf('ada') });
  await assert.rejects(
    nameMaster(same.context, 'ben'),
    isRefusal('not_authorized', /PLATFORM_MASTER_ACCOUNT names ada/),
  );
  await assert.rejects(platform.replica({ config: configOf('ben') }), {
    code: 'master_account_differs',
    message: /PLATFORM_MASTER_ACCOUNT is ben, but ada was made the operator .* --withdraw/,
  });
  await withdrawMaster(platform.core.context);
  await platform.replica({ config: configOf('ben') });
});

test('it outlives a restart', async () => {
  await nameMaster(platform.core.context, 'ada');
  const later = await platform.replica({ config: configOf(null) });
  const browser = new TestBrowser({ port: later.port, origin: platform.origin });
  browser.cookie = ada.cookie;
  assert.equal((await browser.fetch('/v1/operator/invitations')).status, 200);
});

test('no route makes an operator, whatever the first account sends', async () => {
  const first = (await guideOf(ada)).standing;
  assert.equal(first, 'first');
  const asked = Object.values(routes).filter(({ path: at, callers }) => {
    const kinds: readonly string[] = callers;
    return at.startsWith('/v1/operator/') && kinds.includes('session');
  });
  assert.ok(asked.length >= 9);
  for (const { method, path: at } of asked) {
    const body = { name: 'ada', operator: 'ada', account: 'ada', standing: 'operator' };
    const target = at.replace(':name', 'ada').replace(':id', 'inv-0192f0c1-2d3e-7a4b-8c5d-6e7f80910203');
    await ada.fetch(target, method === 'GET' ? { method } : { method, body });
  }
  assert.equal(await operates(ada), false);
  assert.equal((await guideOf(ada)).standing, 'first');
});

test('the guide is for the first account, then for the operator, until they put it away', async () => {
  assert.deepEqual(await guideOf(ada), { standing: 'first', dismissed: false, setup: null });
  assert.deepEqual(await guideOf(ben), { standing: 'none', dismissed: false, setup: null });
  assert.equal((await ada.fetch('/v1/operator/guide/dismiss', { body: {} })).status, 204);
  assert.equal((await guideOf(ada)).dismissed, true);

  await nameMaster(platform.core.context, 'ben');
  assert.equal((await guideOf(ada)).standing, 'none', 'there is an operator now');
  const { standing, dismissed, setup } = await guideOf(ben);
  assert.deepEqual([standing, dismissed], ['operator', false]);
  assert.deepEqual(setup?.address, { origin: platform.origin, local: true });
  assert.deepEqual([setup?.providers, setup?.objectStore], [[], false]);
  assert.deepEqual([setup?.registration.mode, setup?.registration.invitations], ['open', 0]);
  assert.equal(setup?.machines.total, 1);

  await withdrawMaster(platform.core.context);
  await nameMaster(platform.core.context, 'ada');
  assert.equal((await guideOf(ada)).dismissed, false, 'something else than what was put away');
});
