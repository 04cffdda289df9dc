// The grace before an account is deleted: at once nothing of it runs, and whoever signs in can still keep it.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { assignments, type CatalogEntry, type SessionAnswer } from '@platform/contract';
import { authorToken } from '../../../../../tests/support/author-token.ts';
import {
  confirm,
  newAuthenticator,
  registerAccount,
  signIn,
  type TestAccount,
  TestBrowser,
} from '../../../../../tests/support/client.ts';
import { type Constellation, startConstellation, type TestCore } from '../../../../../tests/support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../../../../tests/support/installed-app.ts';
import { problemCode, type RawAnswer } from '../../../../../tests/support/raw-http.ts';
import { until } from '../../../../../tests/support/wait.ts';
import { bearer } from '../../../test-support/apps.ts';
import { createEnrolmentLink } from '../passkeys/enrolment-link.ts';
import { listAccountStates } from '../suspension/suspend-account.ts';

const DAY = 24 * 60 * 60 * 1000;
const PATH = '/v1/account/deletion';

let now = new Date();
let platform: Constellation;
let replica: TestCore;
let account: TestAccount;
let app: InstalledTestApp;
let neighbour: TestAccount;
let accounts = 0;

before(async () => {
  const first = await startConstellation({ clock: () => now });
  replica = await first.replica({ clock: () => now });
  // The local node has one credential: that of the last start.
  platform = { ...first, core: { ...first.core, localNode: replica.localNode } };
  neighbour = await registerAccount(platform, 'neighbour');
});
after(() => platform.close());
beforeEach(async () => {
  now = new Date();
  accounts += 1;
  account = await registerAccount(platform, `leaver-${accounts}`);
  app = await installTestApp(platform, account, `app-of-leaver-${accounts}`, [
    { id: 'notifications.read', resources: ['*'] },
  ]);
});

async function close(by = account): Promise<string> {
  const body = { name: by.name, confirmation: await confirm(by, 'account.delete') };
  return (await by.browser.take<{ deletesAt: string }>(PATH, { body })).deletesAt;
}
const keep = (by = account) => by.fetch(PATH, { method: 'DELETE' });
const viewOf = async (by: TestAccount) => (await by.browser.take<SessionAnswer>('/v1/auth/session')).account;
const received = () => platform.core.context.signals.settled(platform.core.context.pool);
const receivedThere = () => replica.context.signals.settled(replica.context.pool);

function refused(answer: RawAnswer, status: number, code: string, what = ''): void {
  assert.deepEqual([answer.status, problemCode(answer)], [status, code], `${what} ${answer.text}`);
}

async function assigned() {
  const answer = await bearer(platform, replica.localNode.nodeCredential, '/v1/node/assignments');
  const { desired, paused } =
    assignments.parse(answer.json).items.find(({ appId }) => appId === app.appId) ?? assert.fail();
  return { desired, paused };
}

async function listed(viewer: TestAccount): Promise<boolean> {
  const { items } = await viewer.browser.take<{ items: CatalogEntry[] }>('/v1/catalog?limit=200');
  return items.some(({ appId }) => appId === app.appId);
}

test('it is seven days, and the shell learns the date', async () => {
  const deletesAt = await close();
  assert.equal(deletesAt, new Date(now.getTime() + 7 * DAY).toISOString());
  assert.equal((await viewOf(account)).deletesAt, deletesAt);
  const answer = await account.fetch(PATH, {
    body: {
      name: account.name,
      confirmation: { challengeId: 'x'.repeat(20), credential: (await confirm(account, 'account.delete')).credential },
    },
  });
  refused(answer, 403, 'account_closing');
  assert.equal((await viewOf(account)).deletesAt, deletesAt, 'asking again does not move the date');
});

test('other sessions end at once; this one can only keep the account, export it, or sign out', async () => {
  const other = await signIn(platform, account.authenticator);
  await close();
  await received();
  refused(await other.fetch('/v1/auth/session'), 401, 'unauthenticated');
  for (const path of ['/v1/apps', '/v1/notifications', '/v1/auth/passkeys', '/v1/account/secrets', '/v1/events'])
    refused(await account.fetch(path), 403, 'account_closing', path);
  for (const path of [
    '/v1/auth/passkeys/options',
    '/v1/runtime/resume',
    '/v1/runtime/pause',
    `/v1/apps/launcher/launch`,
  ])
    refused(await account.fetch(path, { body: {} }), 403, 'account_closing', path);
  assert.equal((await account.fetch('/v1/auth/logout', { body: {} })).status, 204);
});

test('nothing of it runs, on any replica', async () => {
  const frontend = await app.openFrontend();
  const there = { port: replica.port, origin: replica.context.config.origin };
  const list = '/v1/services/notifications';
  const doors: Readonly<Record<string, () => Promise<RawAnswer>>> = {
    frontend: () => frontend.call(list),
    backend: () => app.call(list),
    'backend, on the replica': () => bearer(there, app.credential, list),
  };
  for (const [what, call] of Object.entries(doors)) assert.equal((await call()).status, 200, what);
  await close();
  await received();
  await receivedThere();
  for (const [what, call] of Object.entries(doors)) refused(await call(), 503, 'runtime_paused', what);
  assert.deepEqual(await assigned(), { desired: 'stopped', paused: true });
});

test('its published apps are unlisted, and whoever installed one keeps it', async () => {
  assert.equal(await listed(neighbour), true);
  await neighbour.browser.take('/v1/apps', { body: { appId: app.appId } });
  await close();
  assert.equal(await listed(neighbour), false);
  assert.equal((await neighbour.fetch(`/v1/apps/${app.appId}/launch`, { body: {} })).status, 200);
  await keep();
  assert.equal(await listed(neighbour), true);
});

describe('it is kept', () => {
  test('by whoever signs in, and its apps run again', async () => {
    await close();
    await account.fetch('/v1/auth/logout', { body: {} });
    const again = await signIn(platform, account.authenticator);
    assert.ok((await viewOf(again)).deletesAt);
    assert.equal((await keep(again)).status, 204);
    assert.equal((await viewOf(again)).deletesAt, undefined);
    assert.equal((await again.fetch('/v1/apps')).status, 200);
    assert.deepEqual(await again.browser.take('/v1/runtime'), { pausedAt: null });
    assert.deepEqual(await assigned(), { desired: 'automatic', paused: false });
    assert.equal((await keep(again)).status, 204, 'keeping what nobody deletes');
  });

  test('paused, when its owner had paused it before', async () => {
    const { pausedAt } = await account.browser.take<{ pausedAt: string }>('/v1/runtime/pause', { body: {} });
    now = new Date(now.getTime() + 1_000);
    await close();
    await keep();
    assert.deepEqual(await account.browser.take('/v1/runtime'), { pausedAt });
  });

  test('with the operator’s link, when no passkey is left', async () => {
    const { context } = platform.core;
    const former = await createEnrolmentLink(context, account.name);
    await close();
    const token = (link: typeof former) => new URL(link?.url ?? '').hash.replace('#enrol=', '');
    const browser = new TestBrowser(platform);
    const answer = await browser.fetch('/v1/auth/enrol/options', { body: { token: token(former) } });
    refused(answer, 401, 'verification_failed', 'a link from before');
    const options = await browser.begin('/v1/auth/enrol/options', {
      token: token(await createEnrolmentLink(context, account.name)),
    });
    const body = { challengeId: options.challengeId, credential: newAuthenticator(platform).create(options) };
    const { account: view } = await browser.take<SessionAnswer>('/v1/auth/enrol/verify', { body });
    assert.ok(view.deletesAt);
    assert.equal((await browser.fetch(PATH, { method: 'DELETE' })).status, 204);
  });

  test('only by itself', async () => {
    await close();
    assert.equal((await keep(neighbour)).status, 204);
    assert.ok((await viewOf(account)).deletesAt);
    refused(await account.fetch(PATH, { method: 'DELETE', headers: { origin: undefined } }), 403, 'origin_not_allowed');
  });
});

test('the operator sees when it is deleted', async () => {
  const deletesAt = await close();
  const row = (await listAccountStates(platform.core.context)).find(({ name }) => name === account.name);
  assert.equal(row?.deletes_at?.toISOString(), deletesAt);
});

describe('after the grace', () => {
  /** Workers look when an account is paused or resumed, of whomever. */
  async function wake(): Promise<void> {
    await neighbour.browser.take('/v1/runtime/pause', { body: {} });
    await neighbour.browser.take('/v1/runtime/resume', { body: {} });
  }

  async function exists(): Promise<boolean> {
    const { rows } = await platform.core.context.pool.query('SELECT FROM accounts WHERE name = $1', [account.name]);
    return rows.length > 0;
  }

  test('the account and all its rows are gone, on every replica, and not a moment before', async () => {
    const deletesAt = await close();
    now = new Date(Date.parse(deletesAt) - 1);
    await wake();
    assert.ok((await viewOf(account)).deletesAt, 'a moment before');
    now = new Date(deletesAt);
    await until('the deletion', async () => {
      await wake();
      return !(await exists());
    });
    await received();
    refused(await account.fetch('/v1/auth/session'), 401, 'unauthenticated');
    await assert.rejects(signIn(platform, account.authenticator), /verification_failed/);
    const { pool } = platform.core.context;
    for (const table of ['installations', 'passkeys', 'sessions', 'notifications'])
      assert.deepEqual(
        (await pool.query(`SELECT FROM ${table} WHERE account_key NOT IN (SELECT key FROM accounts)`)).rows,
        [],
        table,
      );
  });

  test('one that is kept in the last moment stays', async () => {
    const deletesAt = await close();
    // Workers look whenever they like: at the time itself it may be gone before it is kept.
    now = new Date(Date.parse(deletesAt) - 1);
    await keep();
    now = new Date(deletesAt);
    await wake();
    await wake();
    assert.equal((await viewOf(account)).deletesAt, undefined);
    assert.equal(await exists(), true);
  });
});

test('the tokens of its command lines are refused until it is kept', async () => {
  const { token } = await authorToken(account);
  const asAuthor = () => bearer(platform, token, '/v1/author');
  assert.equal((await asAuthor()).status, 200);
  await close();
  await received();
  refused(await asAuthor(), 401, 'unauthenticated');
  await keep();
  await received();
  assert.equal((await asAuthor()).status, 200);
});
