// What is left of a deleted account: what it shared, for a while, and nothing else.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { limits } from '@platform/contract';
import { registerAccount } from '../../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../../tests/support/constellation.ts';
import { problemCode } from '../../../../../tests/support/raw-http.ts';
import { until } from '../../../../../tests/support/wait.ts';
import { type ContentApp, contentApp, share } from '../../../test-support/content.ts';
import { deleteAccount } from '../../accounts/face.ts';
import { earlier } from '../../clock/clock-guard.ts';
import { sweepContent } from '../sweep.ts';

const APP = 'left-things';
const DAY = 86_400_000;

let world: Constellation;
let member: ContentApp;
before(async () => {
  world = await startConstellation();
  member = await contentApp(world, await registerAccount(world, 'stays-here'), APP);
});
after(() => world.close());

const pool = () => world.core.context.pool;
const proven = (milliseconds = 0) => earlier(world.core.context.time.proven(), -milliseconds);
async function sweep(milliseconds = 0): Promise<void> {
  while (await sweepContent(world.core.context, proven(milliseconds)));
}

/** A tree of which only a part has another member. */
async function partlyShared(name: string) {
  const theirs = await contentApp(world, await registerAccount(world, name), APP);
  const outer = await theirs.made('folder', 'Outer');
  const shared = await theirs.made('list', 'Shared', outer.id);
  const within = await theirs.made('list', 'Within', shared.id);
  const beside = await theirs.made('list', 'Beside', outer.id);
  for (const { id } of [outer, shared, within, beside]) await theirs.wrote(id, 'a', `of ${id}`);
  await theirs.app.call('/v1/services/files/private.txt', {
    ...{ method: 'PUT', body: Buffer.from('private'), headers: { 'content-type': 'text/plain' } },
  });
  await share(theirs, member, shared.id, 'editor');
  return { outer, shared, within, beside };
}

async function requireLeft({ outer, shared, within, beside }: Awaited<ReturnType<typeof partlyShared>>): Promise<void> {
  for (const { id } of [shared, within]) {
    assert.equal((await member.call(`/${id}/items/a`)).text, `of ${id}`);
    assert.equal(problemCode(await member.put(id, 'a', '')), 'content_conflict');
    assert.equal(problemCode(await member.call(`/${id}/items/a`, { method: 'DELETE' })), 'content_conflict');
  }
  const ids = [outer, shared, within, beside].map(({ id }) => id);
  const left = await pool().query<{ id: string; parent_id: string | null; items: string }>(
    `SELECT c.id, c.parent_id, (SELECT count(*) FROM content_items i WHERE i.collection_id = c.id) AS items
       FROM content_collections c WHERE c.id = ANY ($1) ORDER BY c.id`,
    [ids],
  );
  assert.deepEqual(
    left.rows.map(({ id, parent_id }) => [id, parent_id]),
    [
      [shared.id, null],
      [within.id, shared.id],
    ].sort(),
  );
  const bodies = await pool().query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM content_bodies b
       JOIN content_collections c ON c.space_id = b.space_id AND c.id = $1`,
    [shared.id],
  );
  assert.equal(bodies.rows[0]?.count, 2, 'of the two that are left');
}

test('of a tree with a part that is shared, that part stays for thirty days, and the rest goes at once', async () => {
  const tree = await partlyShared('leaves-a-part');
  await deleteAccount(world.core.context, { name: 'leaves-a-part' });
  await requireLeft(tree);
  await sweep();
  await requireLeft(tree);
  await sweep(limits.contentCopyDays.value * DAY + 60_000);
  assert.equal(problemCode(await member.call(`/${tree.shared.id}`)), 'not_found');
});

test('what an account leaves that a version deleted which knew nothing of collections is taken up by the sweep', async () => {
  const tree = await partlyShared('left-by-former');
  const { rows } = await pool().query<{ id: string }>(
    "UPDATE content_spaces SET owner_key = NULL WHERE owner_key = (SELECT key FROM accounts WHERE name = 'left-by-former') RETURNING id",
  );
  assert.equal(problemCode(await member.put(tree.shared.id, 'a', '')), 'content_conflict', 'nobody pays for it');
  await sweep();
  await requireLeft(tree);
  await until('the member to be told', async () => {
    const { items } = await member.account.browser.take<{ items: { title: string }[] }>('/v1/notifications');
    return items.some(({ title }) => title.startsWith('What a deleted account shared with you ends on '));
  });
  await sweep(limits.contentCopyDays.value * DAY + 60_000);
  const left = await pool().query('SELECT FROM content_spaces WHERE id = $1', [rows[0]?.id]);
  assert.equal(left.rows.length, 0);
});
