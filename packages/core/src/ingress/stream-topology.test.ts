// The stream of the topology under load, on several replicas, and for Ingresses that are slow, late or gone.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { limits, publicAddress } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { until } from '../../../../tests/support/wait.ts';
import { install, publish } from '../../test-support/apps.ts';
import {
  followTopology,
  joinTestIngress,
  openTopology,
  type Platform,
  type TestIngress,
} from '../../test-support/ingress.ts';
import { createCoreMetrics } from '../metrics.ts';
import { forgetNames } from '../topology/domain.ts';

const metrics = createCoreMetrics();
const PIECE = limits.topologyItems.value;

let platform: Constellation;
let owner: TestAccount;
let now = new Date('2026-11-21T10:00:00.000Z');
let hostname: string;
const opened: TestIngress[] = [];

before(async () => {
  platform = await startConstellation({ clock: () => now, metrics });
  owner = await registerAccount(platform, 'publisher');
  await publish(owner, 'streamed', {
    workload: { runtime: 'node', entry: 'main.js' },
    publicEndpoints: ['GET:/*'],
    permissions: [{ id: 'endpoints.public', resources: ['GET:/*'] }],
  });
  await install(owner, 'streamed');
  hostname = String(publicAddress.parse(await owner.browser.take('/v1/apps/streamed/public')).hostname);
});
after(() => platform.close());
afterEach(async () => {
  for (const one of opened.splice(0)) one.close();
  await until('all streams have ended', async () => (await openStreams()) === 0);
  await platform.core.context.pool.query("DELETE FROM topology_routes WHERE label LIKE 'filler%'");
});

/** Another core on the same database, with a sign of life every tenth of a second. */
async function hasty() {
  const ownMetrics = createCoreMetrics();
  const { port, context } = await platform.replica({ topologyBeat: 100, metrics: ownMetrics });
  return { port, origin: context.config.origin, metrics: ownMetrics };
}

async function follow(
  name: string,
  options: { readonly after?: string } = {},
  at: Platform = platform,
): Promise<TestIngress> {
  const { ingressCredential } = await joinTestIngress(platform, name);
  const ingress = await followTopology(at, ingressCredential, options);
  opened.push(ingress);
  return ingress;
}

const grant = (open: boolean) =>
  owner.browser.take('/v1/apps/streamed/permissions', {
    method: 'PUT',
    body: { permissions: open ? [{ id: 'endpoints.public', resources: ['GET:/*'] }] : [] },
  });

/** So many further names, in one change. */
async function fill(count: number, routes = ['GET:/*']): Promise<void> {
  const { pool } = platform.core.context;
  await pool.query(
    `WITH raised AS (UPDATE topology_state SET revision = revision + 1 RETURNING revision)
     INSERT INTO topology_routes (label, app_id, installation_id, node_id, routes, revision, changed_at)
     SELECT 'filler' || lpad(n::text, 8, '0'), 'filler', 'inst-01890000-0000-7000-8000-000000000000', NULL, $2, revision, now()
       FROM raised, generate_series(1, $1::integer) AS n`,
    [count, routes],
  );
  await pool.query(`SELECT pg_notify('platform_signals', '{"name":"topology-changed","data":{}}')`);
}

test('names come in pieces of a bounded size, in a snapshot and in a change, and all take effect together', async () => {
  const early = await follow('early');
  const count = 2 * PIECE + 17;
  await fill(count);
  await early.until(({ routes }) => routes.size === count + 1);
  const late = await follow('late');
  assert.equal(late.routes.size, count + 1);
  for (const { lines } of [early, late]) {
    const pieces = lines.flatMap((line) => (line.kind === 'routes' ? [line.items.length + line.gone.length] : []));
    assert.ok(pieces.every((length) => length <= PIECE));
    assert.ok(pieces.length >= 3);
  }
  assert.equal(late.revision(), early.revision());
});

test('names with very many routes come in shorter pieces', async () => {
  const early = await follow('early-long');
  // As much as the grants of one app can hold.
  const longest = Array.from({ length: 256 }, (_, index) => `GET:/${index}/${'x'.repeat(240)}`);
  await fill(50, longest);
  await early.until(({ routes }) => routes.size === 51);
  const late = await follow('late-long');
  assert.equal(late.routes.size, 51);
  for (const { lines } of [early, late]) assert.ok(lines.every((line) => JSON.stringify(line).length < 3 * 2 ** 20));
});

test('a change at one core reaches the Ingress of another', async () => {
  const ingress = await follow('elsewhere', {}, await hasty());
  await grant(false);
  // Nobody answered before this Ingress had confirmed it.
  assert.equal(ingress.routes.has(hostname), false);
  await grant(true);
  await ingress.until(({ routes }) => routes.has(hostname));
});

test('an Ingress that takes nothing delays no other and is dropped; it goes on where it was', async () => {
  const { ingressCredential } = await joinTestIngress(platform, 'stalled');
  const there = await hasty();
  const stalled = await openTopology(there, ingressCredential);
  await stalled.until(({ revision }) => revision() !== null);
  stalled.applies = false;
  const known = stalled.revision() ?? '';
  stalled.stall();
  const other = await follow('lively');
  // More than the buffers of a connection hold.
  const long = Array.from({ length: 60 }, (_, index) => `GET:/${'x'.repeat(200)}/${index}`);
  await fill(PIECE, long);
  await other.until(({ routes }) => routes.size > PIECE);
  await until('core has dropped it', async () => (await openStreams(there.metrics)) === 0);
  stalled.close();
  const again = await followTopology(platform, ingressCredential, { after: known });
  opened.push(again);
  assert.equal(again.routes.size, other.routes.size - 1);
  assert.ok(!again.lines.some(({ kind }) => kind === 'snapshot'));
});

/** Streams that are open at core. */
async function openStreams(of = metrics): Promise<number> {
  const text = await of.text();
  return Number(/^platform_core_topology_streams (\d+)$/m.exec(text)?.[1] ?? assert.fail(text));
}

test('a connection that stands gets a sign of life, and the Ingress counts as there', async () => {
  const ingress = await follow('alive', {}, await hasty());
  const { pool } = platform.core.context;
  await pool.query("UPDATE followers SET at = at - interval '1 hour'");
  const seen =
    "SELECT FROM followers f JOIN ingresses g ON g.id = f.follower_id WHERE g.name = 'alive' AND at > now() - interval '1 minute'";
  await until('a beat', async () => (await pool.query(seen)).rowCount === 1);
  assert.equal(ingress.lines.filter(({ kind }) => kind === 'current').length, 1);
});

test('a deletion is remembered for an hour; who was away longer gets everything', async () => {
  const first = await follow('first');
  const before = first.revision() ?? '';
  await grant(false);
  await first.until(({ routes }) => !routes.has(hostname));
  const after = first.revision() ?? '';
  await forgetNames(platform.core.context, platform.core.context.time.proven());
  const kept = await follow('kept', { after: before });
  assert.deepEqual(
    kept.lines.map(({ kind }) => kind),
    ['routes', 'current'],
  );
  now = new Date(now.getTime() + limits.topologyMemory.value * 1_000 + 1);
  await forgetNames(platform.core.context, platform.core.context.time.proven());
  // The clock of this test has gone on: credentials of before are over.
  assert.equal((await follow('too-late', { after: before })).lines[0]?.kind, 'snapshot');
  assert.deepEqual(
    (await follow('in-time', { after })).lines.map(({ kind }) => kind),
    ['current'],
  );
});
