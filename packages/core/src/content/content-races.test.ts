// Changes that meet others half way: what is read is as of one moment, and what is counted is counted once nothing else changes.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { limits } from '@platform/contract';
import { registerAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { problemCode } from '../../../../tests/support/raw-http.ts';
import { until } from '../../../../tests/support/wait.ts';
import { type ContentApp, contentApp, share } from '../../test-support/content.ts';

const APP = 'raced-things';
const MiB = 1_048_576;

let world: Constellation;
let owner: ContentApp;
let viewer: ContentApp;

before(async () => {
  world = await startConstellation({ config: { accountDiskBytes: 40 * MiB } });
  owner = await contentApp(world, await registerAccount(world, 'owns-it'), APP);
  viewer = await contentApp(world, await registerAccount(world, 'views-it'), APP);
});
after(() => world.close());

async function usedBytes(): Promise<number> {
  const { rows } = await world.core.context.pool.query<{ bytes: number }>(
    "SELECT s.bytes::float8 AS bytes FROM content_spaces s JOIN accounts a ON a.key = s.owner_key WHERE a.name = 'owns-it'",
  );
  return rows[0]?.bytes ?? 0;
}

test('a deletion that is forgotten while changes are read is not missed', async () => {
  const { id } = await owner.made('list', 'Forgotten meanwhile');
  await owner.wrote(id, 'gone', '1');
  const { nextCursor } = await owner.changes(id);
  await owner.call(`/${id}/items/gone`, { method: 'DELETE' });
  await owner.wrote(id, 'new', '1');
  const { pool } = world.core.context;
  const client = await pool.connect();
  await client.query('BEGIN; LOCK TABLE content_items IN ACCESS EXCLUSIVE MODE');
  const reading = owner.call(`/${id}/changes?cursor=${nextCursor}`);
  await until('the reader to wait', async () => {
    const waiting = await pool.query("SELECT FROM pg_locks WHERE NOT granted AND relation = 'content_items'::regclass");
    return waiting.rows.length > 0;
  });
  await client.query("DELETE FROM content_items WHERE collection_id = $1 AND key = 'gone'", [id]);
  await client.query('UPDATE content_collections SET forgotten = change - 1, deletions = 0 WHERE id = $1', [id]);
  await client.query('COMMIT');
  client.release();
  assert.equal(problemCode(await reading), 'invalid_cursor');
});

test('the disk of a suspended owner is counted as any other, in sum', async () => {
  const { id } = await owner.made('list', 'Suspended');
  await share(owner, viewer, id, 'editor');
  const { pool } = world.core.context;
  const setSuspended = (at: string) => pool.query(`UPDATE accounts SET suspended_at = ${at} WHERE name = 'owns-it'`);
  await setSuspended('now()');
  try {
    const all = await Promise.all(
      Array.from({ length: 12 }, (_, n) => viewer.put(id, `small-${n}`, Buffer.alloc(40_000))),
    );
    for (const { status, text } of all) assert.equal(status, 201, text);
    const large = Array.from({ length: 4 }, (_, n) => viewer.put(id, `k${n}`, Buffer.alloc(10 * MiB)));
    const refused = (await Promise.all(large)).filter(({ status }) => status !== 201);
    assert.ok(refused.length > 0);
    for (const answer of refused) assert.equal(problemCode(answer), 'disk_quota');
  } finally {
    await setSuspended('NULL');
  }
  assert.ok((await usedBytes()) <= 40 * MiB);
  await owner.call(`/${id}`, { method: 'DELETE' });
});

test('what takes the place of an item is counted by what is there once it does', async () => {
  const { id } = await owner.made('list', 'Replaced');
  await owner.wrote(id, 'a', Buffer.alloc(200_000));
  const { pool } = world.core.context;
  const client = await pool.connect();
  await client.query(
    "BEGIN; SELECT FROM content_spaces WHERE owner_key = (SELECT key FROM accounts WHERE name = 'owns-it') FOR UPDATE",
  );
  const writing = owner.put(id, 'a', Buffer.alloc(200_000));
  await until('it to wait', async () => (await pool.query('SELECT FROM pg_locks WHERE NOT granted')).rows.length > 0);
  // Somebody deletes the item, and somebody else takes its room.
  await client.query('UPDATE content_items SET etag = NULL, size = NULL, body_id = NULL WHERE collection_id = $1', [
    id,
  ]);
  const ofOwner = "WHERE owner_key = (SELECT key FROM accounts WHERE name = 'owns-it')";
  await client.query(`UPDATE content_spaces SET bytes = ${40 * MiB} ${ofOwner}`);
  await client.query('COMMIT');
  client.release();
  assert.equal(problemCode(await writing), 'disk_quota');
  await pool.query(
    `UPDATE content_spaces s SET bytes = (SELECT sum(b.size + ${limits.keptBytes.value}) FROM content_bodies b WHERE b.space_id = s.id) ${ofOwner}`,
  );
  await owner.call(`/${id}`, { method: 'DELETE' });
});
