// What a person sees and ends in Settings of their collections and of files that others have, without the apps that made them.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { AccountCollection, ContentMember, FilePrincipal, OpenFile, UserFile } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../../tests/support/constellation.ts';
import {
  type CallSettings,
  type InstalledTestApp,
  installTestApp,
} from '../../../../../tests/support/installed-app.ts';
import { problemCode, type RawAnswer } from '../../../../../tests/support/raw-http.ts';
import { type ContentApp, contentApp, invitationsOf, share } from '../../../test-support/content.ts';
import { fileCaller } from '../../../test-support/files.ts';

const APP = 'shared-lists';
const SERVER = 'shell.platform.localhost';
const COLLECTIONS = '/v1/account/collections';
const OPEN = '/v1/account/open-files';

let world: Constellation;
let ada: TestAccount;
let ben: TestAccount;
let cleo: TestAccount;
let mine: ContentApp;
let his: ContentApp;
let third: ContentApp;
let notes: InstalledTestApp;
let bens: InstalledTestApp;
let hers: (path: string, settings?: CallSettings) => Promise<RawAnswer>;

before(async () => {
  world = await startConstellation();
  ada = await registerAccount(world, 'ada-sees');
  ben = await registerAccount(world, 'ben-sees');
  cleo = await registerAccount(world, 'cleo-sees');
  mine = await contentApp(world, ada, APP);
  his = await contentApp(world, ben, APP);
  third = await contentApp(world, cleo, APP);
  notes = await installTestApp(world, ada, 'open-notes', []);
  bens = await installTestApp(world, ben, 'open-notes', []);
  hers = await fileCaller(world, ada);
});
after(() => world.close());

async function listed<Item>(account: TestAccount, path: string): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page: { items: Item[]; nextCursor: string | null } = await account.browser.take(`${path}?limit=2${query}`);
    items.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return items;
}

const collectionOf = async (account: TestAccount, id: string) =>
  (await listed<AccountCollection>(account, COLLECTIONS)).find((one) => one.id === id);
const membersOf = (account: TestAccount, id: string) => listed<ContentMember>(account, `${COLLECTIONS}/${id}/members`);
const openOf = async (account: TestAccount, name: string) =>
  (await listed<OpenFile>(account, OPEN)).find((one) => one.name === name);
const removed = (account: TestAccount, id: string, memberId: string) =>
  account.fetch(`${COLLECTIONS}/${id}/members/${memberId}`, { method: 'DELETE' });
const closed = (account: TestAccount, id: string, principal?: FilePrincipal) =>
  account.fetch(`${OPEN}/${id}/close`, { body: principal === undefined ? {} : { principal } });

test('everybody sees the collections that are theirs or shared with them, and nobody else does', async () => {
  const list = await mine.made('list', 'Groceries');
  const inner = await mine.made('list', 'Spices', list.id);
  await mine.wrote(list.id, 'milk', 'x');
  await share(mine, his, list.id, 'editor');
  const { createdAt } = list;
  const shown = { id: list.id, kind: 'list', name: 'Groceries', parentId: null, createdAt };
  const common = { owner: `ada-sees@${SERVER}`, endsAt: null, members: 1, items: 1, apps: [APP] };
  assert.deepEqual(await collectionOf(ada, list.id), { ...shown, ...common, role: 'owner', memberId: null });
  assert.equal((await collectionOf(ada, inner.id))?.parentId, list.id);
  const seen = await collectionOf(ben, list.id);
  assert.match(String(seen?.memberId), /^mem-/);
  assert.deepEqual(seen, { ...shown, ...common, role: 'editor', memberId: seen?.memberId });
  assert.equal(await collectionOf(cleo, list.id), undefined);
  assert.deepEqual(
    (await membersOf(ben, list.id)).map(({ address, role }) => [address, role]),
    [
      [`ada-sees@${SERVER}`, 'owner'],
      [`ben-sees@${SERVER}`, 'editor'],
    ],
  );
  assert.deepEqual(await membersOf(ben, inner.id), await membersOf(ada, inner.id), 'a role holds for what is within');
  for (const answer of [
    await cleo.fetch(`${COLLECTIONS}/${list.id}/members`),
    await removed(cleo, list.id, String(seen?.memberId)),
    await cleo.fetch(`${COLLECTIONS}/${list.id}`, { method: 'DELETE' }),
  ])
    assert.equal(problemCode(answer), 'not_found');
});

test('a member leaves, and the app loses it at once; an owner removes a member; others may not', async () => {
  const list = await mine.made('list', 'Chores');
  await share(mine, his, list.id, 'viewer');
  await share(mine, third, list.id, 'manager');
  const [owner, bensRole, cleosRole] = await membersOf(ada, list.id);
  if (owner === undefined || bensRole === undefined || cleosRole === undefined) assert.fail();
  assert.equal(problemCode(await removed(ben, list.id, cleosRole.id)), 'not_authorized');
  for (const somebody of [ada, ben, cleo])
    assert.notEqual((await removed(somebody, list.id, owner.id)).status, 204, 'the owner stays');
  assert.equal(problemCode(await removed(ada, list.id, owner.id)), 'content_conflict');
  assert.equal((await removed(ben, list.id, bensRole.id)).status, 204);
  assert.equal(problemCode(await removed(ben, list.id, bensRole.id)), 'not_found');
  assert.equal(problemCode(await his.call(`/${list.id}`)), 'not_found');
  assert.equal(await collectionOf(ben, list.id), undefined);
  // What a manager had invited others with waits no more once they are removed.
  assert.equal((await third.invite(list.id, ben.name, 'viewer')).status, 201);
  assert.equal((await removed(ada, list.id, cleosRole.id)).status, 204);
  assert.deepEqual(await invitationsOf(ben), []);
  assert.equal(problemCode(await third.put(list.id, 'a', 'x')), 'not_found');
});

test('a role from above is taken away above; a manager removes others', async () => {
  const outer = await mine.made('list', 'Outer');
  const inner = await mine.made('list', 'Inner', outer.id);
  await share(mine, his, outer.id, 'manager');
  await share(mine, third, inner.id, 'viewer');
  const members = await membersOf(ben, inner.id);
  const idOf = (name: string) => members.find(({ address }) => address.startsWith(name))?.id ?? assert.fail(name);
  assert.equal(problemCode(await removed(ben, inner.id, idOf('ben'))), 'content_conflict');
  assert.equal((await removed(ben, inner.id, idOf('cleo'))).status, 204);
  assert.equal((await removed(ben, outer.id, idOf('ben'))).status, 204);
  assert.equal(problemCode(await his.call(`/${inner.id}`)), 'not_found');
});

test('its owner alone deletes a collection, with what is in it and for everybody', async () => {
  const outer = await mine.made('list', 'Going');
  const inner = await mine.made('list', 'Going too', outer.id);
  await mine.wrote(inner.id, 'a', 'x'.repeat(1_000));
  await share(mine, his, outer.id, 'manager');
  const disk = async () => (await ada.browser.take<{ contentBytes: number }>('/v1/account/disk')).contentBytes;
  const before = await disk();
  const path = `${COLLECTIONS}/${outer.id}`;
  assert.equal(problemCode(await ben.fetch(path, { method: 'DELETE' })), 'not_authorized');
  assert.equal((await ada.fetch(path, { method: 'DELETE' })).status, 204);
  assert.equal(problemCode(await ada.fetch(path, { method: 'DELETE' })), 'not_found');
  for (const app of [mine, his])
    for (const { id } of [outer, inner]) assert.equal(problemCode(await app.call(`/${id}`)), 'not_found');
  assert.ok(before - (await disk()) >= 1_000, 'the space is free again');
});

async function written(name: string, entries: readonly { principal: FilePrincipal; access: string }[]): Promise<void> {
  const body = Buffer.from(`The text of ${name}`);
  const put = await notes.call(`/v1/services/files/${name}`, {
    method: 'PUT',
    body,
    headers: { 'content-type': 'text/plain' },
  });
  assert.ok(put.status < 300, put.text);
  const opened = await notes.call(`/v1/services/files/${name}/access`, { method: 'PUT', body: { entries } });
  assert.equal(opened.status, 200, opened.text);
}

async function uploaded(name: string): Promise<UserFile> {
  const settings = { method: 'POST', body: Buffer.from(name), headers: { 'content-type': 'text/plain' } };
  const answer = await hers(`/v1/services/user-files?name=${name}`, settings);
  assert.equal(answer.status, 201, answer.text);
  return (answer.json as { file: UserFile }).file;
}

const toBen = { account: `ben-sees@${SERVER}` };

test('files that apps opened are listed with everybody who has them, and taken back from one or all', async () => {
  const entries = [
    { principal: { app: APP }, access: 'read' },
    { principal: toBen, access: 'write' },
    { principal: { account: `cleo-sees@${SERVER}` }, access: 'read' },
  ] as const;
  await written('plans.txt', entries);
  await written('private.txt', []);
  const file = await openOf(ada, 'plans.txt');
  assert.deepEqual(
    [file?.from, file?.openTo, file?.size],
    [{ app: 'open-notes' }, entries, 'The text of plans.txt'.length],
  );
  assert.equal(await openOf(ada, 'private.txt'), undefined);
  assert.equal(await openOf(ben, 'plans.txt'), undefined, 'it is not his to close');
  const id = file?.id ?? assert.fail();
  const reads = async (app: InstalledTestApp) => (await app.call(`/v1/services/files/shared/${id}`)).status;
  const handed = await ben.fetch(`/v1/account/files/${id}/apps`, { body: { appId: 'open-notes', access: 'write' } });
  assert.equal(handed.status, 201, handed.text);
  assert.deepEqual((await openOf(ben, 'plans.txt'))?.openTo, [{ principal: { app: 'open-notes' }, access: 'write' }]);
  assert.equal(await reads(bens), 200);
  assert.equal(problemCode(await closed(cleo, id)), 'not_found', 'who has it only does not close it for others');
  assert.equal((await closed(ada, id, toBen)).status, 204);
  assert.equal(await reads(bens), 404);
  assert.equal(problemCode(await closed(ada, id, toBen)), 'not_found');
  for (const nobody of [{ account: 'nobody-there' }, { account: '@eve:elsewhere.example' }, { app: 'no-such-app' }])
    assert.equal(problemCode(await closed(ada, id, nobody)), 'not_found');
  assert.deepEqual((await openOf(ada, 'plans.txt'))?.openTo, [entries[0], entries[2]]);
  assert.equal((await closed(ada, id)).status, 204);
  assert.equal(await openOf(ada, 'plans.txt'), undefined);
  assert.deepEqual((await notes.call('/v1/services/files/plans.txt/access')).json, { entries: [] });
});

test('files that were handed to apps are among them; what a removed app had opened stays in sight', async () => {
  const own = await uploaded('letter.txt');
  for (const app of [APP, 'open-notes']) {
    const handed = await ada.fetch(`/v1/account/files/${own.id}/apps`, { body: { appId: app, access: 'read' } });
    assert.equal(handed.status, 201, handed.text);
  }
  const shown = await openOf(ada, 'letter.txt');
  assert.deepEqual(shown?.from, { account: `ada-sees@${SERVER}` });
  assert.deepEqual(shown?.openTo.map(({ principal }) => ('app' in principal ? principal.app : '')).sort(), [
    'open-notes',
    APP,
  ]);
  assert.equal((await closed(ada, own.id, { app: APP })).status, 204);
  assert.deepEqual((await openOf(ada, 'letter.txt'))?.openTo.length, 1);
  await written('left.txt', [{ principal: toBen, access: 'read' }]);
  await ada.browser.take('/v1/apps/open-notes', { method: 'DELETE' });
  assert.equal(await openOf(ada, 'letter.txt'), undefined, 'a removed app has nothing it was handed');
  const left = await openOf(ada, 'left.txt');
  assert.deepEqual(left?.openTo, [{ principal: toBen, access: 'read' }]);
  assert.equal((await closed(ada, left?.id ?? '')).status, 204);
  assert.equal(await openOf(ada, 'left.txt'), undefined);
});

test('another page than the shell ends nothing', async () => {
  const list = await mine.made('list', 'Kept');
  const headers = { origin: 'https://evil.example' };
  const file = 'fil-01890000-0000-7000-8000-000000000000';
  for (const answer of [
    await ada.fetch(`${COLLECTIONS}/${list.id}`, { method: 'DELETE', headers }),
    await ada.fetch(`${OPEN}/${file}/close`, { body: {}, headers }),
  ])
    assert.equal(problemCode(answer), 'origin_not_allowed');
});
