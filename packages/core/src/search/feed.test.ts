// The external search index, against a double of OpenSearch (tests/support/opensearch-double.ts; no real cluster is
// used): its queries filter by account, PostgreSQL decides what is shown, and it can always be rebuilt.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { inspect } from 'node:util';
import type { SearchResult } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../../../tests/support/installed-app.ts';
import { type OpenSearchDouble, startOpenSearchDouble } from '../../../../tests/support/opensearch-double.ts';
import { untilFeed, untilFeedCaughtUp } from '../../../../tests/support/search-feed.ts';
import { feedStatus, rebuildFeed } from './manage-feed.ts';

const INDEX = '/v1/services/search/index';
const PASSWORD = 'canary-password-of-opensearch';

let double: OpenSearchDouble;
let world: Constellation;
let accounts = 0;
/** Milliseconds by which the clock of core is ahead. */
let ahead = 0;
before(async () => {
  double = await startOpenSearchDouble();
  world = await startConstellation({
    clock: () => new Date(Date.now() + ahead),
    config: { searchOpenSearch: { address: double.url, auth: { username: 'platform', password: PASSWORD } } },
  });
});
after(async () => {
  await world.close();
  await double.close();
});
afterEach(() => {
  double.fail(null);
  double.leaky = false;
  double.onSearch = null;
  // What failed is left alone for a while.
  ahead += 60_000;
});

async function newOwner(): Promise<{ account: TestAccount; app: InstalledTestApp }> {
  accounts += 1;
  const account = await registerAccount(world, `fed-${accounts}`);
  const app = await installTestApp(world, account, 'notes-app', [{ id: 'search.index', resources: ['self'] }]);
  return { account, app };
}

const entry = (id: string, title: string, more: object = {}) => ({ id, title, url: `/${id}`, ...more });

async function write(app: InstalledTestApp, entries: readonly object[], method = 'PUT') {
  const answer = await app.call(INDEX, { method, body: { entries } });
  assert.equal(answer.status, 200, answer.text);
}

async function idsOf(account: TestAccount, q: string): Promise<string[]> {
  const { items } = await account.browser.take<SearchResult>(`/v1/search?${new URLSearchParams({ q })}`);
  return items.map(({ id }) => id);
}

const caughtUp = () => untilFeedCaughtUp(world.core);

async function indexName(): Promise<string> {
  return (await feedStatus(world.core.context))?.index ?? '';
}

const searches = () => double.requests.filter(({ path }) => path.includes('/_search'));

test('the external index finds what PostgreSQL finds: titles first, beginnings, parts, misspellings', async () => {
  const { account, app } = await newOwner();
  await write(app, [
    entry('slip', 'horse'),
    entry('text', 'building', { text: 'the house' }),
    entry('part', 'lighthouse'),
    entry('title', 'old house by the sea'),
    entry('same', 'house'),
    entry('start', 'household goods'),
  ]);
  await caughtUp();
  const earlier = searches().length;
  const ids = await idsOf(account, 'House');
  assert.ok(searches().length > earlier, 'it was asked');
  assert.deepEqual(ids.slice(0, 4), ['same', 'title', 'start', 'text']);
  assert.deepEqual(ids.slice(4).sort(), ['part', 'slip']);
});

test('every search holds the account in its own filter, and no other account comes back', async () => {
  const [one, two] = [await newOwner(), await newOwner()];
  await write(one.app, [entry('mine', 'umbrella')]);
  await write(two.app, [entry('theirs', 'umbrella')]);
  await caughtUp();
  assert.deepEqual(await idsOf(one.account, 'umbrella'), ['mine']);
  assert.deepEqual(await idsOf(two.account, 'umbrlla'), ['theirs'], 'with a slip');
  for (const { body } of searches()) {
    const { filter } = (JSON.parse(body) as { query: { bool: { filter: { term?: { account?: string } }[] } } }).query
      .bool;
    assert.equal(filter.filter(({ term }) => term?.account?.startsWith('acct-')).length, 1, body);
  }
});

test('what it answers of another account, or of what is gone, is not shown', async () => {
  const [one, two] = [await newOwner(), await newOwner()];
  await write(one.app, [entry('mine', 'parasol')]);
  await write(two.app, [entry('theirs', 'parasol')]);
  await caughtUp();
  double.leaky = true;
  assert.deepEqual(await idsOf(one.account, 'parasol'), ['mine']);
});

test('a change is found at once, before it is sent, and its text is never sent', async () => {
  const { account, app } = await newOwner();
  await write(app, [entry('a', 'anchor', { text: 'canarytext of the anchor' })]);
  await caughtUp();
  double.fail(503);
  await write(app, [entry('b', 'anchor')]);
  assert.deepEqual(await idsOf(account, 'anchor'), ['b']);
  double.fail(null);
  await caughtUp();
  assert.deepEqual(await idsOf(account, 'anchor'), ['b']);
  assert.ok(!double.documents(await indexName()).has(`${app.installationId}:a`));
  for (const { body } of double.requests) assert.doesNotMatch(body, /canarytext of|"anchor/);
});

test('an answer that was overtaken by a change is not given', async () => {
  const { account, app } = await newOwner();
  await write(app, [entry('old', 'compass')]);
  await caughtUp();
  let changed = false;
  double.onSearch = async () => {
    if (changed) return;
    changed = true;
    await write(app, [entry('new', 'compass')]);
  };
  assert.deepEqual(await idsOf(account, 'compass'), ['new']);
});

test('words in quotes must follow each other, though it knows no order', async () => {
  const { account, app } = await newOwner();
  await write(app, [entry('a', 'green tea leaves'), entry('b', 'tea of green leaves')]);
  await caughtUp();
  assert.deepEqual(await idsOf(account, '"green tea"'), ['a']);
  assert.deepEqual((await idsOf(account, 'green tea')).sort(), ['a', 'b']);
});

test('out of reach, PostgreSQL answers; neither the password nor what was asked is logged', async () => {
  const { account, app } = await newOwner();
  await write(app, [entry('a', 'lighthouse')]);
  await caughtUp();
  double.fail(500);
  assert.deepEqual(await idsOf(account, 'canaryquery'), []);
  assert.deepEqual(await idsOf(account, 'lighthuose'), ['a']);
  assert.ok(world.log.some(({ message }) => message.includes('OpenSearch did not answer')));
  const basic = Buffer.from(`platform:${PASSWORD}`).toString('base64');
  assert.ok(double.requests.every(({ authorization }) => authorization === `Basic ${basic}`));
  const logged = inspect(world.log, { depth: 9, maxStringLength: null, maxArrayLength: null });
  for (const secret of [PASSWORD, basic, 'canaryquery']) assert.ok(!logged.includes(secret), secret);
});

test('an uninstalled app is forgotten there as well', async () => {
  const { account, app } = await newOwner();
  await write(app, [entry('a', 'sailcloth')]);
  await caughtUp();
  assert.equal((await account.fetch('/v1/apps/notes-app', { method: 'DELETE' })).status, 204);
  assert.deepEqual(await idsOf(account, 'sailcloth'), []);
  await caughtUp();
  const left = [...double.documents(await indexName()).keys()].filter((id) => id.startsWith(app.installationId));
  assert.deepEqual(left, []);
});

test('a rebuild fills another index from PostgreSQL and deletes the former one', async () => {
  const { account, app } = await newOwner();
  await write(
    app,
    Array.from({ length: 600 }, (_, at) => entry(`e${at}`, `barometer ${at}`)),
  );
  await caughtUp();
  const former = await indexName();
  const size = double.documents(former).size;
  assert.equal(await rebuildFeed(world.core.context), true);
  assert.deepEqual(await idsOf(account, 'barometer 77'), ['e77'], 'meanwhile PostgreSQL answers');
  await caughtUp();
  assert.notEqual(await indexName(), former);
  assert.equal(double.documents(await indexName()).size, size);
  assert.deepEqual(double.aliases, [await indexName()]);
  assert.deepEqual(await idsOf(account, 'barometer 599'), ['e599']);
});

test('an index that was deleted there is filled again by itself', async () => {
  const { account, app } = await newOwner();
  await write(app, [entry('a', 'sextant')]);
  await caughtUp();
  const former = await indexName();
  const size = double.documents(former).size;
  double.lose(former);
  assert.deepEqual(await idsOf(account, 'sextant'), ['a']);
  await write(app, [entry('b', 'octant')], 'POST');
  await untilFeed(world.core, 'another index is there', (status) => status?.index !== former);
  await caughtUp();
  assert.equal(double.documents(await indexName()).size, size + 1);
});

test('replicas take turns, and each entry arrives', async () => {
  const { app } = await newOwner();
  await world.replica();
  for (let round = 0; round < 10; round += 1) await write(app, [entry(`r${round}`, `ropes ${round}`)], 'POST');
  await caughtUp();
  const there = [...double.documents(await indexName()).keys()].filter((id) => id.startsWith(app.installationId));
  assert.equal(there.length, 10);
});
