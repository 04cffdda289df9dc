// Whatever is installed, granted, indexed, changed, removed and asked for, in whatever order, and whatever an index beside
// PostgreSQL answers: a search gives entries and apps of the asking account that are there now, and those with the very
// title that was asked for. (The index is a double, tests/support/opensearch-double.ts.)
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Grant, SearchResult } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation, type TestCore } from '../../../../tests/support/constellation.ts';
import { fc } from '../../../../tests/support/fast-check.ts';
import { freePort } from '../../../../tests/support/free-port.ts';
import { type InstalledTestApp, installTestApp } from '../../../../tests/support/installed-app.ts';
import { type OpenSearchDouble, startOpenSearchDouble } from '../../../../tests/support/opensearch-double.ts';
import { buildTestPackage, testManifest } from '../../../../tests/support/packages.ts';
import { rawRequest } from '../../../../tests/support/raw-http.ts';
import { untilFeedCaughtUp } from '../../../../tests/support/search-feed.ts';
import { thorough } from '../../../../tests/support/thorough.ts';
import {
  APPS,
  type By,
  type Find,
  type Step,
  steps,
  type Typed,
  type Written,
} from '../../test-support/isolation-steps.ts';
import { MARK_LENGTH, markOf } from './word-mark.ts';

const INDEX = '/v1/services/search/index';
const MAY_INDEX: Grant[] = [{ id: 'search.index', resources: ['self'] }];
const VERSIONS = ['1.0.0', '1.1.0'] as const;

/** As it is in an answer, besides its score. */
type Item = Omit<SearchResult['items'][number], 'score'>;

interface Owner {
  readonly account: TestAccount;
  readonly apps: readonly App[];
  /** The apps that every account has. */
  readonly systemApps: readonly string[];
}

interface App {
  readonly account: TestAccount;
  readonly appId: string;
  /** Of the last installation: its credential is tried after that is gone, too. */
  door: InstalledTestApp;
  isInstalled: boolean;
  mayIndex: boolean;
  version: (typeof VERSIONS)[number];
  readonly entries: Map<string, Item>;
}

let world: Constellation;
/** The core that asks the double; the other one of `world` asks PostgreSQL. */
let fed: TestCore;
let double: OpenSearchDouble;
let owners: readonly Owner[];
let allApps: readonly App[];
/** Titles of all entries so far. */
const titles: string[] = ['harbour'];
before(async () => {
  double = await startOpenSearchDouble();
  world = await startConstellation({ random: sameMarks });
  const { config, pool } = world.core.context;
  const searchOpenSearch = { address: double.url, auth: null };
  fed = await world.replica({ config: { ...config, listenPort: await freePort(), searchOpenSearch } });
  const [left, right] = [await newOwner('left', APPS), await newOwner('right', APPS)];
  owners = [left, right, await newOwner('bare', [])];
  allApps = owners.flatMap(({ apps }) => apps);
  const { rows } = await pool.query<{ key: string }>('SELECT key FROM accounts');
  assert.deepEqual([owners.length, new Set(rows.map(({ key }) => markOf(key))).size], [rows.length, 1]);
  for (const appId of APPS) await publishNext(left.account, appId);
  await pool.query('CREATE TABLE test_rests (LIKE search_entries)');
});
after(async () => {
  await world.close();
  await double.close();
});

/** All ids, and so the keys of all accounts, end alike: then words of different accounts bear the same mark. */
function sameMarks(bytes: number): Buffer {
  const made = randomBytes(bytes);
  return bytes === 16 ? made.fill(0, 16 - MARK_LENGTH / 2) : made;
}

async function newOwner(name: string, appIds: readonly string[]): Promise<Owner> {
  const account = await registerAccount(world, name);
  const { items } = await account.browser.take<{ items: { appId: string }[] }>('/v1/apps?limit=200');
  const apps: App[] = [];
  for (const appId of appIds) {
    const door = await newDoor(account, appId);
    apps.push({ account, appId, door, isInstalled: true, mayIndex: true, version: '1.0.0', entries: new Map() });
  }
  return { account, apps, systemApps: items.map(({ appId }) => appId) };
}

function newDoor(account: TestAccount, appId: string): Promise<InstalledTestApp> {
  // This machine is a node of the core that started last.
  return installTestApp({ ...world, core: fed }, account, appId, MAY_INDEX);
}

async function publishNext(account: TestAccount, appId: string): Promise<void> {
  const workload = { runtime: 'node', entry: 'main.js' };
  const manifest = testManifest(appId, { version: VERSIONS[1], workload, permissions: MAY_INDEX });
  const body = await buildTestPackage({ manifest, files: { 'frontend/index.html': '', 'workload/main.js': '' } });
  const headers = { 'content-type': 'application/gzip' };
  await account.browser.take(`/v1/catalog/${appId}/versions/${VERSIONS[1]}`, { method: 'PUT', body, headers });
}

function pick<Value>(items: readonly Value[], at: number): Value {
  const item = items[at % items.length];
  assert.ok(item !== undefined);
  return item;
}

function take(one: Step): Promise<void> {
  if (one.kind === 'find') return find(one);
  const app = pick(allApps, one.app);
  switch (one.kind) {
    case 'replace':
      return write(app, 'PUT', one.entries);
    case 'upsert':
      return write(app, 'POST', one.entries);
    case 'remove':
      return forget(app, one.id);
    case 'clear':
      return forget(app, null);
    case 'grant':
      return grant(app);
    case 'upgrade':
      return upgrade(app);
    case 'install':
      return install(app);
    case 'uninstall':
      return uninstall(app, one.entries);
    case 'uninstall-badly':
      return uninstallBadly(app, one.entries);
  }
}

/** Each version has another address, which distinguishes former entries from current ones. */
function itemsOf({ account, appId }: App, written: Written): Item[] {
  const address = (id: string) => `/${account.name}/${appId}/${id}?n=${titles.length}`;
  return written.map(({ id, title, kind }) => {
    titles.push(title);
    return { appId, id, title, kind, url: address(id) };
  });
}

function send({ door }: App, method: 'PUT' | 'POST', items: readonly Item[], written: Written) {
  const entries = items.map(({ appId: _, ...item }, at) => ({ ...item, text: written[at]?.text ?? '' }));
  return door.call(INDEX, { method, body: { entries } });
}

/** What a workload is answered: its credential ends with the installation, and what it may do with the grant. */
function refusal({ isInstalled, mayIndex }: App): 401 | 403 | null {
  if (!isInstalled) return 401;
  return mayIndex ? null : 403;
}

async function write(app: App, method: 'PUT' | 'POST', written: Written): Promise<void> {
  const items = itemsOf(app, written);
  const answer = await send(app, method, items, written);
  assert.equal(answer.status, refusal(app) ?? 200, answer.text);
  if (refusal(app) !== null) return;
  if (method === 'PUT') app.entries.clear();
  for (const item of items) app.entries.set(item.id, item);
}

/** One entry, or all of them. */
async function forget(app: App, id: string | null): Promise<void> {
  const answer = await app.door.call(id === null ? INDEX : `${INDEX}/${id}`, { method: 'DELETE' });
  assert.equal(answer.status, refusal(app) ?? 204, answer.text);
  if (refusal(app) !== null) return;
  if (id === null) app.entries.clear();
  else app.entries.delete(id);
}

/** Gives the permission, or takes it back, which leaves what was indexed. */
async function grant(app: App): Promise<void> {
  const body = { permissions: app.mayIndex ? [] : MAY_INDEX };
  const answer = await app.account.fetch(`/v1/apps/${app.appId}/permissions`, { method: 'PUT', body });
  assert.equal(answer.status, app.isInstalled ? 200 : 404, answer.text);
  if (app.isInstalled) app.mayIndex = !app.mayIndex;
}

/** To the other version; what was indexed stays. */
async function upgrade(app: App): Promise<void> {
  const version = app.version === VERSIONS[0] ? VERSIONS[1] : VERSIONS[0];
  const answer = await app.account.fetch(`/v1/apps/${app.appId}/upgrade`, { body: { version } });
  assert.equal(answer.status, app.isInstalled ? 200 : 404, answer.text);
  if (!app.isInstalled) return;
  app.version = version;
  await app.door.restart();
}

/** Installed again an app has its former id and begins with an empty index. */
async function install(app: App): Promise<void> {
  if (app.isInstalled) return;
  for (const table of ['search_entries', 'test_rests'])
    await query(app, `DELETE FROM ${table} WHERE installation_id = $1`);
  app.door = await newDoor(app.account, app.appId);
  [app.isInstalled, app.mayIndex, app.version] = [true, true, VERSIONS[1]];
}

/** Its workload writes until the end, and beyond. */
async function uninstall(app: App, written: Written): Promise<void> {
  if (!app.isInstalled) return;
  const refused = refusal(app);
  const [answer] = await Promise.all([send(app, 'POST', itemsOf(app, written), written), remove(app)]);
  assert.ok([401, refused ?? 200].includes(answer.status), answer.text);
  await assertGone(app);
}

/** Rows of its index stay behind, as after a mistake of ours elsewhere: not even then is any of them found. */
async function uninstallBadly(app: App, written: Written): Promise<void> {
  await install(app);
  if (app.entries.size === 0) await write(app, 'PUT', written);
  const [gone] = [...app.entries.values()];
  await untilFeedCaughtUp(fed);
  await query(app, 'INSERT INTO test_rests SELECT * FROM search_entries WHERE installation_id = $1');
  await remove(app);
  await assertGone(app);
  await query(app, 'INSERT INTO search_entries SELECT * FROM test_rests WHERE installation_id = $1');
  const owner = owners.findIndex(({ apps }) => apps.includes(app));
  const rest = { kind: 'find', owner, app: null, only: null, limit: 200 } as const;
  await find({ ...rest, typed: { how: 'words', text: app.appId }, by: 'postgres' });
  for (const by of ['postgres', 'elsewhere', 'leaky'] as const)
    await find({ ...rest, typed: { how: 'words', text: gone?.title ?? app.appId }, by });
}

async function remove(app: App): Promise<void> {
  const answer = await app.account.fetch(`/v1/apps/${app.appId}`, { method: 'DELETE' });
  assert.equal(answer.status, 204, answer.text);
  app.isInstalled = false;
  app.entries.clear();
}

async function assertGone(app: App): Promise<void> {
  assert.deepEqual(await query(app, 'SELECT id FROM search_entries WHERE installation_id = $1'), []);
}

async function query({ door }: App, text: string): Promise<unknown[]> {
  const { rows } = await world.core.context.pool.query<object>(text, [door.installationId]);
  return rows;
}

function textOf(typed: Typed): string {
  if ('text' in typed) return typed.text;
  const { how, of, at } = typed;
  if (how === 'former') return pick(titles, of);
  const present = allApps.flatMap(({ entries }) => [...entries.values()]).map(({ title }) => title);
  const title = pick(present.length === 0 ? titles : present, of);
  const letters = [...title];
  if (how === 'beginning') return letters.slice(0, 1 + (at % letters.length)).join('');
  if (how === 'slip') return letters.with(at % letters.length, 'x').join('');
  if (how === 'phrase') return `"${title}"`;
  return how === 'last' ? (title.split(' ').at(-1) ?? title) : title;
}

async function portOf(by: By): Promise<number> {
  if (by === 'postgres') return world.port;
  double.leaky = by === 'leaky';
  if (by !== 'either') await untilFeedCaughtUp(fed);
  return fed.port;
}

async function find({ owner, typed, app, only, limit, by }: Find): Promise<void> {
  const { account, apps, systemApps } = pick(owners, owner);
  const q = textOf(typed).trim();
  if (q === '') return;
  const query = { q, limit: String(limit), ...(app !== null && { app }), ...(only !== null && { kind: only }) };
  const answer = await rawRequest({
    port: await portOf(by),
    path: `/v1/search?${new URLSearchParams(query)}`,
    headers: { host: new URL(world.origin).host, cookie: account.cookie },
  });
  assert.equal(answer.status, 200, answer.text);
  const found = answer.json as SearchResult;
  const installed = apps.filter(({ isInstalled }) => isInstalled);
  const visible = installed
    .flatMap(({ entries }) => [...entries.values()])
    .filter(({ appId, kind }) => (app === null || appId === app) && (only === null || kind === only));
  const what = `“${q}”, asked of ${by} by ${account.name}`;

  const items = found.items.map(({ score: _, ...item }) => item);
  for (const item of items)
    assert.deepEqual(
      item,
      visible.find(({ url }) => url === item.url),
      what,
    );
  const urls = new Set(items.map(({ url }) => url));
  assert.ok(urls.size === items.length && items.length <= limit, what);
  const missing = visible.filter(({ title, url }) => limit > 1 && title === q && !urls.has(url));
  assert.deepEqual(missing, [], what);

  const own = only === null ? [...systemApps, ...installed.map(({ appId }) => appId)] : [];
  for (const { appId } of found.apps) assert.ok(own.includes(appId) && (app ?? appId) === appId, `${appId}: ${what}`);
}

test('no sequence of steps finds what is not there or not theirs, and what is there is found', {
  timeout: 120_000,
}, async () => {
  const all = fc.asyncProperty(steps, async (some) => {
    for (const one of some) await take(one);
  });
  await fc.assert(all, { numRuns: thorough(2, 20), endOnFailure: true });
  assert.deepEqual(double.faults, []);
  assert.ok(double.requests.some(({ path }) => path.includes('/_search')));
});
