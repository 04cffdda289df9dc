// Opening an app: what the descriptor says, and the one use of the capability in it.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { exchangeAnswer, launchDescriptor, launchFragment, limits } from '@platform/contract';
import { registerAccount, signIn, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { problemCode, type RawAnswer, rawRequest } from '../../../../tests/support/raw-http.ts';
import {
  addNode,
  exchange,
  install,
  installationRow,
  launch,
  launchAny,
  nodeWorkload,
  openFrontend,
  publish,
} from '../../test-support/apps.ts';

const reading = { id: 'apps.catalog.read', resources: ['*'] };
const HOUR = 3_600_000;

let platform: Constellation;
let account: TestAccount;
let offset = 0;

before(async () => {
  platform = await startConstellation({
    clock: () => new Date(Date.now() + offset),
    config: { sessionMilliseconds: 20 * HOUR },
  });
  account = await registerAccount(platform, 'opener');
  await publish(account, 'whole', { permissions: [reading], workload: nodeWorkload });
  await publish(
    account,
    'page-only',
    {
      frontend: { entry: 'app/start page.html', chrome: 'never' },
      permissions: [reading],
    },
    { 'frontend/app/start page.html': 'start' },
  );
  await publish(account, 'engine', { frontend: undefined, workload: nodeWorkload });
  for (const appId of ['whole', 'page-only', 'engine']) await install(account, appId);
});

beforeEach(() => {
  offset = 0;
});

after(() => platform.close());

function fragmentOf({ url }: { readonly url: string }) {
  const { hash } = new URL(url);
  assert.match(hash, /^#platform=[\w-]+$/);
  return launchFragment.parse(JSON.parse(Buffer.from(hash.slice('#platform='.length), 'base64url').toString('utf8')));
}

function assertRefused(answer: RawAnswer, status: number, code: string): void {
  assert.deepEqual([answer.status, problemCode(answer)], [status, code], answer.text);
}

test('a descriptor opens the app at its own origin, with everything secret in the fragment', async () => {
  const descriptor = await launch(account, 'whole');
  const { host_label, endpoint_id } = await installationRow(platform, account, 'whole');
  assert.deepEqual(launchDescriptor.parse(descriptor), descriptor);
  assert.equal(descriptor.origin, `http://whole--${host_label}.apps.platform.localhost:${platform.port}`);
  assert.equal(descriptor.url.split('#')[0], `${descriptor.origin}/`);
  assert.deepEqual(descriptor.permissions, [reading]);
  assert.deepEqual(fragmentOf(descriptor), {
    capability: descriptor.frontendCapability,
    ticket: descriptor.backend?.endpointTicket,
    dataPlane: descriptor.backend?.capability,
    api: `http://services.apps.platform.localhost:${platform.port}`,
    shell: platform.origin,
  });
  const ticket = /^pet1\.([\w-]+)$/.exec(descriptor.backend?.endpointTicket ?? '')?.[1] ?? '';
  assert.deepEqual(JSON.parse(Buffer.from(ticket, 'base64url').toString('utf8')), {
    url: `http://node.platform.localhost:8788/e/${endpoint_id}`,
  });
  assert.match(descriptor.backend?.capability ?? '', /^pdc_[\w-]{43}$/);
});

test('a descriptor names no account key, no installation and no credential of core or Gateway', async () => {
  const { id, account_key } = await installationRow(platform, account, 'whole');
  const descriptor = await launch(account, 'whole');
  const text = JSON.stringify([descriptor, fragmentOf(descriptor)]);
  for (const secret of [id, account_key, 'pcs_', 'pgw_', 'pnd_', 'acct-', platform.core.localNode.nodeCredential])
    assert.ok(!text.includes(secret), secret);
});

test('an app without a backend has none in its descriptor, and opens at its entry document', async () => {
  const descriptor = await launch(account, 'page-only');
  assert.equal(descriptor.backend, null);
  assert.equal(descriptor.chrome, 'never');
  const url = new URL(descriptor.url);
  assert.equal(url.pathname, '/app/start%20page.html');
  assert.deepEqual([fragmentOf(descriptor).ticket, fragmentOf(descriptor).dataPlane], [null, null]);
  const page = await rawRequest({ port: platform.port, path: url.pathname, headers: { host: url.host } });
  assert.equal(page.text, 'start');
});

test('an app without a frontend is launched for native clients, which take its backend', async () => {
  const descriptor = await launchAny(account, 'engine');
  assert.deepEqual(launchDescriptor.parse(descriptor), descriptor);
  const { endpoint_id } = await installationRow(platform, account, 'engine');
  assert.deepEqual([descriptor.url, descriptor.frontendCapability, descriptor.chrome], [null, null, 'auto']);
  assert.match(descriptor.backend?.capability ?? '', /^pdc_[\w-]{43}$/);
  const ticket = Buffer.from((descriptor.backend?.endpointTicket ?? '').slice('pet1.'.length), 'base64url').toString();
  assert.equal(JSON.parse(ticket).url, `http://node.platform.localhost:8788/e/${endpoint_id}`);
});

test('a launch needs the shell’s own origin: an app cannot open another with the cookie the browser sends', async () => {
  const { origin } = await launch(account, 'whole');
  for (const headers of [{ origin }, { origin: undefined }, { 'sec-fetch-site': 'same-site' }])
    assertRefused(await account.fetch('/v1/apps/whole/launch', { body: {}, headers }), 403, 'origin_not_allowed');
});

test('the exchange gives the frontend a capability of its own that lasts 12 hours', async () => {
  const { origin, frontendCapability } = await launch(account, 'whole');
  const before = Date.now();
  const answer = await exchange(platform, frontendCapability, origin);
  const exchanged = exchangeAnswer.parse(answer.json);
  assert.equal(exchanged.appId, 'whole');
  assert.notEqual(exchanged.capability, frontendCapability);
  const life = Date.parse(exchanged.expiresAt) - before;
  assert.ok(life >= 12 * HOUR && life < 12 * HOUR + 60_000, String(life));
  assert.equal(answer.headers['access-control-allow-origin'], origin);
  assert.equal(answer.headers['access-control-allow-credentials'], undefined);
});

test('of many exchanges of one capability at the same time exactly one succeeds', async () => {
  for (let round = 0; round < 5; round += 1) {
    const { origin, frontendCapability } = await launch(account, 'whole');
    const answers = await Promise.all(Array.from({ length: 12 }, () => exchange(platform, frontendCapability, origin)));
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
    for (const answer of answers.filter(({ status }) => status !== 200)) assertRefused(answer, 401, 'unauthenticated');
  }
});

test('an exchange from any other origin is refused and uses nothing up', async () => {
  const { origin, frontendCapability } = await launch(account, 'whole');
  const { origin: otherApp } = await launch(account, 'page-only');
  const label = new URL(origin).hostname.split('.')[0] ?? '';
  const origins = [
    otherApp,
    platform.origin,
    'http://evil.example',
    'null',
    `${origin}/`,
    origin.replace(':', 's:'),
    origin.replace(/:\d+$/, ''),
    origin.replace(label, label.replace('whole', 'page-only')),
    origin.toUpperCase(),
  ];
  for (const from of origins)
    assertRefused(await exchange(platform, frontendCapability, from), 403, 'origin_not_allowed');
  assert.equal((await exchange(platform, frontendCapability, origin)).status, 200);
});

test('a launch capability ends after a minute, and a wrong one was never there', async () => {
  const { origin, frontendCapability } = await launch(account, 'whole');
  offset = 61_000;
  assertRefused(await exchange(platform, frontendCapability, origin), 401, 'unauthenticated');
  const { capability } = await openFrontend(platform, account, 'whole');
  for (const wrong of [`pfc_${'A'.repeat(43)}`, capability, 'x'.repeat(40), `pcs_${'A'.repeat(43)}`])
    assertRefused(await exchange(platform, wrong, origin), 401, 'unauthenticated');
});

test('strangers who fail from the address of somebody do not keep their apps from opening', async (t) => {
  const crowded = await startConstellation({ rates: { exchange: { perMinute: 3, burst: 3 } } });
  t.after(() => crowded.close());
  const neighbour = await registerAccount(crowded, 'neighbour');
  await publish(neighbour, 'page', {});
  await install(neighbour, 'page');
  const { url, frontendCapability } = await launch(neighbour, 'page');
  const { origin } = new URL(url);
  const wrong = () => exchange(crowded, `pfc_${'A'.repeat(43)}`, origin);
  for (let index = 0; index < 3; index += 1) assertRefused(await wrong(), 401, 'unauthenticated');
  assertRefused(await wrong(), 429, 'rate_limited');
  for (let index = 0; index < 5; index += 1) {
    const next = index === 0 ? frontendCapability : (await launch(neighbour, 'page')).frontendCapability;
    const answer = await exchange(crowded, next, origin);
    assert.equal(answer.status, 200, answer.text);
  }
  assertRefused(await exchange(crowded, frontendCapability, origin), 429, 'rate_limited');
});

test('a launch capability is no credential for services', async () => {
  const { origin, frontendCapability } = await launch(account, 'whole');
  const answer = await rawRequest({
    port: platform.port,
    path: '/v1/services/apps',
    headers: { host: new URL(platform.origin).host, origin, authorization: `Bearer ${frontendCapability}` },
  });
  assertRefused(answer, 401, 'unauthenticated');
});

test('a frontend capability works from the origin of its app and no other', async () => {
  const frontend = await openFrontend(platform, account, 'whole');
  const other = await openFrontend(platform, account, 'page-only');
  assert.equal((await frontend.fetch('/v1/services/apps')).status, 200);
  for (const origin of [other.origin, platform.origin])
    assertRefused(await frontend.fetch('/v1/services/apps', { origin }), 403, 'origin_not_allowed');
  assertRefused(await frontend.fetch('/v1/apps'), 403, 'not_authorized');
});

test('a frontend capability ends after 12 hours, or with the session when that is sooner', async () => {
  const early = await openFrontend(platform, account, 'whole');
  offset = 10 * HOUR;
  const late = await openFrontend(platform, account, 'whole');
  offset = 12 * HOUR + 1_000;
  assertRefused(await early.fetch('/v1/services/apps'), 401, 'unauthenticated');
  assert.equal((await late.fetch('/v1/services/apps')).status, 200);
  offset = 20 * HOUR + 1_000;
  assertRefused(await late.fetch('/v1/services/apps'), 401, 'unauthenticated');
});

test('signing out ends the frontends of that session and of no other', async () => {
  const elsewhere = await signIn(platform, account.authenticator);
  const [here, there] = await Promise.all([
    openFrontend(platform, account, 'whole'),
    openFrontend(platform, elsewhere, 'whole'),
  ]);
  const { origin, frontendCapability } = await launch(elsewhere, 'whole');
  assert.equal((await there.fetch('/v1/services/apps')).status, 200);
  assert.equal((await elsewhere.fetch('/v1/auth/logout', { body: {} })).status, 204);
  assertRefused(await there.fetch('/v1/services/apps'), 401, 'unauthenticated');
  assertRefused(await exchange(platform, frontendCapability, origin), 401, 'unauthenticated');
  assert.equal((await here.fetch('/v1/services/apps')).status, 200);
});

test('capabilities are kept as hashes, and expired ones are cleared by the next launch', async () => {
  const { pool } = platform.core.context;
  await publish(account, 'clearing');
  await install(account, 'clearing');
  const { id } = await installationRow(platform, account, 'clearing');
  const { capability } = await openFrontend(platform, account, 'clearing');
  const { frontendCapability } = await launch(account, 'clearing');
  const { rows } = await pool.query<{ line: string }>(
    'SELECT f::text AS line FROM frontend_capabilities f WHERE installation_id = $1',
    [id],
  );
  const dump = rows.map(({ line }) => line).join();
  for (const secret of [capability, frontendCapability])
    assert.ok(!dump.includes(secret) && !dump.includes(Buffer.from(secret).toString('hex')));
  offset = 13 * HOUR;
  await launch(account, 'clearing');
  const left = await pool.query('SELECT FROM frontend_capabilities WHERE installation_id = $1', [id]);
  assert.equal(left.rowCount, 1);
});

test('an app has a bounded number of capabilities in a session; the oldest end first', async () => {
  const { pool } = platform.core.context;
  await publish(account, 'reloading', { permissions: [reading] });
  await install(account, 'reloading');
  const { id } = await installationRow(platform, account, 'reloading');
  const { capability: first } = await openFrontend(platform, account, 'reloading');
  offset = 1_000;
  await pool.query(
    `INSERT INTO frontend_capabilities (token_hash, kind, installation_id, session_id, expires_at)
     SELECT convert_to('made up ' || n, 'UTF8'), kind, installation_id, session_id, expires_at + interval '1 s'
       FROM frontend_capabilities, generate_series(1, $2::int + 10) AS n WHERE installation_id = $1`,
    [id, limits.frontendCapabilities.value],
  );
  const { capability, origin } = await openFrontend(platform, account, 'reloading');
  const { rows } = await pool.query('SELECT FROM frontend_capabilities WHERE installation_id = $1', [id]);
  assert.equal(rows.length, limits.frontendCapabilities.value);
  const call = (token: string) =>
    rawRequest({
      port: platform.port,
      path: '/v1/services/apps',
      headers: { host: new URL(platform.origin).host, origin, authorization: `Bearer ${token}` },
    });
  assert.equal((await call(first)).status, 401);
  assert.equal((await call(capability)).status, 200);
});

test('the ticket leads to the node the installation is placed on', async () => {
  const { pool } = platform.core.context;
  const { id: nodeId } = await addNode(platform, 'second');
  await pool.query(`UPDATE nodes SET inbound_origin = 'https://second.example' WHERE id = $1`, [nodeId]);
  await publish(account, 'placed', { workload: nodeWorkload });
  await install(account, 'placed');
  const { id, endpoint_id } = await installationRow(platform, account, 'placed');
  await pool.query('UPDATE installations SET node_id = $1 WHERE id = $2', [nodeId, id]);
  const place = async () => {
    const { backend } = await launch(account, 'placed');
    return JSON.parse(Buffer.from((backend?.endpointTicket ?? '').slice('pet1.'.length), 'base64url').toString());
  };
  assert.deepEqual(await place(), { url: `https://second.example/e/${endpoint_id}` });
  // A node that Ingresses reach, and clients do not.
  await pool.query(`UPDATE nodes SET inbound_origin = NULL, control_url = 'iroh://key/control' WHERE id = $1`, [
    nodeId,
  ]);
  const atIngress = `http://${nodeId}.public.platform.localhost:8791`;
  assert.deepEqual(await place(), { url: `${atIngress}/e/${endpoint_id}` });
  const { origin } = await launch(account, 'placed');
  const page = await rawRequest({ port: platform.port, path: '/', headers: { host: new URL(origin).host } });
  const connect = /connect-src ([^;]*)/.exec(String(page.headers['content-security-policy']))?.[1]?.split(' ') ?? [];
  assert.deepEqual(connect.slice(-2), [atIngress, atIngress.replace('http', 'ws')]);
});
