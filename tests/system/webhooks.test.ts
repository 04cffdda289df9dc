// The example Webhook Inbox on a whole platform, by its real clients, curl and Python: what is signed arrives once and is
// kept, what is not is refused, and nothing else of the app can be reached from the internet.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Notification } from '@platform/contract';
import { type AskBackend, openBackend } from '../support/backend.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { ingressVariables, publicUrlOf } from '../support/public-address.ts';
import { rawRequest } from '../support/raw-http.ts';

const APP = 'webhooks';
const GRANTS = [
  { id: 'endpoints.public', resources: ['POST:/hooks/*'] },
  { id: 'notifications.publish', resources: ['deliveries'] },
];
const PYTHON = fileURLToPath(new URL('webhook-sender.py', import.meta.url));
const run = promisify(execFile);

interface Inbox {
  readonly secret: string;
  readonly deliveries: readonly { readonly id: string; readonly sender: string; readonly body: string }[];
  readonly refused: { readonly count: number; readonly last: { readonly detail: string } | null };
}

let place: PlatformPlace;
let platform: PlatformProcess;
let account: TestAccount;
/** As its page asks it. */
let ask: AskBackend;
let address: URL;
let secret: string;

before(async () => {
  place = await platformPlace({ PLATFORM_RUNTIME_DRIVER: 'process', ...(await ingressVariables()) });
  platform = await startPlatform(place);
  account = await registerAccount(platform, 'receiver');
  await account.browser.take('/v1/apps', { body: { appId: APP, permissions: GRANTS } });
  address = await publicUrlOf(account, APP);
  ask = await openBackend(place, account, APP);
  ({ secret } = await inbox());
});
after(async () => {
  await platform?.stop();
  await place?.remove();
});

async function inbox(): Promise<Inbox> {
  return (await ask('/inbox')).json as Inbox;
}

interface Delivery {
  readonly id: string;
  readonly body: string;
  /** Seconds since 1970. Default: now. */
  readonly at?: number;
  readonly key?: string;
  /** What is sent, where it is not what was signed. */
  readonly sent?: string | Buffer;
  readonly signature?: (genuine: string) => string;
  readonly path?: string;
}

const now = () => Math.floor(Date.now() / 1_000);

function headersOf({ id, body, at = now(), key = secret, signature = (genuine) => genuine }: Delivery) {
  const hmac = createHmac('sha256', Buffer.from(key.slice('whsec_'.length), 'base64'));
  const genuine = `v1,${hmac.update(`${id}.${at}.${body}`).digest('base64')}`;
  return { 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': signature(genuine) };
}

async function deliver(delivery: Delivery): Promise<number> {
  const { body, sent = body, path = '/hooks/shop' } = delivery;
  const headers = { host: address.host, 'content-type': 'application/json', ...headersOf(delivery) };
  return (await rawRequest({ port: Number(address.port), path, method: 'POST', headers, body: sent })).status;
}

test('what curl sends is kept byte for byte, and its owner is notified once however often it comes', async () => {
  const body = '{ "order" : 17,\n  "für": "Grüße" }\n';
  const curl = async () => {
    const fields = Object.entries(headersOf({ id: 'msg_curl', body })).flatMap(([name, value]) => [
      '-H',
      `${name}: ${value}`,
    ]);
    const resolve = ['--resolve', `${address.hostname}:${address.port}:127.0.0.1`];
    const url = new URL('/hooks/shop', address).href;
    const options = ['-sS', '-o', '/dev/null', '-w', '%{http_code}', '--data-binary', body, ...fields, ...resolve];
    return (await run('curl', [...options, url])).stdout;
  };
  assert.deepEqual([await curl(), await curl()], ['201', '200']);
  const { deliveries } = await inbox();
  assert.deepEqual(
    deliveries.map(({ id, sender, body: kept }) => [id, sender, kept]),
    [['msg_curl', 'shop', body]],
  );
  const { items } = await account.browser.take<{ items: Notification[] }>('/v1/notifications');
  assert.deepEqual(
    items.map(({ title, body: text }) => [title, text]),
    [['Webhook from shop', '{ "order" : 17,']],
  );
});

test('what Python sends arrives too', async () => {
  const url = new URL('/hooks/from-python', address).href;
  const { stdout } = await run('python3', [PYTHON, url, secret, 'msg_python', String(now()), '{"from":"Python"}']);
  assert.equal(stdout.trim(), '201');
  const forged = await run('python3', [PYTHON, url, 'whsec_AAAA', 'msg_forged', String(now()), '{}']);
  assert.equal(forged.stdout.trim(), '401');
  assert.equal((await inbox()).deliveries[0]?.sender, 'from-python');
});

test('of many deliveries of one id at the same time one is new', async () => {
  const statuses = await Promise.all(Array.from({ length: 8 }, () => deliver({ id: 'msg_many', body: '{}' })));
  assert.deepEqual(statuses.sort(), [200, 200, 200, 200, 200, 200, 200, 201]);
});

const WRONG: readonly [string, number, Omit<Delivery, 'id' | 'body'>][] = [
  ['another body', 401, { sent: '{"order":18}' }],
  ['a body with other bytes that mean the same', 401, { sent: '{ "order":17}' }],
  ['another key', 401, { key: `whsec_${Buffer.alloc(24).toString('base64')}` }],
  ['an empty key', 401, { key: 'whsec_' }],
  ['no signature', 401, { signature: () => '' }],
  ['a signature without its version', 401, { signature: (genuine) => genuine.slice(3) }],
  ['half a signature', 401, { signature: (genuine) => genuine.slice(0, 20) }],
  ['a timestamp of the past, signed', 401, { at: now() - 400 }],
  ['a timestamp of the future, signed', 401, { at: now() + 400 }],
  ['no name of a sender', 404, { path: '/hooks' }],
  ['a name that is none', 404, { path: '/hooks/A%20shop' }],
  ['too many bytes', 413, { sent: Buffer.alloc(256 * 1024 + 1) }],
];
for (const [what, status, delivery] of WRONG) {
  test(`${what} is refused with ${status} and not kept`, async () => {
    const before = await inbox();
    assert.equal(await deliver({ id: 'msg_wrong', body: '{"order":17}', ...delivery }), status);
    const { deliveries, refused } = await inbox();
    assert.deepEqual(deliveries, before.deliveries);
    assert.equal(refused.count, before.refused.count + 1, 'its owner reads of it');
  });
}

test('while a sender changes its secret, one of several signatures is enough', async () => {
  const signature = (genuine: string) => `v1,${'A'.repeat(43)}= v1a,other ${genuine}`;
  assert.equal(await deliver({ id: 'msg_rotated', body: '{}', signature }), 201);
});

test('what is for the owner cannot be reached from the internet', async () => {
  const port = Number(address.port);
  for (const [method, path] of [
    ['GET', '/inbox'],
    ['GET', '/hooks/shop'],
    ['POST', '/secret'],
    ['POST', '/address'],
    ['POST', '/hooks/../inbox'],
    ['POST', '/hooks/%2e%2e/secret'],
  ] as const) {
    const answer = await rawRequest({ port, method, path, headers: { host: address.host }, body: '' });
    assert.ok([400, 404].includes(answer.status), `${method} ${path}: ${answer.status}`);
    assert.doesNotMatch(answer.text, /whsec_/);
  }
  assert.equal((await inbox()).secret, secret);
});

test('deliveries and ids outlive a restart, which the next delivery causes', async () => {
  const before = await inbox();
  await account.browser.take(`/v1/apps/${APP}/stop`, { body: {} });
  await account.browser.take(`/v1/apps/${APP}/start`, { body: {} });
  assert.equal(await deliver({ id: 'msg_curl', body: '{}' }), 200, 'known from before');
  assert.equal(await deliver({ id: 'msg_later', body: '{}' }), 201);
  const { deliveries } = await inbox();
  assert.deepEqual(deliveries.slice(1), before.deliveries);
});

test('a new secret is the only one, and a revoked route is closed', async () => {
  assert.equal((await ask('/secret', '')).status, 200);
  assert.equal(await deliver({ id: 'msg_old_secret', body: '{}' }), 401);
  secret = (await inbox()).secret;
  assert.equal(await deliver({ id: 'msg_new_secret', body: '{}' }), 201);
  const permissions = GRANTS.slice(1);
  await account.browser.take(`/v1/apps/${APP}/permissions`, { method: 'PUT', body: { permissions } });
  // Without any open route it has no name on the internet.
  assert.equal(await deliver({ id: 'msg_revoked', body: '{}' }), 421);
});
