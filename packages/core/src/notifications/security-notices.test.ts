// Whatever gives or takes lasting power over an account reaches its owner's inbox as a notice of the platform, which nobody mutes
// and no app sees or marks read; what is refused leaves none.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ConfirmedOperation, type Notification, secretBindingList } from '@platform/contract';
import { authorToken } from '../../../../tests/support/author-token.ts';
import {
  confirm,
  newAuthenticator,
  registerAccount,
  type TestAccount,
  TestBrowser,
} from '../../../../tests/support/client.ts';
import { connectClient } from '../../../../tests/support/connected-client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../../../tests/support/installed-app.ts';
import { problemCode } from '../../../../tests/support/raw-http.ts';
import { until } from '../../../../tests/support/wait.ts';
import { createEnrolmentLink } from '../accounts/passkeys/enrolment-link.ts';

let world: Constellation;
before(async () => {
  world = await startConstellation();
});
after(() => world.close());

interface Case {
  readonly act: (owner: TestAccount) => Promise<unknown>;
  /** What the notice must name. */
  readonly says: RegExp;
  readonly leadsTo: string;
  readonly priority: Notification['priority'];
}

async function addPasskey(account: TestAccount): Promise<string> {
  const confirmation = await confirm(account, 'passkey.add');
  const options = await account.browser.begin('/v1/auth/passkeys/options', { confirmation });
  const credential = newAuthenticator(world).create(options);
  const body = { challengeId: options.challengeId, credential };
  const { passkey } = await account.browser.take<{ passkey: { id: string } }>('/v1/auth/passkeys/verify', { body });
  return passkey.id;
}

/** Of each operation that a passkey confirms, but for those of the operator on other accounts, and for what happens once. */
const CONFIRMED: Readonly<
  Record<Exclude<ConfirmedOperation, `operator.${string}` | 'tools.approve' | `wallet.${string}`>, Case>
> = {
  'passkey.add': { act: addPasskey, says: /“Passkey 2”/, leadsTo: 'passkeys', priority: 'high' },
  'passkey.remove': {
    act: async (owner) => {
      const id = await addPasskey(owner);
      await until('the notice of the new one', async () => (await noticesOf(owner)).length === 1);
      const confirmation = await confirm(owner, 'passkey.remove', id);
      await owner.browser.take(`/v1/auth/passkeys/${id}`, { method: 'DELETE', body: { confirmation } });
    },
    says: /removed.*“Passkey 2”/,
    leadsTo: 'passkeys',
    priority: 'high',
  },
  'recipient.replace': {
    act: async (account) => {
      const { items } = await account.browser.take<{ items: { id: string }[] }>('/v1/auth/passkeys');
      const wrappings = [{ passkeyId: items[0]?.id, salt: 'rp', sealed: 'A'.repeat(80) }];
      const put = (ifVersion: number, letter: string, more: object = {}) =>
        account.browser.take('/v1/account/recipient', {
          method: 'PUT',
          body: { ifVersion, publicKey: letter.repeat(43), wrappings, ...more },
        });
      await put(0, 'A');
      await put(1, 'E', { confirmation: await confirm(account, 'recipient.replace') });
    },
    says: /new key|before/,
    leadsTo: 'passkeys',
    priority: 'high',
  },
  'connection.allow': {
    act: (account) => connectClient(world, account, { metadata: { client_name: 'An editor' } }),
    says: /“An editor”, a program on a computer/,
    leadsTo: 'connections',
    priority: 'normal',
  },
  'author.allow': {
    act: (account) => authorToken(account, 'my laptop'),
    says: /“my laptop”/,
    leadsTo: 'command-line',
    priority: 'normal',
  },
  'account.export': {
    act: async (account) => {
      const confirmation = await confirm(account, 'account.export');
      const answer = await account.fetch('/v1/account/export', { body: { confirmation } });
      assert.equal(answer.status, 200);
    },
    says: /downloaded/,
    leadsTo: 'sessions',
    priority: 'high',
  },
  'account.delete': {
    act: async (account) => {
      const confirmation = await confirm(account, 'account.delete');
      await account.browser.take('/v1/account/deletion', { body: { name: account.name, confirmation } });
      // Until then nothing but the deletion is shown.
      await account.browser.take('/v1/account/deletion', { method: 'DELETE' });
    },
    says: /deleted on \d{4}-\d\d-\d\d/,
    leadsTo: 'account',
    priority: 'high',
  },
  'secret.bind': {
    act: async (owner) => {
      const bind = await installCaller(owner);
      await bind();
    },
    says: /sender.*“token”.*https:\/\/collector\.example/,
    leadsTo: 'secrets',
    priority: 'normal',
  },
};

/** @returns what binds a secret that was stored a moment ago, for which no passkey is asked */
async function installCaller(account: TestAccount): Promise<() => Promise<unknown>> {
  const [appId, origin] = [`sender-of-${account.name}`, 'https://collector.example'];
  const permissions = [
    { id: 'secrets.use' as const, resources: ['out'] },
    { id: 'network.connect' as const, resources: [origin] },
  ];
  const slot = { name: 'out', origin, pathPrefix: '/', methods: ['POST'] };
  await installTestApp(world, account, appId, permissions, { secretSlots: [slot] });
  await account.browser.take('/v1/account/secrets/token', { method: 'PUT', body: { value: 'key-0b1e4c5d' } });
  const path = `/v1/apps/${appId}/secret-bindings`;
  const { items } = secretBindingList.parse(await account.browser.take(path));
  const declarationHash = items[0]?.declarationHash ?? '';
  return () => account.browser.take(`${path}/out`, { method: 'PUT', body: { secret: 'token', declarationHash } });
}

async function enrolWithLink({ name }: TestAccount): Promise<void> {
  const link = await createEnrolmentLink(world.core.context, name);
  const token = link?.url.split('/#enrol=')[1];
  const browser = new TestBrowser(world);
  const options = await browser.begin('/v1/auth/enrol/options', { token });
  const body = { challengeId: options.challengeId, credential: newAuthenticator(world).create(options) };
  await browser.take('/v1/auth/enrol/verify', { body });
}

const CASES: readonly (readonly [string, Case])[] = [
  ...Object.entries(CONFIRMED),
  [
    'the link for recovery',
    { act: enrolWithLink, says: /recovered.*“Passkey 2”/, leadsTo: 'recovered', priority: 'high' },
  ],
];

async function noticesOf(account: TestAccount): Promise<Notification[]> {
  const { items } = await account.browser.take<{ items: Notification[] }>('/v1/notifications');
  return items.filter(({ appId }) => appId === 'platform');
}

let owners = 0;
function newOwner(): Promise<TestAccount> {
  owners += 1;
  return registerAccount(world, `owner-${owners}`);
}

for (const [what, { act, says, leadsTo, priority }] of CASES) {
  test(`${what}: the owner finds a notice with the way back`, async () => {
    const owner = await newOwner();
    assert.deepEqual(await noticesOf(owner), []);
    await act(owner);
    const notice = await until('the notice', async () =>
      (await noticesOf(owner)).find(({ title, body }) => says.test(`${title} ${body}`)),
    );
    assert.equal(notice.topic, 'security');
    assert.equal(notice.priority, priority);
    assert.equal(notice.readAt, null);
    const [target] = notice.presentation?.actions.map((action) => action.target) ?? [];
    assert.match(target ?? '', new RegExp(`^\\?settings/${leadsTo}&by=ses-`));
    assert.equal(target?.endsWith(owner.sessionId), leadsTo !== 'recovered', 'the session that did it');
    const left = await world.core.context.pool.query('SELECT FROM security_notices');
    assert.equal(left.rowCount, 0, 'once');
  });
}

test('a secret that goes where it went before leaves no second notice', async () => {
  const owner = await newOwner();
  const bind = await installCaller(owner);
  await bind();
  await until('the notice', async () => (await noticesOf(owner)).length === 1);
  await bind();
  await addPasskey(owner);
  await until('the notice after it', async () => (await noticesOf(owner)).length >= 2);
  assert.equal((await noticesOf(owner)).length, 2);
});

test('what was refused leaves no notice', async () => {
  const owner = await newOwner();
  const confirmation = await confirm(owner, 'passkey.remove', 'no-such-passkey');
  const answer = await owner.fetch('/v1/auth/passkeys/no-such-passkey', { method: 'DELETE', body: { confirmation } });
  assert.equal(answer.status >= 400, true, answer.text);
  await addPasskey(owner);
  await until('the notice of what came after it', async () => (await noticesOf(owner)).length > 0);
  assert.equal((await noticesOf(owner)).length, 1);
});

test('no app sees a notice or marks it read, whatever topics it may read', async () => {
  const owner = await newOwner();
  const grants = [{ id: 'notifications.read' as const, resources: ['*', 'security'] }];
  const app: InstalledTestApp = await installTestApp(world, owner, `reader-of-${owner.name}`, grants);
  await addPasskey(owner);
  const notice = await until('the notice', async () => (await noticesOf(owner))[0]);
  const callers = [app.call, (await app.openFrontend()).call];
  for (const call of callers) {
    const list = await call('/v1/services/notifications');
    assert.deepEqual((list.json as { items: unknown[] }).items, []);
    const read = await call(`/v1/services/notifications/${notice.id}/read`, { body: {} });
    assert.deepEqual([read.status, problemCode(read)], [404, 'not_found']);
    const all = await call('/v1/services/notifications/read-all', { body: {} });
    assert.deepEqual(all.json, { updated: 0 });
  }
  // The shell, for an app that asks it over the bridge.
  const forApp = await owner.browser.take('/v1/notifications/read-all', { body: { topics: ['*'] } });
  assert.deepEqual(forApp, { updated: 0 });
  assert.equal((await noticesOf(owner))[0]?.readAt, null);
  assert.deepEqual(await owner.browser.take('/v1/notifications/read-all', { body: {} }), { updated: 1 });
});

test('the platform cannot be muted', async () => {
  const account = await newOwner();
  for (const topic of [null, 'security']) {
    const mute = { mute: [{ appId: 'platform', topic }] };
    const answer = await account.fetch('/v1/account/notification-settings', { method: 'PATCH', body: mute });
    assert.deepEqual([answer.status, problemCode(answer)], [400, 'invalid_request'], answer.text);
  }
});
