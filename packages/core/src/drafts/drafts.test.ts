// Apps that apps make: nothing until their person accepts exactly what they reviewed, private, and never with more than was granted.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type CatalogDetail, type InstalledApp, limits, type PermissionsView } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { openEvents } from '../../../../tests/support/event-reader.ts';
import type { InstalledTestApp } from '../../../../tests/support/installed-app.ts';
import { problemCode } from '../../../../tests/support/raw-http.ts';
import { until } from '../../../../tests/support/wait.ts';
import { publish } from '../../test-support/apps.ts';
import { accept, appFiles, DRAFTS, handIn, makeApp, makerApp, review, waiting } from '../../test-support/made-apps.ts';
import { Previews, weightOf } from './preview.ts';
import { sweepDrafts } from './sweep.ts';

let world: Constellation;
let person: TestAccount;
let maker: InstalledTestApp;
let time = 0;
before(async () => {
  world = await startConstellation({ clock: () => new Date(Date.now() + time) });
  person = await registerAccount(world, 'gardener');
  maker = await makerApp(world, person, 'helper');
});
after(() => world.close());

const installed = async (account: TestAccount) =>
  (await account.browser.take<{ items: InstalledApp[] }>('/v1/apps')).items.map(({ appId }) => appId);
const permissions = (appId: string) => person.browser.take<PermissionsView>(`/v1/apps/${appId}/permissions`);

test('what an app hands in is nothing until its person accepts it, and then an app of theirs alone', async () => {
  const draft = await makeApp(
    maker,
    'plants',
    appFiles('plants', { permissions: [{ id: 'search.index', resources: ['self'] }] }),
  );
  assert.match(draft.id, /^drf-/);
  assert.deepEqual([draft.appId, draft.version], ['plants', '1.0.0']);
  assert.equal((await person.fetch('/v1/catalog/plants')).status, 404);
  assert.equal((await person.fetch('/v1/apps', { body: { appId: 'plants' } })).status, 404);
  const [listed] = await waiting(person);
  assert.deepEqual(
    [listed?.id, listed?.hash, listed?.madeBy, listed?.installed],
    [draft.id, draft.hash, 'helper', null],
  );
  const shown = await review(person, draft.id);
  assert.deepEqual(
    shown.files.map(({ path }) => path),
    ['manifest.json', 'frontend/index.html'],
  );
  assert.match(shown.files[0]?.text ?? '', /"visibility": "private",/);
  assert.equal(shown.files[1]?.text, '<!doctype html><title>plants</title>\n');
  assert.equal(shown.former, null);
  assert.deepEqual(
    shown.permissions.map(({ id }) => id),
    ['search.index'],
  );
  const answer = await accept(person, draft.id, { hash: draft.hash });
  assert.deepEqual([answer.status, answer.json], [200, { appId: 'plants', version: '1.0.0' }]);
  assert.ok((await installed(person)).includes('plants'));
  assert.deepEqual((await permissions('plants')).permissions, [{ id: 'search.index', resources: ['self'] }]);
  const { visibility, own } = await person.browser.take<CatalogDetail>('/v1/catalog/plants');
  assert.deepEqual([visibility, own], ['private', true]);
  const stranger = await registerAccount(world, 'passer-by');
  assert.equal((await stranger.fetch('/v1/catalog/plants')).status, 404);
  assert.deepEqual(await waiting(person), []);
});

test('a new version shows what it was before, and gets nothing that was not granted', async () => {
  const first = await makeApp(maker, 'diary-of-plants');
  await accept(person, first.id, { hash: first.hash });
  const asks = [
    { id: 'search.index', resources: ['self'] },
    { id: 'runtime.pause', resources: ['*'] },
  ];
  const next = await makeApp(
    maker,
    'diary-of-plants',
    appFiles('diary-of-plants', { version: '1.1.0', permissions: asks }, { 'frontend/index.html': 'new' }),
  );
  const shown = await review(person, next.id);
  assert.deepEqual([shown.installed, shown.former?.version], ['1.0.0', '1.0.0']);
  assert.match(shown.former?.files.find(({ path }) => path === 'frontend/index.html')?.text ?? '', /diary-of-plants/);
  const grown = await accept(person, next.id, { hash: next.hash, permissions: asks });
  assert.equal(problemCode(grown), 'grants_exceed_request');
  assert.equal((await person.fetch('/v1/catalog/diary-of-plants?version=1.1.0')).status, 404, 'nor was it published');
  assert.equal((await accept(person, next.id, { hash: next.hash })).status, 200);
  assert.deepEqual((await permissions('diary-of-plants')).permissions, []);
});

test('only what was reviewed is accepted, and of two windows one accepts it', async () => {
  const first = await makeApp(maker, 'swapped');
  const second = await makeApp(maker, 'swapped', appFiles('swapped', {}, { 'frontend/evil.js': 'x' }));
  assert.notEqual(first.hash, second.hash);
  assert.equal((await accept(person, first.id, { hash: first.hash })).status, 404, 'the second took its place');
  assert.equal(problemCode(await accept(person, second.id, { hash: first.hash })), 'proposal_conflict');
  assert.ok(!(await installed(person)).includes('swapped'));
  const both = await Promise.all([1, 2, 3].map(() => accept(person, second.id, { hash: second.hash })));
  const statuses = both.map(({ status }) => status).sort();
  assert.equal(statuses[0], 200);
  for (const status of statuses.slice(1)) assert.ok([404, 409].includes(status), String(status));
  assert.ok((await installed(person)).includes('swapped'));
});

test('an installation that fails leaves nothing published, and the draft as it was', async () => {
  const draft = await makeApp(
    maker,
    'too-large',
    appFiles(
      'too-large',
      {
        workload: { runtime: 'node', entry: 'main.js', volume: true, resources: { diskMiB: 1_048_576 } },
      },
      { 'workload/main.js': '' },
    ),
  );
  const answer = await accept(person, draft.id, { hash: draft.hash, permissions: [] });
  assert.equal(problemCode(answer), 'disk_quota');
  assert.equal((await person.fetch('/v1/catalog/too-large')).status, 404);
  assert.deepEqual(
    (await waiting(person)).map(({ id }) => id),
    [draft.id],
  );
  assert.equal((await person.fetch(`${DRAFTS}/${draft.id}/decline`, { method: 'POST', body: {} })).status, 204);
  assert.deepEqual(await waiting(person), []);
});

test('a process that died between publishing and installing is no obstacle', async () => {
  const draft = await makeApp(maker, 'half-done');
  const { pool } = world.core.context;
  await pool.query("UPDATE app_drafts SET deciding_until = now() + interval '3 minutes' WHERE id = $1", [draft.id]);
  assert.equal(problemCode(await accept(person, draft.id, { hash: draft.hash })), 'proposal_conflict');
  const declined = await person.fetch(`${DRAFTS}/${draft.id}/decline`, { method: 'POST', body: {} });
  assert.equal(problemCode(declined), 'proposal_conflict');
  await pool.query('UPDATE app_drafts SET deciding_until = now() WHERE id = $1', [draft.id]);
  assert.equal((await accept(person, draft.id, { hash: draft.hash })).status, 200);
});

test('what a process that died left published goes with the draft', async () => {
  const draft = await makeApp(maker, 'left-over');
  const { pool } = world.core.context;
  const { rows } = await pool.query('SELECT * FROM app_drafts WHERE id = $1', [draft.id]);
  assert.equal((await accept(person, draft.id, { hash: draft.hash, permissions: [] })).status, 200);
  await person.fetch('/v1/apps/left-over', { method: 'DELETE' });
  const restored = { ...rows[0], manifest: JSON.stringify(rows[0].manifest), deciding_until: null };
  await pool.query(
    `INSERT INTO app_drafts (${Object.keys(restored).join()}) VALUES (${Object.keys(restored).map((_, n) => `$${n + 1}`)})`,
    Object.values(restored),
  );
  assert.equal((await person.fetch('/v1/catalog/left-over')).status, 200);
  assert.equal((await person.fetch(`${DRAFTS}/${draft.id}/decline`, { method: 'POST', body: {} })).status, 204);
  assert.equal((await person.fetch('/v1/catalog/left-over')).status, 404);
});

test('a new version of an app that was removed meanwhile gets nothing that nobody named', async () => {
  const first = await makeApp(maker, 'taken-away');
  await accept(person, first.id, { hash: first.hash });
  const asks = [{ id: 'search.index', resources: ['self'] }];
  const next = await makeApp(maker, 'taken-away', appFiles('taken-away', { version: '1.1.0', permissions: asks }));
  await person.fetch('/v1/apps/taken-away', { method: 'DELETE' });
  assert.equal(problemCode(await accept(person, next.id, { hash: next.hash })), 'proposal_conflict');
  assert.ok(!(await installed(person)).includes('taken-away'));
  assert.equal((await accept(person, next.id, { hash: next.hash, permissions: [] })).status, 200);
  assert.deepEqual((await permissions('taken-away')).permissions, []);
});

test('what the making app hands in ends with it, and is not accepted once it may make none', async () => {
  const other = await registerAccount(world, 'changing-mind');
  const short = await makerApp(world, other, 'short-lived');
  const draft = await makeApp(short, 'of-short-lived');
  const replace = (permissions: unknown) =>
    other.browser.take('/v1/apps/short-lived/permissions', { method: 'PUT', body: { permissions } });
  await replace([]);
  assert.equal(problemCode(await accept(other, draft.id, { hash: draft.hash })), 'grant_missing');
  assert.equal(problemCode(await handIn(short, 'of-short-lived', appFiles('of-short-lived'))), 'grant_missing');
  await replace([{ id: 'apps.create', resources: ['*'] }]);
  await other.fetch('/v1/apps/short-lived', { method: 'DELETE' });
  assert.deepEqual(await waiting(other), []);
  assert.equal((await accept(other, draft.id, { hash: draft.hash })).status, 404);
});

test('nobody else sees, accepts or declines it', async () => {
  const draft = await makeApp(maker, 'own-alone');
  const stranger = await registerAccount(world, 'nosy');
  assert.deepEqual(await waiting(stranger), []);
  assert.equal((await stranger.fetch(`${DRAFTS}/${draft.id}`)).status, 404);
  assert.equal((await accept(stranger, draft.id, { hash: draft.hash })).status, 404);
  assert.equal((await stranger.fetch(`${DRAFTS}/${draft.id}/decline`, { method: 'POST', body: {} })).status, 404);
  assert.equal((await maker.call(`${DRAFTS}/${draft.id}/accept`, { body: { hash: draft.hash } })).status, 403);
  await person.fetch(`${DRAFTS}/${draft.id}/decline`, { method: 'POST', body: {} });
});

test('apps of another app, of another account and what was published by hand are not its to change', async () => {
  const second = await makerApp(world, person, 'rival');
  const first = await makeApp(maker, 'of-helper');
  await accept(person, first.id, { hash: first.hash });
  const next = appFiles('of-helper', { version: '2.0.0' });
  assert.equal(problemCode(await handIn(second, 'of-helper', next)), 'not_authorized');
  await publish(person, 'by-hand');
  const byHand = appFiles('by-hand', { version: '2.0.0' });
  assert.equal(problemCode(await handIn(maker, 'by-hand', byHand)), 'not_authorized');
  const stranger = await registerAccount(world, 'publisher');
  await publish(stranger, 'of-stranger');
  const ofStranger = appFiles('of-stranger', { version: '2.0.0' });
  assert.equal(problemCode(await handIn(maker, 'of-stranger', ofStranger)), 'not_authorized');
  for (const appId of ['store', 'settings', 'launcher'])
    assert.equal(
      problemCode(await handIn(maker, appId, appFiles(appId, { version: '99.0.0' }))),
      'not_authorized',
      appId,
    );
  // Claimed by somebody else between the review and the acceptance.
  const raced = await makeApp(maker, 'raced');
  await publish(stranger, 'raced');
  assert.equal(problemCode(await accept(person, raced.id, { hash: raced.hash })), 'not_authorized');
});

test('so many wait at most, of one app and in all; and so many apps are made at most', async () => {
  const busy = await registerAccount(world, 'overwhelmed');
  const one = await makerApp(world, busy, 'maker-one');
  const two = await makerApp(world, busy, 'maker-two');
  const three = await makerApp(world, busy, 'maker-three');
  for (const from of [one, two])
    for (let n = 0; n < limits.draftsPerInstallation.value; n += 1) await makeApp(from, `${from.appId}-app-${n}`);
  assert.equal(problemCode(await handIn(one, 'one-more', appFiles('one-more'))), 'concurrency_limited');
  assert.equal(problemCode(await handIn(three, 'one-more', appFiles('one-more'))), 'concurrency_limited');
  await makeApp(one, 'maker-one-app-0', appFiles('maker-one-app-0', { name: 'Instead' }));
  assert.equal((await waiting(busy)).length, limits.draftsPerAccount.value);
  const { pool } = world.core.context;
  const draft = (await waiting(busy))[0];
  await pool.query(
    `WITH claimed AS (INSERT INTO apps (app_id, owner_key, created_at)
       SELECT 'many-' || n, key, now() FROM accounts, generate_series(1, $1::integer) AS n WHERE name = 'overwhelmed' RETURNING *),
     made AS (INSERT INTO made_apps SELECT owner_key, app_id, 'maker-one', now() FROM claimed)
     INSERT INTO app_versions (app_id, version, package_hash, manifest, newest, published_at)
       SELECT c.app_id, '1.0.0', v.package_hash, v.manifest, true, now() FROM claimed c, app_versions v WHERE v.app_id = 'by-hand'`,
    [limits.madeApps.value],
  );
  assert.equal(problemCode(await accept(busy, draft?.id ?? '', { hash: draft?.hash })), 'not_authorized');
});

test('every window of the account learns of it, also at another core', async () => {
  const replica = await world.replica({ config: { ...world.core.context.config, listenPort: 0 } });
  const stream = await openEvents({
    port: replica.port,
    path: '/v1/events',
    headers: { host: new URL(world.origin).host, cookie: person.cookie },
  });
  const seen = (times: number) =>
    stream.until(({ events }) => events.filter(({ event }) => event === 'drafts').length >= times);
  const draft = await makeApp(maker, 'announced');
  await seen(1);
  await person.fetch(`${DRAFTS}/${draft.id}/decline`, { method: 'POST', body: {} });
  await seen(2);
  stream.close();
});

test('what nobody decides on in time expires', async () => {
  const draft = await makeApp(maker, 'forgotten');
  const { context } = world.core;
  time = limits.draftDays.value * 86_400_000;
  assert.equal((await accept(person, draft.id, { hash: draft.hash })).status, 404);
  assert.deepEqual(await waiting(person), []);
  const sweep = () => sweepDrafts(context, context.clock() as Parameters<typeof sweepDrafts>[1]);
  const count = async () => (await context.pool.query('SELECT FROM app_drafts WHERE id = $1', [draft.id])).rowCount;
  const until = new Date(context.clock().getTime() + 60_000);
  await context.pool.query('UPDATE app_drafts SET deciding_until = $2 WHERE id = $1', [draft.id, until]);
  await sweep();
  assert.equal(await count(), 1, 'somebody accepts it');
  await context.pool.query('UPDATE app_drafts SET deciding_until = NULL WHERE id = $1', [draft.id]);
  await sweep();
  time = 0;
  assert.equal(await count(), 0);
});

const preview = ({ id, hash }: { readonly id: string; readonly hash: string }) =>
  person.fetch(`${DRAFTS}/${id}/preview`, { body: { hash } });

test('all files of a page that is tried are unpacked once, and each takes room, however short', async () => {
  const { context } = world.core;
  const draft = await makeApp(maker, 'tried');
  assert.equal((await preview(draft)).status, 200);
  const { rows } = await context.pool.query('SELECT host_label FROM app_draft_previews WHERE draft_id = $1', [
    draft.id,
  ]);
  const previews = new Previews(context);
  const found = () => previews.find({ appId: 'tried', hostLabel: rows[0].host_label });
  const [first, ...others] = await Promise.all([found(), found(), found()]);
  assert.ok(first?.files.has('index.html'));
  for (const other of others) assert.equal(other?.files, first?.files);
  const many = Array.from({ length: limits.draftFiles.value }, (_, n) => [`${n}.js`, Buffer.alloc(0)] as const);
  assert.ok(weightOf(new Map(many)) > 100 * limits.draftFiles.value);
});

test('an app that is replaced while its page is asked for is not there any more', async () => {
  const { pool } = world.core.context;
  const draft = await makeApp(maker, 'replaced');
  const other = await pool.connect();
  await other.query('BEGIN');
  await other.query('DELETE FROM app_drafts WHERE id = $1', [draft.id]);
  const asking = preview(draft);
  await until('the preview to wait', async () => {
    const { rowCount } = await pool.query('SELECT FROM pg_locks WHERE NOT granted');
    return (rowCount ?? 0) > 0;
  });
  await other.query('COMMIT');
  other.release();
  assert.equal(problemCode(await asking), 'not_found');
});
