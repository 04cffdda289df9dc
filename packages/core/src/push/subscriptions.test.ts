// Promises of push subscriptions: bound to account and session, refused where they lead somewhere they must not, and
// never in the clear in the database.
import assert from 'node:assert/strict';
import { createECDH, randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { limits } from '@platform/contract';
import { registerAccount, signIn, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { problemCode } from '../../../../tests/support/raw-http.ts';
import { databaseText } from '../../test-support/database-sweep.ts';

const ROUTE = '/v1/push/subscriptions';
const PRIVATE = 'https://push.example.lan:8443';

let world: Constellation;
let accounts = 0;
before(async () => {
  world = await startConstellation({ config: { pushPrivateOrigins: [PRIVATE] } });
});
after(() => world.close());

async function newAccount(): Promise<TestAccount> {
  accounts += 1;
  return registerAccount(world, `pushed-${accounts}`);
}

function newKeys(): { p256dh: string; auth: string } {
  const curve = createECDH('prime256v1');
  return { p256dh: curve.generateKeys().toString('base64url'), auth: randomBytes(16).toString('base64url') };
}

function newEndpoint(origin = 'https://push.example.net'): string {
  return `${origin}/push/${randomBytes(24).toString('base64url')}`;
}

async function subscribe(account: TestAccount, endpoint = newEndpoint(), keys = newKeys()): Promise<string> {
  const answer = await account.fetch(ROUTE, { method: 'POST', body: { endpoint, keys } });
  assert.equal(answer.status, 201, answer.text);
  const { subscription } = answer.json as { subscription: { id: string; createdAt: string } };
  assert.match(subscription.id, /^psh-/);
  return subscription.id;
}

async function subscriptionsOf(account: TestAccount): Promise<string[]> {
  const { rows } = await world.core.context.pool.query<{ id: string }>(
    `SELECT s.id FROM push_subscriptions s JOIN accounts a ON a.key = s.account_key
      WHERE a.name = $1 ORDER BY s.created_at, s.id`,
    [account.name],
  );
  return rows.map(({ id }) => id);
}

test('the key is a point of P-256 and the same on every replica and after a restart', async () => {
  const account = await newAccount();
  const { publicKey } = await account.browser.take<{ publicKey: string }>('/v1/push/key');
  assert.equal(Buffer.from(publicKey, 'base64url').length, 65);
  const replicas = await Promise.all([world.replica(), world.replica()]);
  for (const { context } of replicas) {
    const { rows } = await context.pool.query<{ public_key: string }>('SELECT public_key FROM push_keys');
    assert.deepEqual(rows, [{ public_key: publicKey }]);
  }
});

test('a master key that is not the one of the database stops the start, with the cure', async () => {
  await assert.rejects(
    world.replica({ masterKey: randomBytes(32) }),
    /sealed with\. Restore the file named by PLATFORM_MASTER_KEY_FILE/,
  );
});

test('without an address of the operator there is no key and no subscription', async () => {
  const other = await startConstellation({ config: { vapidSubject: null } });
  try {
    const account = await registerAccount(other, 'nobody-pushes');
    assert.deepEqual(await account.browser.take('/v1/push/key'), { publicKey: null });
    const body = { endpoint: newEndpoint(), keys: newKeys() };
    assert.equal(problemCode(await account.fetch(ROUTE, { method: 'POST', body })), 'not_found');
  } finally {
    await other.close();
  }
});

test('the same endpoint again replaces the subscription, and its end is silent', async () => {
  const account = await newAccount();
  const endpoint = newEndpoint();
  const id = await subscribe(account, endpoint);
  assert.equal(await subscribe(account, endpoint), id);
  assert.deepEqual(await subscriptionsOf(account), [id]);
  for (let time = 0; time < 2; time += 1) {
    const answer = await account.fetch(ROUTE, { method: 'DELETE', body: { endpoint } });
    assert.equal(answer.status, 204, answer.text);
  }
  assert.deepEqual(await subscriptionsOf(account), []);
});

test('a browser that another account uses now belongs to that one; accounts cannot end each other’s', async () => {
  const [one, two] = [await newAccount(), await newAccount()];
  const endpoint = newEndpoint();
  await subscribe(one, endpoint);
  const id = await subscribe(two, endpoint);
  assert.deepEqual([await subscriptionsOf(one), await subscriptionsOf(two)], [[], [id]]);
  assert.equal((await one.fetch(ROUTE, { method: 'DELETE', body: { endpoint } })).status, 204);
  assert.deepEqual(await subscriptionsOf(two), [id]);
});

test('of many at once with one endpoint exactly one is kept', async () => {
  const [one, two] = [await newAccount(), await newAccount()];
  const endpoint = newEndpoint();
  await Promise.all(Array.from({ length: 12 }, (_, index) => subscribe(index % 2 === 0 ? one : two, endpoint)));
  assert.equal((await subscriptionsOf(one)).length + (await subscriptionsOf(two)).length, 1);
});

test('a subscription ends with its session, and others of the account stay', async () => {
  const account = await newAccount();
  const other = await signIn(world, account.authenticator);
  const kept = await subscribe(account);
  await subscribe(other);
  assert.equal((await other.fetch('/v1/auth/logout', { method: 'POST' })).status, 204);
  assert.deepEqual(await subscriptionsOf(account), [kept]);
});

test('an account lists its own subscriptions, and nothing that leads to a browser', async () => {
  const [account, other] = [await newAccount(), await newAccount()];
  await subscribe(other);
  const ids = [await subscribe(account), await subscribe(account)];
  const { items } = await account.browser.take<{ items: object[] }>(ROUTE);
  assert.deepEqual(
    items.map((item) => Object.keys(item)),
    [
      ['id', 'createdAt'],
      ['id', 'createdAt'],
    ],
  );
  assert.deepEqual(items.map((item) => 'id' in item && item.id).toSorted(), ids.toSorted());
});

test('an account has so many subscriptions; one more ends the oldest', async () => {
  const account = await newAccount();
  const ids: string[] = [];
  for (let index = 0; index <= limits.pushSubscriptions.value; index += 1) ids.push(await subscribe(account));
  assert.deepEqual(await subscriptionsOf(account), ids.slice(1));
});

test('neither endpoint nor keys lie in the database or the log', async () => {
  const account = await newAccount();
  const [endpoint, keys] = [newEndpoint(), newKeys()];
  await subscribe(account, endpoint, keys);
  const text = (await databaseText(world.core.context.pool)) + JSON.stringify(world.log);
  for (const secret of [endpoint, endpoint.slice(-20), keys.p256dh, keys.auth])
    for (const form of [secret, Buffer.from(secret).toString('hex'), Buffer.from(secret, 'base64url').toString('hex')])
      assert.ok(!text.includes(form), form);
});

const point = newKeys();
const compressed = Buffer.concat([Buffer.from([2]), Buffer.from(point.p256dh, 'base64url').subarray(1, 33)]).toString(
  'base64url',
);
const bent = Buffer.from(point.p256dh, 'base64url');
bent[64] = (bent[64] ?? 0) ^ 1;
const refused: [string, object][] = [
  ['http', { endpoint: newEndpoint('http://push.example.net') }],
  ['a user name', { endpoint: newEndpoint('https://ada@push.example.net') }],
  ['a fragment', { endpoint: `${newEndpoint()}#x` }],
  ['no URL', { endpoint: 'push' }],
  ['a script', { endpoint: 'javascript:alert(1)' }],
  ['another port', { endpoint: newEndpoint('https://push.example.net:8443') }],
  ['a private address', { endpoint: newEndpoint('https://10.0.0.5') }],
  ['a private address in other words', { endpoint: newEndpoint('https://0x0a000005') }],
  ['metadata of a cloud', { endpoint: newEndpoint('https://169.254.169.254') }],
  ['loopback', { endpoint: newEndpoint('https://127.0.0.1') }],
  ['IPv6 loopback', { endpoint: newEndpoint('https://[::1]') }],
  ['an IPv4 address inside IPv6', { endpoint: newEndpoint('https://[::ffff:10.0.0.5]') }],
  ['localhost', { endpoint: newEndpoint('https://localhost') }],
  ['a name below localhost', { endpoint: newEndpoint('https://a.localhost.') }],
  ['a name of this network', { endpoint: newEndpoint('https://printer.local') }],
  ['another port of a private origin', { endpoint: newEndpoint('https://push.example.lan:8444') }],
  ['2,049 characters', { endpoint: `https://push.example.net/${'x'.repeat(2_024)}` }],
  ['a compressed key', { keys: { ...point, p256dh: compressed } }],
  ['a key off the curve', { keys: { ...point, p256dh: bent.toString('base64url') } }],
  ['a secret of 15 bytes', { keys: { ...point, auth: randomBytes(15).toString('base64url') } }],
  ['a secret in another spelling', { keys: { ...point, auth: `${'A'.repeat(21)}B` } }],
  ['an unknown member', { expirationTime: null }],
];
for (const [what, change] of refused) {
  test(`a subscription with ${what} is refused, and nothing is stored`, async () => {
    const account = await newAccount();
    const body = { endpoint: newEndpoint(), keys: point, ...change };
    const answer = await account.fetch(ROUTE, { method: 'POST', body });
    assert.deepEqual([answer.status, problemCode(answer)], [400, 'invalid_request']);
    assert.deepEqual(await subscriptionsOf(account), []);
  });
}

test('a push service that the operator named may lie anywhere', async () => {
  await subscribe(await newAccount(), newEndpoint(PRIVATE));
});
