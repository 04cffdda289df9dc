// Promises of the search routes: what an app wrote is found by its account alone, as a whole or not at all, for as
// long as the app is installed.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { limits, type SearchResult } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../../../tests/support/installed-app.ts';
import { problemCode } from '../../../../tests/support/raw-http.ts';
import { until } from '../../../../tests/support/wait.ts';

const INDEX = '/v1/services/search/index';
const MAY_INDEX = [{ id: 'search.index', resources: ['self'] }] as const;

let world: Constellation;
let accounts = 0;
before(async () => {
  world = await startConstellation();
});
after(() => world.close());

async function newAccount(): Promise<TestAccount> {
  accounts += 1;
  return registerAccount(world, `searcher-${accounts}`);
}

async function newApp(account: TestAccount, appId = 'notes-app'): Promise<InstalledTestApp> {
  return installTestApp(
    world,
    account,
    appId,
    MAY_INDEX.map(({ id, resources }) => ({ id, resources: [...resources] })),
  );
}

async function found(account: TestAccount, q: string, more: Record<string, string> = {}): Promise<SearchResult> {
  return account.browser.take<SearchResult>(`/v1/search?${new URLSearchParams({ q, ...more })}`);
}

async function idsOf(account: TestAccount, q: string, more?: Record<string, string>): Promise<string[]> {
  return (await found(account, q, more)).items.map(({ id }) => id);
}

const entry = (id: string, title: string, more: object = {}) => ({ id, title, url: `/notes/${id}`, ...more });

async function write(app: InstalledTestApp, method: 'PUT' | 'POST', entries: readonly object[]) {
  const answer = await app.call(INDEX, { method, body: { entries } });
  assert.deepEqual([answer.status, answer.json], [200, { indexed: entries.length }], answer.text);
}

async function wordsIndexed(app: InstalledTestApp): Promise<string[]> {
  const { rows } = await world.core.context.pool.query<{ word: string }>(
    'SELECT word FROM search_words WHERE installation_id = $1 ORDER BY word',
    [app.installationId],
  );
  return rows.map(({ word }) => word);
}

test('an entry is found by its title and by its text, and the text is never given back', async () => {
  const account = await newAccount();
  const app = await newApp(account);
  await write(app, 'PUT', [entry('n1', 'Boat trip', { kind: 'note', text: 'canarysecret and rubber boots' })]);
  const result = await found(account, 'canarysecret');
  assert.deepEqual(
    result.items.map(({ score: _, ...item }) => item),
    [{ appId: 'notes-app', id: 'n1', title: 'Boat trip', kind: 'note', url: '/notes/n1' }],
  );
  assert.doesNotMatch(JSON.stringify(result.items), /canary|rubber/);
  assert.deepEqual(await idsOf(account, 'trip boat'), ['n1']);
});

test('PUT replaces all, POST adds and changes, DELETE removes one or all', async () => {
  const account = await newAccount();
  const app = await newApp(account);
  await write(app, 'PUT', [entry('a', 'first alpha'), entry('b', 'second alpha')]);
  await write(app, 'PUT', [entry('b', 'second alpha'), entry('c', 'third alpha')]);
  assert.deepEqual((await idsOf(account, 'alpha')).sort(), ['b', 'c']);
  await write(app, 'POST', [entry('c', 'third beta'), entry('d', 'fourth alpha')]);
  assert.deepEqual((await idsOf(account, 'alpha')).sort(), ['b', 'd']);
  assert.deepEqual(await idsOf(account, 'beta'), ['c']);
  assert.equal((await app.call(`${INDEX}/d`, { method: 'DELETE' })).status, 204);
  assert.equal((await app.call(`${INDEX}/d`, { method: 'DELETE' })).status, 204, 'what is gone stays gone');
  assert.deepEqual(await idsOf(account, 'alpha'), ['b']);
  assert.equal((await app.call(INDEX, { method: 'DELETE' })).status, 204);
  assert.deepEqual(await idsOf(account, 'alpha'), []);
  assert.deepEqual(await wordsIndexed(app), []);
});

test('the words to compare with are those of the entries, through every change', async () => {
  const account = await newAccount();
  const app = await newApp(account);
  await write(app, 'PUT', [entry('a', 'lantern harbour'), entry('b', 'lantern userName'), entry('c', 'user')]);
  assert.deepEqual(await wordsIndexed(app), ['harbour', 'lantern', 'name', 'user', 'username']);
  await write(app, 'POST', [entry('a', 'harbour again')]);
  await app.call(`${INDEX}/b`, { method: 'DELETE' });
  assert.deepEqual(await wordsIndexed(app), ['again', 'harbour', 'user']);
  await write(app, 'PUT', [entry('c', 'user'), entry('e', 'compass')]);
  assert.deepEqual(await wordsIndexed(app), ['compass', 'user']);
  assert.deepEqual(await idsOf(account, 'compsas'), ['e'], 'found with a slip');
});

test('what was typed comes before what only resembles it, and titles before texts', async () => {
  const account = await newAccount();
  const app = await newApp(account);
  await write(app, 'PUT', [
    entry('slip', 'horse'),
    entry('text', 'building', { text: 'the house' }),
    entry('part', 'lighthouse'),
    entry('title', 'old house by the sea'),
    entry('same', 'house'),
    entry('start', 'household goods'),
  ]);
  const ids = await idsOf(account, 'House');
  assert.deepEqual(ids.slice(0, 4), ['same', 'title', 'start', 'text']);
  assert.deepEqual(ids.slice(4).sort(), ['part', 'slip']);
  const scores = (await found(account, 'house')).items.map(({ score }) => score);
  assert.deepEqual(
    scores,
    scores.toSorted((a, b) => b - a),
  );
});

test('kind, app and limit narrow the result', async () => {
  const account = await newAccount();
  const [one, two] = [await newApp(account), await newApp(account, 'tasks-app')];
  await write(one, 'PUT', [entry('a', 'shared word', { kind: 'note' }), entry('b', 'shared word', { kind: 'link' })]);
  await write(two, 'PUT', [entry('a', 'shared word')]);
  assert.equal((await found(account, 'shared')).items.length, 3);
  assert.deepEqual(await idsOf(account, 'shared', { kind: 'link' }), ['b']);
  assert.deepEqual(
    (await found(account, 'shared', { app: 'tasks-app' })).items.map(({ appId, kind }) => [appId, kind]),
    [['tasks-app', 'item']],
  );
  assert.equal((await idsOf(account, 'shared', { limit: '2' })).length, 2);
});

test('installed apps are found by name and summary, and no others', async () => {
  const account = await newAccount();
  await newApp(await newAccount(), 'foreign-app');
  await newApp(account, 'garden-planner');
  const apps = async (q: string) => (await found(account, q)).apps.map(({ appId }) => appId);
  assert.deepEqual(await apps('garden'), ['garden-planner']);
  assert.deepEqual(await apps('gardne'), ['garden-planner'], 'with a slip');
  assert.deepEqual(await apps('foreign'), []);
  assert.ok((await apps('settings')).includes('settings'), 'an app that comes with the platform');
  // Names are remembered until a signal comes.
  await newApp(account, 'garden-diary');
  await until('the new app is found', async () => (await apps('garden')).includes('garden-diary'));
  assert.equal((await account.fetch('/v1/apps/garden-planner', { method: 'DELETE' })).status, 204);
  assert.deepEqual(await apps('garden'), ['garden-diary'], 'not for a moment after it was removed');
});

test('nothing of another account or of a removed app is found', async () => {
  const [owner, other] = [await newAccount(), await newAccount()];
  const app = await newApp(owner);
  await newApp(other);
  await write(app, 'PUT', [entry('a', 'privateword')]);
  assert.deepEqual(await idsOf(other, 'privateword'), []);
  assert.deepEqual(await idsOf(other, 'privatewrod'), []);
  assert.deepEqual(await idsOf(owner, 'privateword'), ['a']);
  assert.equal((await owner.fetch('/v1/apps/notes-app', { method: 'DELETE' })).status, 204);
  assert.deepEqual(await idsOf(owner, 'privateword'), []);
  await newApp(owner);
  assert.deepEqual(await idsOf(owner, 'privateword'), [], 'installed again it begins with an empty index');
});

test('a write that races with the removal of the app leaves nothing behind', async () => {
  const account = await newAccount();
  for (let round = 0; round < 8; round += 1) {
    const app = await newApp(account);
    const entries = Array.from({ length: 400 }, (_, index) => entry(`e${index}`, `racing entry ${index}`));
    const writing = app.call(INDEX, { method: 'PUT', body: { entries } });
    const removed = await account.fetch('/v1/apps/notes-app', { method: 'DELETE' });
    assert.equal(removed.status, 204);
    assert.ok([200, 401].includes((await writing).status));
    const { rows } = await world.core.context.pool.query(
      'SELECT (SELECT count(*) FROM search_entries WHERE installation_id = $1)::int AS entries',
      [app.installationId],
    );
    assert.deepEqual(rows, [{ entries: 0 }]);
  }
});

test('a reader sees an index before or after a replacement, never between', async () => {
  const account = await newAccount();
  const app = await newApp(account);
  // Other ids in each, and a word that only resembles the typed one: it takes a second look to find all of these.
  const edition = (name: string) =>
    Array.from({ length: 150 }, (_, index) => entry(`${name}-${index}`, index % 2 ? 'editions' : 'edition'));
  await write(app, 'PUT', edition('zero'));
  let writing = true;
  let reads = 0;
  const writer = (async () => {
    for (let round = 0; round < 6 || reads < 4; round += 1)
      await write(app, 'PUT', edition(round % 2 === 0 ? 'one' : 'zero'));
    writing = false;
  })();
  while (writing) {
    const { items } = await found(account, 'edition', { limit: '200' });
    assert.equal(items.length, 150);
    assert.equal(new Set(items.map(({ id }) => id.split('-')[0])).size, 1, 'all of one edition');
    reads += 1;
  }
  await writer;
  assert.ok(reads > 3);
});

test('the limit of entries holds however many requests fill the index at once', async () => {
  const account = await newAccount();
  const app = await newApp(account);
  const most = limits.searchEntries.value;
  await write(
    app,
    'PUT',
    Array.from({ length: most - 500 }, (_, index) => entry(`base-${index}`, 'x')),
  );
  const batch = (name: string) => Array.from({ length: 250 }, (_, index) => entry(`${name}-${index}`, 'y'));
  const answers = await Promise.all(
    ['a', 'b', 'c', 'd', 'e'].map((name) => app.call(INDEX, { body: { entries: batch(name) } })),
  );
  const refused = answers.filter(({ status }) => status !== 200);
  assert.deepEqual([answers.length - refused.length, refused.map(problemCode)], [2, Array(3).fill('invalid_request')]);
  await write(app, 'POST', [entry('base-0', 'changed')]);
  const { rows } = await world.core.context.pool.query(
    'SELECT count(*)::int AS count FROM search_entries WHERE installation_id = $1',
    [app.installationId],
  );
  assert.deepEqual(rows, [{ count: most }]);
});

const refused: [string, object][] = [
  ['an absolute url', { url: 'https://example.org/' }],
  ['a protocol-relative url', { url: '//example.org/' }],
  ['a backslash in its url', { url: '/a\\b' }],
  ['a fragment in its url', { url: '/a#b' }],
  ['a script in its url', { url: 'javascript:alert(1)' }],
  ['no title', { title: undefined }],
  ['a title of 257 characters', { title: 'x'.repeat(257) }],
  ['an id of 129 characters', { id: 'x'.repeat(129) }],
  ['a slash in its id', { id: 'notes/1' }],
  ['a backslash in its id', { id: 'notes\\1' }],
  ['the id .', { id: '.' }],
  ['the id ..', { id: '..' }],
  ['more than 16 KiB of text', { text: 'é'.repeat(8 * 1024 + 1) }],
  ['NUL in its text', { text: 'a\u0000b' }],
  ['an unknown member', { snippet: 'x' }],
];
for (const [what, change] of refused) {
  test(`an entry with ${what} is refused, and with it the whole request`, async () => {
    const account = await newAccount();
    const app = await newApp(account);
    await write(app, 'PUT', [entry('kept', 'kept')]);
    const entries = [entry('good', 'good'), { ...entry('bad', 'bad'), ...change }];
    for (const method of ['PUT', 'POST']) {
      const answer = await app.call(INDEX, { method, body: { entries } });
      assert.deepEqual([answer.status, problemCode(answer)], [400, 'invalid_request']);
    }
    assert.deepEqual(await idsOf(account, 'kept'), ['kept']);
    assert.deepEqual(await idsOf(account, 'good'), []);
  });
}

test('two entries of one id, too many entries and an app without the grant are refused', async () => {
  const account = await newAccount();
  const app = await newApp(account);
  const twice = await app.call(INDEX, { method: 'PUT', body: { entries: [entry('a', 'x'), entry('a', 'y')] } });
  assert.equal(problemCode(twice), 'invalid_request');
  const many = Array.from({ length: limits.searchUpsert.value + 1 }, (_, index) => entry(`e${index}`, 'x'));
  assert.equal(problemCode(await app.call(INDEX, { body: { entries: many } })), 'invalid_request');
  const tooMany = Array.from({ length: limits.searchEntries.value + 1 }, (_, index) => entry(`e${index}`, 'x'));
  assert.equal(problemCode(await app.call(INDEX, { method: 'PUT', body: { entries: tooMany } })), 'invalid_request');
  assert.deepEqual(await idsOf(account, 'x'), [], 'nothing was stored');
  await account.browser.take('/v1/apps/notes-app/permissions', { method: 'PUT', body: { permissions: [] } });
  const answer = await app.call(INDEX, { method: 'PUT', body: { entries: [] } });
  assert.deepEqual([answer.status, problemCode(answer)], [403, 'grant_missing']);
});

test('a search that finds nothing to look for answers with nothing', async () => {
  const account = await newAccount();
  await write(await newApp(account), 'PUT', [entry('a', '100% cotton')]);
  for (const q of ['%', '_', '*', '""', '&|!()', '\\']) assert.deepEqual(await idsOf(account, q), [], q);
  const empty = await account.fetch('/v1/search?q=');
  assert.deepEqual([empty.status, problemCode(empty)], [400, 'invalid_request']);
  const long = await account.fetch(`/v1/search?q=${'a'.repeat(201)}`);
  assert.deepEqual([long.status, problemCode(long)], [400, 'invalid_request']);
});

test('NUL, which no database text holds, is refused wherever it comes in', async () => {
  const account = await newAccount();
  const app = await newApp(account);
  await write(app, 'PUT', [entry('a', 'alpha beta')]);
  for (const query of ['q=alpha%00beta', 'q=alpha&kind=%00', 'q=alpha&app=%00']) {
    const answer = await account.fetch(`/v1/search?${query}`);
    assert.deepEqual([answer.status, problemCode(answer)], [400, 'invalid_request']);
  }
  const removed = await app.call(`${INDEX}/a%00b`, { method: 'DELETE' });
  assert.deepEqual([removed.status, problemCode(removed)], [400, 'invalid_path']);
});

test('a page fills the index of its app through the shell, as a whole, and with the grant of the app alone', async () => {
  const account = await newAccount();
  const app = await newApp(account);
  await installTestApp(world, account, 'no-index-app', []);
  const fill = (appId: string, entries: readonly object[], by = account) =>
    by.fetch(`/v1/apps/${appId}/search-index`, { method: 'PUT', body: { entries } });
  await write(app, 'PUT', [entry('old', 'Former title')]);
  assert.deepEqual((await fill('notes-app', [entry('n1', 'Milk'), entry('n2', 'Bread')])).json, { indexed: 2 });
  assert.deepEqual([await idsOf(account, 'milk'), await idsOf(account, 'former')], [['n1'], []]);

  const stranger = await newAccount();
  for (const [what, answer, status, code] of [
    ['without the grant', await fill('no-index-app', []), 403, 'grant_missing'],
    ['of an app of another account', await fill('notes-app', [], stranger), 404, 'not_found'],
    ['one wrong entry', await fill('notes-app', [entry('n3', 'New'), { id: 'n4' }]), 400, 'invalid_request'],
    [
      'too many',
      await fill(
        'notes-app',
        Array.from({ length: 1_001 }, (_, i) => entry(`${i}`, 'x')),
      ),
      400,
      'invalid_request',
    ],
  ] as const)
    assert.deepEqual([answer.status, problemCode(answer)], [status, code], what);
  assert.deepEqual([await idsOf(account, 'milk'), await idsOf(account, 'new')], [['n1'], []]);
  assert.deepEqual((await fill('notes-app', [])).json, { indexed: 0 });
  assert.deepEqual(await wordsIndexed(app), []);
});
