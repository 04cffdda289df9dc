// Files of apps and of people: private, opened to others, handed over and taken back.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { limits, type SharedFile, type UserFile } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { type CallSettings, type InstalledTestApp, installTestApp } from '../../../../tests/support/installed-app.ts';
import { problemCode, type RawAnswer } from '../../../../tests/support/raw-http.ts';
import { fileCaller } from '../../test-support/files.ts';

const MiB = 1_048_576;
const UNKNOWN = 'fil-01890000-0000-7000-8000-000000000000';

let world: Constellation;
let ada: TestAccount;
let ben: TestAccount;
let notes: InstalledTestApp;
let photos: InstalledTestApp;
let bens: InstalledTestApp;
/** The platform’s own Files, of each. */
let hers: (path: string, settings?: CallSettings) => Promise<RawAnswer>;
let his: typeof hers;

before(async () => {
  world = await startConstellation({ config: { accountDiskBytes: 40 * MiB } });
  ada = await registerAccount(world, 'ada-files');
  ben = await registerAccount(world, 'ben-files');
  notes = await installTestApp(world, ada, 'note-files', []);
  photos = await installTestApp(world, ada, 'photo-files', []);
  bens = await installTestApp(world, ben, 'note-files', []);
  hers = await fileCaller(world, ada);
  his = await fileCaller(world, ben);
});
after(() => world.close());

const put = (
  app: InstalledTestApp,
  path: string,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): Promise<RawAnswer> =>
  app.call(`/v1/services/files/${path}`, {
    method: 'PUT',
    body: Buffer.from(body),
    headers: { 'content-type': 'text/plain', ...headers },
  });
const get = (app: InstalledTestApp, path: string) => app.call(`/v1/services/files/${path}`);
const open = (name: string, entries: readonly unknown[]) =>
  notes.call(`/v1/services/files/${name}/access`, { method: 'PUT', body: { entries } });
const shared = async (call: typeof hers) =>
  ((await call('/v1/services/files/shared')).json as { items: SharedFile[] }).items;
const upload = async (name: string, body: string): Promise<UserFile> => {
  const answer = await hers(`/v1/services/user-files?name=${encodeURIComponent(name)}`, {
    method: 'POST',
    body: Buffer.from(body),
    headers: { 'content-type': 'text/plain' },
  });
  assert.equal(answer.status, 201, answer.text);
  return (answer.json as { file: UserFile }).file;
};
const handOver = (account: TestAccount, id: string, appId: string, access = 'read') =>
  account.fetch(`/v1/account/files/${id}/apps`, { body: { appId, access } });

test('the files of an app are its own, without a grant', async () => {
  const created = await put(notes, 'plan.txt', 'one');
  assert.equal(created.status, 201, created.text);
  assert.deepEqual(
    [(await get(notes, 'plan.txt')).text, (await get(notes, 'plan.txt')).headers['content-type']],
    ['one', 'text/plain'],
  );
  for (const other of [photos, bens]) {
    assert.equal(problemCode(await get(other, 'plan.txt')), 'not_found');
    assert.deepEqual(((await other.call('/v1/services/files')).json as { items: unknown[] }).items, []);
  }
  const tag = String(created.headers.etag);
  assert.equal((await put(notes, 'plan.txt', 'two', { 'if-match': tag })).status, 200);
  assert.equal(problemCode(await put(notes, 'plan.txt', 'three', { 'if-match': tag })), 'precondition_failed');
  assert.equal(problemCode(await put(notes, 'plan.txt', 'three', { 'if-none-match': '*' })), 'precondition_failed');
  await put(notes, encodeURIComponent('Überblick & mehr.txt'), 'x');
  const { items } = (await notes.call('/v1/services/files')).json as { items: { name: string }[] };
  assert.deepEqual(
    items.map(({ name }) => name),
    ['plan.txt', 'Überblick & mehr.txt'],
  );
  assert.equal((await notes.call('/v1/services/files/plan.txt', { method: 'DELETE' })).status, 204);
  assert.equal(problemCode(await get(notes, 'plan.txt')), 'not_found');
});

test('an app opens a file to another app of the person, as far as it says', async () => {
  await put(notes, 'open.txt', 'mine');
  assert.equal((await open('open.txt', [{ principal: { app: 'photo-files' }, access: 'read' }])).status, 200);
  const [file] = await shared((path) => photos.call(path));
  assert.ok(file);
  assert.deepEqual([file.name, file.access, file.from], ['open.txt', 'read', { app: 'note-files' }]);
  assert.equal((await get(photos, `shared/${file.id}`)).text, 'mine');
  assert.equal(problemCode(await put(photos, `shared/${file.id}`, 'theirs')), 'not_authorized');
  assert.equal(problemCode(await get(bens, `shared/${file.id}`)), 'not_found', 'the same app of somebody else');
  await open('open.txt', [{ principal: { app: 'photo-files' }, access: 'write' }]);
  assert.equal((await put(photos, `shared/${file.id}`, 'theirs', { 'if-match': file.etag })).status, 200);
  assert.equal((await get(notes, 'open.txt')).text, 'theirs');
  await open('open.txt', []);
  assert.equal(problemCode(await get(photos, `shared/${file.id}`)), 'not_found');
  assert.deepEqual(await shared((path) => photos.call(path)), []);
});

test('an entry for an account opens a file to its Files alone, from where its person hands it on', async () => {
  await put(notes, 'for-ben.txt', 'hello');
  const answer = await open('for-ben.txt', [{ principal: { account: 'ben-files' }, access: 'read' }]);
  assert.deepEqual(answer.json, {
    entries: [{ principal: { account: 'ben-files@shell.platform.localhost' }, access: 'read' }],
  });
  assert.deepEqual(await shared((path) => bens.call(path)), [], 'no other app of his');
  const [file] = await shared(his);
  assert.deepEqual(file?.from, { account: 'ada-files@shell.platform.localhost' });
  const id = String(file?.id);
  assert.equal((await his(`/v1/services/files/shared/${id}`)).text, 'hello');
  assert.equal(problemCode(await handOver(ben, id, 'note-files', 'write')), 'not_authorized', 'more than he has');
  assert.equal((await handOver(ben, id, 'note-files')).status, 201);
  assert.equal((await get(bens, `shared/${id}`)).text, 'hello');
  await open('for-ben.txt', []);
  assert.equal(problemCode(await get(bens, `shared/${id}`)), 'not_found', 'what he has no more, his apps have no more');
});

test('a file of the person is handed to one app, until it is taken back', async () => {
  const file = await upload('tax.pdf', 'numbers');
  const again = await upload('tax.pdf', 'others');
  assert.equal(again.name, 'tax (2).pdf');
  assert.deepEqual(await shared((path) => notes.call(path)), []);
  assert.equal(problemCode(await get(notes, `shared/${file.id}`)), 'not_found');
  assert.equal((await handOver(ada, file.id, 'note-files', 'write')).status, 201);
  assert.equal((await get(notes, `shared/${file.id}`)).text, 'numbers');
  assert.equal(problemCode(await get(notes, `shared/${again.id}`)), 'not_found', 'exactly that file');
  assert.equal(problemCode(await get(photos, `shared/${file.id}`)), 'not_found', 'exactly that app');
  assert.equal((await put(notes, `shared/${file.id}`, 'changed')).status, 200);
  const { items } = (await hers('/v1/services/user-files/transfers')).json as { items: { appId: string }[] };
  assert.deepEqual(
    items.map(({ appId }) => appId),
    ['note-files'],
  );
  const back = await hers(`/v1/services/user-files/${file.id}/apps/note-files`, { method: 'DELETE' });
  assert.equal(back.status, 204);
  assert.equal(problemCode(await get(notes, `shared/${file.id}`)), 'not_found');
  assert.equal((await hers(`/v1/services/user-files/${file.id}`)).text, 'changed');
});

test('an app that is removed gives back what it was handed; its own files stay until its data is deleted', async () => {
  const passing = await installTestApp(world, ada, 'passing-files', []);
  const file = await upload('handed.txt', 'x');
  await handOver(ada, file.id, 'passing-files');
  await put(passing, 'own.txt', 'kept');
  await ada.fetch('/v1/apps/passing-files', { method: 'DELETE' });
  await ada.browser.take('/v1/apps', { body: { appId: 'passing-files' } });
  await passing.restart();
  assert.equal(problemCode(await get(passing, `shared/${file.id}`)), 'not_found');
  assert.equal((await get(passing, 'own.txt')).text, 'kept');
  assert.equal((await ada.fetch('/v1/apps/passing-files/data', { method: 'DELETE' })).status, 202);
  const { rows } = await world.core.context.pool.query("SELECT FROM content_files WHERE name = 'own.txt'");
  assert.equal(rows.length, 0);
});

test('a file of an app becomes one of the person, by the shell alone', async () => {
  await put(notes, 'report.txt', 'words');
  const saved = await ada.fetch('/v1/account/files', { body: { appId: 'note-files', name: 'report.txt' } });
  assert.equal(saved.status, 201, saved.text);
  const { file } = saved.json as { file: UserFile };
  assert.equal((await hers(`/v1/services/user-files/${file.id}`)).text, 'words');
  assert.equal(problemCode(await get(notes, `shared/${file.id}`)), 'not_found', 'which the app does not keep');
  const missing = await ada.fetch('/v1/account/files', { body: { appId: 'photo-files', name: 'report.txt' } });
  assert.equal(problemCode(missing), 'not_found');
});

/** Names as they stand in the path. */
const NAMES = [
  ...[
    '..',
    '.',
    '%2e%2e',
    'a%2fb',
    'a%5cb',
    '%00',
    'a%00.txt',
    'a%0Ab',
    '%E2%80%AEgpj.exe',
    'a%E2%81%A6b',
    '%20a',
    'a%20',
  ],
  ...['%E2%80%8B', '%ED%A0%80', '%zz', 'a'.repeat(201), '%C2%85', '%E2%80%A8'],
];
for (const name of NAMES)
  test(`refused: a file named ${JSON.stringify(name.slice(0, 30))}`, async () => {
    const before = (await notes.call('/v1/services/files?limit=200')).text;
    const answer = await put(notes, name, 'x');
    assert.ok([400, 404, 405].includes(answer.status), `${answer.status} ${answer.text}`);
    assert.equal((await notes.call('/v1/services/files?limit=200')).text, before);
  });

test('a thousand names that differ in case alone are a thousand files', async () => {
  const many = await installTestApp(world, ben, 'many-files', []);
  const variants = Array.from({ length: 1_000 }, (_, n) =>
    [...'abcdefghij'].map((letter, bit) => ((n >> bit) & 1 ? letter.toUpperCase() : letter)).join(''),
  );
  for (let n = 0; n < variants.length; n += 20) {
    const some = await Promise.all(variants.slice(n, n + 20).map((name) => put(many, name, name)));
    for (const { status, text } of some) assert.equal(status, 201, text);
  }
  for (const name of [variants[0], variants[511], variants[999]])
    assert.equal((await get(many, String(name))).text, name);
});

/** What no app may reach of the files of a person. */
const OF_THE_PERSON: readonly (readonly [method: string, path: string])[] = [
  ['GET', '/v1/services/user-files'],
  ['POST', '/v1/services/user-files?name=a.txt'],
  ['GET', `/v1/services/user-files/${UNKNOWN}`],
  ['PATCH', `/v1/services/user-files/${UNKNOWN}`],
  ['DELETE', `/v1/services/user-files/${UNKNOWN}`],
  ['GET', '/v1/services/user-files/transfers'],
  ['DELETE', `/v1/services/user-files/${UNKNOWN}/apps/note-files`],
  ['POST', `/v1/account/files/${UNKNOWN}/apps`],
  ['GET', '/v1/account/files'],
];
for (const [method, path] of OF_THE_PERSON)
  test(`refused: ${method} ${path} by an app`, async () => {
    const answer = await notes.call(path, { method });
    assert.ok(['grant_missing', 'not_authorized'].includes(problemCode(answer)), answer.text);
  });

test('Files sees no private file of an app, and none of another person', async () => {
  await put(notes, 'private.txt', 'x');
  const { rows } = await world.core.context.pool.query<{ id: string }>(
    "SELECT f.id FROM content_files f JOIN installations i ON i.id = f.installation_id WHERE f.name = 'private.txt'",
  );
  const id = String(rows[0]?.id);
  const mine = await upload('mine.txt', 'x');
  for (const [call, one] of [
    [hers, id],
    [his, mine.id],
  ] as const) {
    for (const path of [`/v1/services/user-files/${one}`, `/v1/services/files/shared/${one}`])
      assert.equal(problemCode(await call(path)), 'not_found', path);
    const gone = await call(`/v1/services/user-files/${one}`, { method: 'DELETE' });
    assert.equal(problemCode(gone), 'not_found');
  }
  assert.equal(problemCode(await handOver(ada, id, 'photo-files')), 'not_found', 'nor does the shell hand it over');
  assert.equal(problemCode(await handOver(ben, mine.id, 'note-files')), 'not_found');
  assert.equal(problemCode(await handOver(ada, mine.id, 'not-installed')), 'not_found');
});

/** Lists of entries that are none. */
const ENTRIES: readonly (readonly [what: string, entries: unknown, code: string])[] = [
  ['somebody elsewhere', [{ principal: { account: '@x:example.org' }, access: 'read' }], 'invalid_request'],
  ['nobody', [{ principal: { account: 'nobody-there' }, access: 'read' }], 'not_found'],
  ['an app that is none', [{ principal: { app: '../x' }, access: 'read' }], 'invalid_request'],
  ['an access that is none', [{ principal: { app: 'photo-files' }, access: 'own' }], 'invalid_request'],
  ['both at once', [{ principal: { app: 'photo-files', account: 'ben-files' }, access: 'read' }], 'invalid_request'],
  ['neither', [{ principal: {}, access: 'read' }], 'invalid_request'],
  [
    'one app twice',
    [
      { principal: { app: 'photo-files' }, access: 'read' },
      { principal: { app: 'photo-files' }, access: 'write' },
    ],
    'invalid_request',
  ],
  [
    'one account twice',
    [
      { principal: { account: 'ben-files' }, access: 'read' },
      { principal: { account: 'BEN-files@shell.platform.localhost' }, access: 'write' },
    ],
    'invalid_request',
  ],
  [
    'too many',
    Array.from({ length: limits.fileAccess.value + 1 }, (_, n) => ({ principal: { app: `app-${n}` }, access: 'read' })),
    'invalid_request',
  ],
];
for (const [what, entries, code] of ENTRIES)
  test(`refused: a file opened to ${what}`, async () => {
    await put(notes, 'entries.txt', 'x');
    const answer = await open('entries.txt', entries as readonly unknown[]);
    assert.equal(problemCode(answer), code, answer.text);
    assert.deepEqual((await notes.call('/v1/services/files/entries.txt/access')).json, { entries: [] });
  });

test('uploads at the same time take no more of the disk together than there is', async () => {
  const many = await Promise.all(Array.from({ length: 4 }, (_, n) => put(photos, `${n}.bin`, Buffer.alloc(14 * MiB))));
  const refused = many.filter(({ status }) => status !== 201);
  assert.ok(refused.length >= 2);
  for (const answer of refused) assert.equal(problemCode(answer), 'disk_quota');
  const { rows } = await world.core.context.pool.query<{ said: string; there: string }>(
    `SELECT s.bytes::text AS said, sum(b.size + ${limits.keptBytes.value})::text AS there
       FROM content_spaces s JOIN accounts a ON a.key = s.owner_key JOIN content_bodies b ON b.space_id = s.id
      WHERE a.name = 'ada-files' GROUP BY s.bytes`,
  );
  assert.equal(rows[0]?.said, rows[0]?.there);
  const { contentBytes } = await ada.browser.take<{ contentBytes: number }>('/v1/account/disk');
  assert.equal(String(contentBytes), rows[0]?.said);
});
