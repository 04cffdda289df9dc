// Requests that want of collections what they may not have: each is refused, and nothing of it stays.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { limits } from '@platform/contract';
import { registerAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { problemCode } from '../../../../tests/support/raw-http.ts';
import { answerInvitation, type ContentApp, contentApp, invitationsOf, share } from '../../test-support/content.ts';

const APP = 'attacked-things';
const MiB = 1_048_576;
const UNKNOWN = 'col-01890000-0000-7000-8000-000000000000';

let world: Constellation;
let owner: ContentApp;
let viewer: ContentApp;
let stranger: ContentApp;
let reader: ContentApp;

before(async () => {
  world = await startConstellation({ config: { accountDiskBytes: 40 * MiB } });
  owner = await contentApp(world, await registerAccount(world, 'owns-it'), APP);
  viewer = await contentApp(world, await registerAccount(world, 'views-it'), APP);
  stranger = await contentApp(world, await registerAccount(world, 'never-met'), APP);
  reader = await contentApp(world, owner.account, 'only-reads', [
    { id: 'content.collections.read', resources: ['list:*'] },
  ]);
});
after(() => world.close());

const usedBytes = async () => {
  const { rows } = await world.core.context.pool.query<{ said: string; there: string }>(
    `SELECT s.bytes::text AS said,
            (SELECT coalesce(sum(b.size + ${limits.keptBytes.value}), 0)::text FROM content_bodies b WHERE b.space_id = s.id) AS there
       FROM content_spaces s JOIN accounts a ON a.key = s.owner_key WHERE a.name = 'owns-it'`,
  );
  const { said, there } = rows[0] ?? { said: '0', there: '0' };
  assert.equal(said, there, 'what is counted is what is there');
  return Number(said);
};

/** Names that break a line, hide, turn around or are none. */
const NAMES = ['', ' ', '\u200b', '\u2800', 'a\nb', 'a\u0007', 'a\u202eb', 'a\u2066b', 'a\u2028b', 'x'.repeat(201)];
const KINDS = ['', 'List', 'a b', 'a:b', 'a*', '*', 'a/b', '..\u0000', 'ä', 'a'.repeat(65), 'list:', '\u202elist'];
for (const name of NAMES)
  test(`refused: a collection named ${JSON.stringify(name.slice(0, 20))}`, async () => {
    assert.equal(problemCode(await owner.call('', { body: { kind: 'list', name } })), 'invalid_request');
    const { id } = await owner.made('list', 'Renamed');
    const renamed = await owner.call(`/${id}`, { method: 'PATCH', body: { name } });
    assert.equal(problemCode(renamed), 'invalid_request');
  });
for (const kind of KINDS)
  test(`refused: a collection of the kind ${JSON.stringify(kind.slice(0, 20))}`, async () => {
    assert.equal(problemCode(await owner.call('', { body: { kind, name: 'x' } })), 'invalid_request');
  });

/** Keys as they stand in the path. */
const KEYS = [
  ...['..', '.', '%2e%2e', '%2E', 'a%2fb', 'a%5cb', 'a%00', '%00', 'a%20b', 'a%C3%A4', 'a%E2%80%AEb', 'a%0Ab'],
  ...['a+b', 'a:b', 'a@b', "a'b", 'a*', `${'a'.repeat(129)}`, 'a%2e%2e%2fb', '%zz'],
];
for (const key of KEYS)
  test(`refused: an item under ${JSON.stringify(key.slice(0, 30))}`, async () => {
    const { id } = await owner.made('list', 'Keys');
    const answer = await owner.put(id, key, 'x');
    assert.ok([400, 404, 405].includes(answer.status), `${answer.status} ${answer.text}`);
    assert.deepEqual(await owner.items(id), []);
  });

test('keys that differ in case alone are different items, however many', async () => {
  const { id } = await owner.made('list', 'Case');
  const name = 'abcdefghij';
  const variants = Array.from({ length: 100 }, (_, n) =>
    [...name].map((letter, bit) => ((n >> bit) & 1 ? letter.toUpperCase() : letter)).join(''),
  );
  for (const key of variants) assert.equal((await owner.put(id, key, key)).status, 201);
  for (const key of variants) assert.equal((await owner.call(`/${id}/items/${key}`)).text, key);
});

test('what only a role, only an admission or only a grant allows is refused', async () => {
  const { id } = await owner.made('list', 'Three ways');
  assert.equal(problemCode(await reader.call(`/${id}`)), 'not_found', 'a role and a grant');
  await share(owner, viewer, id, 'viewer');
  const members = await owner.members(id);
  await owner.call(`/${id}/members/${members.at(-1)?.id}`, { method: 'DELETE' });
  assert.equal(problemCode(await viewer.call(`/${id}`)), 'not_found', 'what is left of an admission, and a grant');
  const { pool } = world.core.context;
  await pool.query('INSERT INTO content_admissions VALUES ($1, $2, now())', [id, reader.app.installationId]);
  assert.equal((await reader.call(`/${id}`)).status, 200, 'all three');
  assert.equal(problemCode(await reader.put(id, 'a', 'x')), 'grant_missing');
  const { id: note } = await owner.made('note', 'Another kind');
  await pool.query('INSERT INTO content_admissions VALUES ($1, $2, now())', [note, reader.app.installationId]);
  assert.equal(problemCode(await reader.call(`/${note}`)), 'not_found', 'a role and an admission');
  assert.deepEqual(await reader.listed(), [id]);
});

test('a collection never lies within itself, be it that two moves race', async () => {
  const [a, b, c] = [await owner.made('x', 'a'), await owner.made('x', 'b'), await owner.made('x', 'c')];
  const into = (id: string, parentId: string | null) => owner.call(`/${id}`, { method: 'PATCH', body: { parentId } });
  assert.equal(problemCode(await into(a.id, a.id)), 'content_conflict');
  for (let round = 0; round < 10; round += 1) {
    const moves = await Promise.all([into(a.id, b.id), into(b.id, c.id), into(c.id, a.id)]);
    const done = moves.filter(({ status }) => status === 200);
    assert.equal(done.length, 2, moves.map(({ status }) => status).join());
    for (const { status, json } of moves)
      assert.ok(status === 200 || (json as { code: string }).code === 'content_conflict');
    for (const id of [a.id, b.id, c.id]) assert.equal((await owner.call(`/${id}`)).status, 200);
    for (const id of [a.id, b.id, c.id]) assert.equal((await into(id, null)).status, 200);
  }
});

test('collections lie within each other so deep and no deeper', async () => {
  let parent = (await owner.made('deep', '1')).id;
  const top = parent;
  for (let depth = 2; depth <= limits.collectionDepth.value; depth += 1)
    parent = (await owner.made('deep', String(depth), parent)).id;
  const deeper = await owner.call('', { body: { kind: 'deep', name: 'x', parentId: parent } });
  assert.equal(problemCode(deeper), 'content_conflict');
  const lone = await owner.made('deep', 'lone');
  const moved = await owner.call(`/${top}`, { method: 'PATCH', body: { parentId: lone.id } });
  assert.equal(problemCode(moved), 'content_conflict', 'with all that is in it');
});

test('nothing moves into what another owns, or what cannot be read', async () => {
  const theirs = await stranger.made('x', 'theirs');
  const mine = await owner.made('x', 'mine');
  await share(stranger, owner, theirs.id, 'manager');
  const into = (parentId: string) => owner.call(`/${mine.id}`, { method: 'PATCH', body: { parentId } });
  assert.equal(problemCode(await into(theirs.id)), 'content_conflict');
  assert.equal(problemCode(await into((await stranger.made('x', 'hidden')).id)), 'not_found');
  assert.equal(problemCode(await into(UNKNOWN)), 'not_found');
  const within = await owner.call('', { body: { kind: 'x', name: 'within', parentId: theirs.id } });
  assert.equal(within.status, 201, 'a manager makes one within it, which is its owner’s');
  const made = (within.json as { collection: { id: string; role: string } }).collection;
  assert.equal(made.role, 'manager');
  assert.equal((await stranger.call(`/${made.id}`)).status, 200);
});

test('a manager moves what they manage at both ends, and takes nothing out of what its owner has', async () => {
  const outer = await stranger.made('x', 'outer');
  const inner = await stranger.made('x', 'inner', outer.id);
  const other = await stranger.made('x', 'other', outer.id);
  const elsewhere = await stranger.made('x', 'elsewhere');
  await share(stranger, owner, outer.id, 'manager');
  const into = (who: ContentApp, parentId: string | null) =>
    who.call(`/${inner.id}`, { method: 'PATCH', body: { parentId } });
  assert.equal(problemCode(await into(owner, null)), 'not_authorized', 'to where nobody but its owner manages');
  assert.equal(problemCode(await into(owner, elsewhere.id)), 'not_found', 'to where they manage nothing');
  assert.equal((await into(owner, other.id)).status, 200);
  assert.equal((await into(stranger, null)).status, 200, 'its owner');
  assert.deepEqual(
    (await stranger.members(inner.id)).map(({ role }) => role),
    ['owner'],
  );
  assert.equal(problemCode(await owner.call(`/${inner.id}`)), 'not_found');
});

test('who is removed from a collection has nothing left of what is within it', async () => {
  const outer = await stranger.made('x', 'outer');
  const inner = await stranger.made('x', 'inner', outer.id);
  const innermost = await stranger.made('x', 'innermost', inner.id);
  await share(stranger, owner, inner.id, 'editor');
  await share(stranger, viewer, innermost.id, 'viewer');
  await share(stranger, owner, outer.id, 'manager');
  await owner.call(`/${innermost.id}/members`, { body: { to: 'views-it', role: 'viewer' } });
  assert.equal((await stranger.invite(innermost.id, 'views-it', 'viewer')).status, 409);
  const member = (await stranger.members(outer.id)).find(({ role }) => role === 'manager');
  assert.equal((await stranger.call(`/${outer.id}/members/${member?.id}`, { method: 'DELETE' })).status, 204);
  for (const { id } of [outer, inner, innermost]) {
    assert.equal(problemCode(await owner.call(`/${id}`)), 'not_found');
    assert.equal(problemCode(await owner.put(id, 'a', 'x')), 'not_found');
  }
  await stranger.call(`/${inner.id}`, { method: 'PATCH', body: { parentId: null } });
  assert.equal(problemCode(await owner.call(`/${inner.id}`)), 'not_found', 'wherever it is moved to');
  assert.equal((await viewer.call(`/${innermost.id}`)).status, 200, 'others keep what they have');
});

test('a member who is removed while they write has written nothing', async () => {
  for (let round = 0; round < 5; round += 1) {
    const { id } = await owner.made('list', `Removed ${round}`);
    await share(owner, viewer, id, 'editor');
    const editor = (await owner.members(id)).find(({ role }) => role === 'editor');
    const writes = Array.from({ length: 6 }, (_, n) => viewer.put(id, `k${n}`, 'x'.repeat(300_000)));
    const removed = await owner.call(`/${id}/members/${editor?.id}`, { method: 'DELETE' });
    assert.equal(removed.status, 204);
    const there = (await owner.items(id)).length;
    const done = (await Promise.all(writes)).filter(({ status }) => status === 201).length;
    assert.equal((await owner.items(id)).length, there, 'nothing came after the answer');
    assert.equal(there, done);
    await owner.call(`/${id}`, { method: 'DELETE' });
  }
  await usedBytes();
});

test('uploads at the same time never take more together than there is', async () => {
  const { id } = await owner.made('list', 'Quota');
  const before = await usedBytes();
  const size = 10 * MiB;
  const uploads = await Promise.all(Array.from({ length: 4 }, (_, n) => owner.put(id, `k${n}`, Buffer.alloc(size))));
  const refused = uploads.filter(({ status }) => status !== 201);
  assert.ok(refused.length >= 1, uploads.map(({ status }) => status).join());
  for (const answer of refused) assert.equal(problemCode(answer), 'disk_quota');
  const stored = uploads.length - refused.length;
  assert.equal((await usedBytes()) - before, stored * (size + limits.keptBytes.value));
  await owner.call(`/${id}`, { method: 'DELETE' });
  assert.equal(await usedBytes(), before, 'and all of it is given back');
});

test('what others write takes the owner’s space, and they learn nothing of how much is left', async () => {
  const { id } = await owner.made('list', 'Owner pays');
  await share(owner, viewer, id, 'editor');
  const answers = [];
  for (let n = 0; n < 5; n += 1) answers.push(await viewer.put(id, `k${n}`, Buffer.alloc(9 * MiB)));
  const last = answers.at(-1);
  assert.ok(last);
  assert.equal(problemCode(last), 'disk_quota');
  assert.doesNotMatch(last.text, /MiB|your account/);
  await owner.call(`/${id}`, { method: 'DELETE' });
});

test('an item has so many bytes and no more, said before it is sent or while it is', async () => {
  const { id } = await owner.made('list', 'Large');
  const most = limits.collectionItem.value;
  assert.equal((await owner.put(id, 'most', Buffer.alloc(most, 7))).status, 201);
  assert.equal(problemCode(await owner.put(id, 'more', Buffer.alloc(most + 1))), 'payload_too_large');
  const { text } = await owner.call(`/${id}/items/most`);
  assert.equal(text.length, most);
  assert.deepEqual(
    (await owner.items(id)).map(({ key }) => key),
    ['most'],
  );
  await owner.call(`/${id}`, { method: 'DELETE' });
  await usedBytes();
});

/** What callers who may only read try. */
const OF_A_VIEWER: readonly (readonly [what: string, method: string, path: string, body?: object])[] = [
  ['write an item', 'PUT', '/items/a'],
  ['delete an item', 'DELETE', '/items/kept'],
  ['rename it', 'PATCH', '', { name: 'x' }],
  ['move it', 'PATCH', '', { parentId: null }],
  ['delete it', 'DELETE', ''],
  ['invite somebody', 'POST', '/members', { to: 'never-met', role: 'viewer' }],
];
for (const [what, method, path, body] of OF_A_VIEWER)
  test(`refused: a viewer who wants to ${what}`, async () => {
    const { id } = await owner.made('list', 'Viewed');
    await owner.wrote(id, 'kept', 'x');
    await share(owner, viewer, id, 'viewer');
    const settings = body === undefined ? {} : { body };
    assert.equal(problemCode(await viewer.call(`/${id}${path}`, { method, ...settings })), 'not_authorized');
    const ownerMember = (await viewer.members(id)).find(({ role }) => role === 'owner');
    const removed = await viewer.call(`/${id}/members/${ownerMember?.id}`, { method: 'DELETE' });
    assert.equal(problemCode(removed), 'not_authorized');
    assert.equal((await owner.call(`/${id}/items/kept`)).text, 'x');
  });

/** Whom nobody can invite. */
const ADDRESSES = ['owns-it', 'nobody-there', '@x:example.org', 'x@example.org', '', ' ', 'a b', '@', '\u202eviews-it'];
for (const to of ADDRESSES)
  test(`refused: an invitation to ${JSON.stringify(to)}`, async () => {
    const { id } = await owner.made('list', 'Invites');
    const answer = await owner.call(`/${id}/members`, { body: { to, role: 'viewer' } });
    assert.ok(['invalid_request', 'not_found'].includes(problemCode(answer)), answer.text);
  });

test('refused: an invitation as owner, with more members, and to what is not one’s own', async () => {
  const { id } = await owner.made('list', 'Invites');
  for (const body of [
    { to: 'views-it', role: 'owner' },
    { to: 'views-it', role: 'admin' },
    { to: 'views-it' },
    { to: ['views-it'], role: 'viewer' },
    { to: 'views-it', role: 'viewer', appId: 'store' },
  ])
    assert.equal(problemCode(await owner.call(`/${id}/members`, { body })), 'invalid_request', JSON.stringify(body));
  assert.equal(problemCode(await stranger.invite(id, 'views-it', 'viewer')), 'not_found');
  assert.equal(problemCode(await owner.invite(UNKNOWN, 'views-it', 'viewer')), 'not_found');
});

test('invitations to one person do not pile up, and neither do notifications of them', async () => {
  const sent = [];
  for (let n = 0; n <= limits.contentInvitationsToOne.value; n += 1) {
    const { id } = await stranger.made('list', `Pile ${n}`);
    sent.push(await stranger.invite(id, 'views-it', 'viewer'));
  }
  assert.deepEqual(
    sent.map(({ status }) => status),
    [...sent.slice(1).map(() => 201), 409],
  );
  const { pool } = world.core.context;
  const { rows } = await pool.query(
    `SELECT 1 FROM notifications n JOIN accounts a ON a.key = n.account_key
      WHERE a.name = 'views-it' AND title LIKE 'never-met wants%'
     UNION ALL
     SELECT 1 FROM content_notices n JOIN accounts a ON a.key = n.account_key
      WHERE a.name = 'views-it' AND notice ->> 'by' = 'never-met'`,
  );
  assert.ok(rows.length <= 1, `${rows.length} notifications`);
  for (const { id } of await invitationsOf(viewer.account)) await answerInvitation(viewer.account, id, 'decline', APP);
});

test('an installation waits for changes so often and no more', async () => {
  const { id } = await owner.made('list', 'Waits');
  const { nextCursor } = await owner.changes(id);
  const path = `/${id}/changes?cursor=${nextCursor}`;
  const all = Array.from({ length: limits.contentChangesWaits.value + 4 }, () => owner.call(path));
  const refused: unknown[] = [];
  const first = Promise.race(
    all.map(async (one) => {
      const answer = await one;
      if (answer.status === 429) refused.push(problemCode(answer));
      return answer;
    }),
  );
  assert.equal((await first).status, 429);
  await owner.wrote(id, 'a', '1');
  const statuses = (await Promise.all(all)).map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 429).length, 4);
  assert.equal(statuses.filter((status) => status === 200).length, limits.contentChangesWaits.value);
});

test('a cursor from before deletions that are forgotten begins anew, and one that began after goes on', async () => {
  const { id } = await owner.made('list', 'Forgotten');
  await owner.wrote(id, 'old', '1');
  await owner.wrote(id, 'gone', '1');
  const before = (await owner.changes(id)).nextCursor;
  await owner.call(`/${id}/items/gone`, { method: 'DELETE' });
  const { pool } = world.core.context;
  await pool.query("DELETE FROM content_items WHERE collection_id = $1 AND key = 'gone'", [id]);
  await pool.query('UPDATE content_collections SET forgotten = change, deletions = 0 WHERE id = $1', [id]);
  assert.equal(problemCode(await owner.call(`/${id}/changes?cursor=${before}`)), 'invalid_cursor');
  const again = await owner.changes(id);
  assert.deepEqual(
    again.items.map(({ key }) => key),
    ['old'],
  );
  await owner.wrote(id, 'new', '1');
  assert.deepEqual(
    (await owner.changes(id, again.nextCursor)).items.map(({ key }) => key),
    ['new'],
  );
});
