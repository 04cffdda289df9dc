// Collections as two people and their apps have them: made, shared, written by both, and ended.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Collection, ContentInvitation } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { problemCode } from '../../../../tests/support/raw-http.ts';
import { until } from '../../../../tests/support/wait.ts';
import {
  ALL_CONTENT,
  answerInvitation,
  type ContentApp,
  contentApp,
  invitationsOf,
  share,
} from '../../test-support/content.ts';
import { deleteAccount } from '../accounts/face.ts';

const APP = 'shared-things';
const SERVER = 'shell.platform.localhost';

let world: Constellation;
let ada: TestAccount;
let ben: TestAccount;
let mine: ContentApp;
let his: ContentApp;
/** Another app of the same person, with the same grants. */
let other: ContentApp;

before(async () => {
  world = await startConstellation();
  ada = await registerAccount(world, 'ada-shares');
  ben = await registerAccount(world, 'ben-shares');
  mine = await contentApp(world, ada, APP);
  his = await contentApp(world, ben, APP);
  other = await contentApp(world, ada, 'other-things');
});
after(() => world.close());

const idIn = ({ json }: { readonly json: unknown }) => (json as { invitation: ContentInvitation }).invitation;

test('a collection is there for the app that made it, and for nobody else', async () => {
  const made = await mine.made('list', 'Groceries');
  assert.match(made.id, /^col-/);
  assert.deepEqual(
    { ...made, id: '', createdAt: '' },
    { id: '', kind: 'list', name: 'Groceries', parentId: null, role: 'owner', createdAt: '' },
  );
  assert.deepEqual((await mine.call(`/${made.id}`)).json, { collection: made });
  assert.ok((await mine.listed()).includes(made.id));
  for (const stranger of [other, his]) {
    assert.ok(!(await stranger.listed()).includes(made.id));
    for (const path of ['', '/items', '/items/a', '/changes', '/members'])
      assert.equal(problemCode(await stranger.call(`/${made.id}${path}`)), 'not_found', path);
    assert.equal(problemCode(await stranger.put(made.id, 'a', 'x')), 'not_found');
    assert.equal(problemCode(await stranger.call(`/${made.id}`, { method: 'DELETE' })), 'not_found');
  }
});

test('items are written, read, listed and deleted, each version under a tag of its own', async () => {
  const { id } = await mine.made('list', 'Items');
  const created = await mine.put(id, 'milk', '{"n":1}');
  assert.equal(created.status, 201);
  const first = String(created.headers.etag);
  assert.match(first, /^"[A-Za-z0-9_-]+"$/);
  const read = await mine.call(`/${id}/items/milk`);
  assert.deepEqual([read.status, read.text, read.headers.etag], [200, '{"n":1}', first]);
  const head = await mine.call(`/${id}/items/milk`, { method: 'HEAD' });
  assert.deepEqual([head.status, head.headers.etag, head.headers['content-length']], [200, first, '7']);
  const replaced = await mine.put(id, 'milk', '{"n":1}');
  assert.equal(replaced.status, 200);
  const second = String(replaced.headers.etag);
  assert.notEqual(second, first);
  await mine.wrote(id, 'bread.2~x_y-z', '');
  assert.deepEqual(
    (await mine.items(id)).map(({ key, etag, size }) => [key, key === 'milk' ? etag : '', size]),
    [
      ['bread.2~x_y-z', '', 0],
      ['milk', second, 7],
    ],
  );
  assert.equal((await mine.call(`/${id}/items/bread.2~x_y-z`)).text, '');
  assert.equal((await mine.call(`/${id}/items/milk`, { method: 'DELETE' })).status, 204);
  assert.equal(problemCode(await mine.call(`/${id}/items/milk`)), 'not_found');
  assert.equal(problemCode(await mine.call(`/${id}/items/milk`, { method: 'DELETE' })), 'not_found');
});

test('conditions hold as HTTP has them', async () => {
  const { id } = await mine.made('list', 'Conditions');
  const elsewhere = await mine.wrote((await mine.made('list', 'Elsewhere')).id, 'a', '1');
  const first = await mine.wrote(id, 'a', '1');
  const cases: readonly (readonly [key: string, headers: Record<string, string>, status: number])[] = [
    ['a', { 'if-match': elsewhere }, 412],
    ['a', { 'if-match': `W/${first}` }, 412],
    ['a', { 'if-match': '"x", "y"' }, 412],
    ['a', { 'if-none-match': '*' }, 412],
    ['a', { 'if-none-match': first }, 412],
    ['a', { 'if-none-match': `"x", W/${first}` }, 412],
    ['new', { 'if-match': '*' }, 412],
    ['new', { 'if-match': first }, 412],
    ['a', { 'if-match': first.slice(1, -1) }, 400],
    ['a', { 'if-match': '' }, 400],
    ['a', { 'if-match': '*, "x"' }, 400],
    ['a', { 'if-none-match': '"unclosed' }, 400],
    ['a', { 'if-match': '*' }, 200],
    ['new', { 'if-none-match': '*' }, 201],
    ['new', { 'if-none-match': '"x"' }, 200],
  ];
  for (const [key, headers, status] of cases) {
    const answer = await mine.put(id, key, 'next', headers);
    assert.equal(answer.status, status, `${key} ${JSON.stringify(headers)} ${answer.text}`);
    if (status === 412) assert.equal(problemCode(answer), 'precondition_failed');
  }
  const now = String((await mine.call(`/${id}/items/a`)).headers.etag);
  assert.equal((await mine.put(id, 'a', 'mine', { 'if-match': `"old", ${now}` })).status, 200);
  assert.equal((await mine.put(id, 'a', 'too late', { 'if-match': now })).status, 412);
  const held = String((await mine.call(`/${id}/items/a`)).headers.etag);
  const same = await mine.call(`/${id}/items/a`, { headers: { 'if-none-match': `W/${held}` } });
  assert.deepEqual([same.status, same.text, same.headers.etag], [304, '', held]);
  assert.equal((await mine.call(`/${id}/items/a`, { headers: { 'if-match': first } })).status, 412);
  const deleting = (headers: Record<string, string>) => mine.call(`/${id}/items/a`, { method: 'DELETE', headers });
  assert.equal((await deleting({ 'if-match': first })).status, 412);
  assert.equal((await deleting({ 'if-match': held })).status, 204);
  // What is refused without a condition is refused the same with one (RFC 9110, section 13.2.1).
  for (const headers of [{ 'if-match': '*' }, { 'if-match': held }, {}])
    assert.equal((await deleting(headers)).status, 404);
});

test('of writers at the same time who build on the same version one wins', async () => {
  const { id } = await mine.made('list', 'Race');
  const tag = await mine.wrote(id, 'a', '0');
  const all = await Promise.all(Array.from({ length: 12 }, (_, n) => mine.put(id, 'a', `${n}`, { 'if-match': tag })));
  assert.deepEqual(all.map(({ status }) => status).sort(), [200, ...Array.from({ length: 11 }, () => 412)]);
  const fresh = await Promise.all(
    Array.from({ length: 12 }, (_, n) => mine.put(id, 'b', `${n}`, { 'if-none-match': '*' })),
  );
  assert.deepEqual(fresh.map(({ status }) => status).sort(), [201, ...Array.from({ length: 11 }, () => 412)]);
});

test('an invitation is accepted by the person, for the app by which it came, once', async () => {
  const { id } = await mine.made('list', 'For two');
  await mine.wrote(id, 'a', 'hers');
  const sent = await mine.invite(id, `ben-shares@${SERVER}`, 'editor');
  assert.equal(sent.status, 201, sent.text);
  const invitation = idIn(sent);
  assert.match(invitation.id, /^civ-/);
  assert.deepEqual(
    { ...invitation, id: '', createdAt: '', expiresAt: '' },
    {
      ...{ id: '', collection: { id, kind: 'list', name: 'For two' }, role: 'editor' },
      ...{ from: `ada-shares@${SERVER}`, appId: APP, createdAt: '', expiresAt: '' },
    },
  );
  assert.equal(Date.parse(invitation.expiresAt) - Date.parse(invitation.createdAt), 7 * 86_400_000);
  assert.deepEqual(await invitationsOf(ben), [invitation]);
  assert.deepEqual(await invitationsOf(ada), []);
  assert.equal(problemCode(await his.call(`/${id}`)), 'not_found', 'before it is accepted');
  assert.equal((await answerInvitation(ada, invitation.id, 'accept', APP)).status, 404, 'by the one who sent it');
  assert.equal(problemCode(await answerInvitation(ben, invitation.id, 'accept', 'store')), 'content_conflict');
  const accepted = await answerInvitation(ben, invitation.id, 'accept', APP);
  assert.equal((accepted.json as { collection: Collection }).collection.role, 'editor');
  for (const answer of ['accept', 'decline'] as const)
    assert.equal(problemCode(await answerInvitation(ben, invitation.id, answer, APP)), 'content_conflict');
  assert.deepEqual(await invitationsOf(ben), []);
  assert.equal((await his.call(`/${id}/items/a`)).text, 'hers');
  await his.wrote(id, 'b', 'his');
  assert.equal((await mine.call(`/${id}/items/b`)).text, 'his');
  assert.equal(problemCode(await his.invite(id, 'ada-shares', 'viewer')), 'not_authorized');
  assert.equal(problemCode(await his.call(`/${id}`, { method: 'DELETE' })), 'not_authorized');
  assert.deepEqual(
    (await his.members(id)).map(({ address, role }) => [address, role]),
    [
      [`ada-shares@${SERVER}`, 'owner'],
      [`ben-shares@${SERVER}`, 'editor'],
    ],
  );
  assert.equal(problemCode(await mine.invite(id, 'ben-shares', 'viewer')), 'content_conflict', 'a member');
});

test('of acceptances at the same time one counts', async () => {
  const { id } = await mine.made('list', 'At once');
  const invitation = idIn(await mine.invite(id, 'ben-shares', 'viewer'));
  const all = await Promise.all(Array.from({ length: 8 }, () => answerInvitation(ben, invitation.id, 'accept', APP)));
  assert.deepEqual(all.map(({ status }) => status).sort(), [200, ...Array.from({ length: 7 }, () => 409)]);
  assert.equal((await mine.members(id)).length, 2);
});

test('declined, withdrawn by a new one, from somebody who manages no more: none is accepted', async () => {
  const { id } = await mine.made('list', 'Declined');
  const first = idIn(await mine.invite(id, 'ben-shares', 'viewer'));
  const second = idIn(await mine.invite(id, 'ben-shares', 'editor'));
  assert.deepEqual(
    (await invitationsOf(ben)).map((one) => one.id),
    [second.id],
  );
  assert.equal(problemCode(await answerInvitation(ben, first.id, 'accept', APP)), 'content_conflict');
  assert.equal((await answerInvitation(ben, second.id, 'decline', APP)).status, 204);
  assert.equal(problemCode(await answerInvitation(ben, second.id, 'accept', APP)), 'content_conflict');
  const cleo = await registerAccount(world, 'cleo-shares');
  const hers = await contentApp(world, cleo, APP);
  await share(mine, hers, id, 'manager');
  const third = idIn(await hers.invite(id, 'ben-shares', 'viewer'));
  const manager = (await mine.members(id)).find(({ role }) => role === 'manager');
  assert.equal((await mine.call(`/${id}/members/${manager?.id}`, { method: 'DELETE' })).status, 204);
  assert.equal(problemCode(await answerInvitation(ben, third.id, 'accept', APP)), 'content_conflict');
  assert.equal(problemCode(await hers.call(`/${id}`)), 'not_found');
});

test('without the app an invitation waits, and it opens the collection to no other', async () => {
  const dora = await registerAccount(world, 'dora-shares');
  const { id } = await mine.made('list', 'No app');
  const invitation = idIn(await mine.invite(id, 'dora-shares', 'viewer'));
  assert.equal(problemCode(await answerInvitation(dora, invitation.id, 'accept', APP)), 'content_conflict');
  const hers = await contentApp(world, dora, APP);
  await dora.fetch(`/v1/apps/${APP}`, { method: 'DELETE' });
  assert.equal(problemCode(await answerInvitation(dora, invitation.id, 'accept', APP)), 'content_conflict');
  await dora.browser.take('/v1/apps', { body: { appId: APP } });
  assert.equal((await answerInvitation(dora, invitation.id, 'accept', APP)).status, 200);
  await hers.app.restart();
  assert.ok((await hers.listed()).includes(id));
  assert.ok(!(await (await contentApp(world, dora, 'other-things')).listed()).includes(id));
});

test('a removed app is admitted no more, and is again once it is installed again', async () => {
  const eve = await registerAccount(world, 'eve-shares');
  const hers = await contentApp(world, eve, 'kept-things');
  const { id } = await hers.made('list', 'Kept');
  await hers.wrote(id, 'a', '1');
  await eve.fetch('/v1/apps/kept-things', { method: 'DELETE' });
  assert.equal((await hers.call(`/${id}`)).status, 401);
  await eve.browser.take('/v1/apps', { body: { appId: 'kept-things' } });
  await hers.app.restart();
  assert.equal((await hers.call(`/${id}/items/a`)).text, '1');
});

test('roles, admissions and grants hold for what lies within', async () => {
  const home = await mine.made('folder', 'Home');
  const inner = await mine.made('list', 'Inner', home.id);
  assert.equal(inner.parentId, home.id);
  await share(mine, his, home.id, 'viewer');
  assert.equal((await his.call(`/${inner.id}`)).status, 200);
  assert.equal(problemCode(await his.put(inner.id, 'a', 'x')), 'not_authorized');
  const member = (await his.members(inner.id)).find(({ role }) => role === 'viewer');
  const above = await mine.call(`/${inner.id}/members/${member?.id}`, { method: 'DELETE' });
  assert.equal(problemCode(above), 'content_conflict', 'a role from above');
  await ada.browser.take(`/v1/apps/${APP}/permissions`, {
    method: 'PUT',
    body: { permissions: [{ id: 'content.collections.write', resources: [`folder:${home.id}`] }] },
  });
  assert.equal((await mine.put(inner.id, 'a', 'x')).status, 201, 'the grant for the folder');
  assert.equal(problemCode(await mine.call(`/${inner.id}`, { method: 'DELETE' })), 'grant_missing');
  const list = await mine.listed();
  assert.ok(list.includes(inner.id) && list.length === 2, 'and none beside it');
  await ada.browser.take(`/v1/apps/${APP}/permissions`, { method: 'PUT', body: { permissions: ALL_CONTENT } });
  assert.equal((await his.call(`/${home.id}/members/${member?.id}`, { method: 'DELETE' })).status, 204, 'leaves');
  assert.equal(problemCode(await his.call(`/${inner.id}`)), 'not_found');
});

test('changes come in their order, each item once, and the wait ends with the first', async () => {
  const { id } = await mine.made('list', 'Changes');
  const empty = await mine.changes(id);
  assert.deepEqual(empty.items, []);
  const waits = mine.changes(id, empty.nextCursor);
  const tag = await mine.wrote(id, 'a', '1');
  const first = await waits;
  assert.deepEqual(
    first.items.map(({ key, etag }) => [key, etag]),
    [['a', tag]],
  );
  await mine.wrote(id, 'b', '1');
  const later = await mine.wrote(id, 'a', '2');
  await mine.call(`/${id}/items/b`, { method: 'DELETE' });
  const next = await mine.changes(id, first.nextCursor);
  assert.deepEqual(
    next.items.map(({ key, etag }) => [key, etag]),
    [
      ['a', later],
      ['b', null],
    ],
  );
  assert.deepEqual((await mine.changes(id)).items.length, 2, 'from the beginning again');
  const elsewhere = await mine.made('list', 'Other changes');
  const wrong = await mine.call(`/${elsewhere.id}/changes?cursor=${first.nextCursor}`);
  assert.equal(problemCode(wrong), 'invalid_cursor');
});

test('whoever loses access while they wait for changes is told so at once', async () => {
  const outer = await mine.made('folder', 'Lost');
  const { id } = await mine.made('list', 'Within', outer.id);
  await share(mine, his, outer.id, 'viewer');
  const { nextCursor } = await his.changes(id);
  const waits = his.call(`/${id}/changes?cursor=${nextCursor}`);
  const member = (await mine.members(outer.id)).find(({ role }) => role === 'viewer');
  assert.equal((await mine.call(`/${outer.id}/members/${member?.id}`, { method: 'DELETE' })).status, 204);
  assert.equal(problemCode(await waits), 'not_found');
});

test('a frontend uses collections as its backend does, and reads the tag from a page', async () => {
  const { id } = await mine.made('list', 'Page');
  const page = await mine.app.openFrontend();
  const put = await page.call(`/v1/services/content/collections/${id}/items/a`, {
    method: 'PUT',
    body: Buffer.from('x'),
    headers: { 'content-type': 'text/plain;charset=UTF-8', 'if-none-match': '*' },
  });
  assert.equal(put.status, 201, put.text);
  assert.match(String(put.headers['access-control-expose-headers']), /\bETag\b/);
});

test('an owner who is deleted leaves what they shared to be read for thirty days', async () => {
  const finn = await registerAccount(world, 'finn-shares');
  const theirs = await contentApp(world, finn, APP);
  const outer = await theirs.made('folder', 'Left behind');
  const { id } = await theirs.made('list', 'Within', outer.id);
  const unshared = await theirs.made('list', 'Private');
  await theirs.wrote(id, 'a', 'keep me');
  await theirs.wrote(unshared.id, 'b', 'gone');
  await share(theirs, his, outer.id, 'manager');
  await deleteAccount(world.core.context, { name: 'finn-shares' });
  const { pool } = world.core.context;
  const { rows } = await pool.query("SELECT key FROM accounts WHERE name = 'finn-shares'");
  assert.deepEqual(rows, []);
  assert.equal((await his.call(`/${id}/items/a`)).text, 'keep me');
  assert.equal(problemCode(await his.put(id, 'a', 'x')), 'content_conflict');
  assert.equal(problemCode(await his.call(`/${outer.id}`, { method: 'DELETE' })), 'content_conflict');
  const left = await pool.query('SELECT id FROM content_collections WHERE id = ANY ($1)', [[unshared.id, id]]);
  assert.deepEqual(
    left.rows.map((row) => (row as { id: string }).id),
    [id],
  );
  const told = await until('a notification', async () => {
    const { items } = await ben.browser.take<{ items: { title: string }[] }>('/v1/notifications');
    return items.find(({ title }) => title.startsWith('What finn-shares shared with you ends on '));
  });
  assert.ok(told);
});
