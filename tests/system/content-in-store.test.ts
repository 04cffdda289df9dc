// Large bodies lie in the object store where one is configured: read back as they were put, never half, given back when nothing names
// them, and refused in words while the store fails.
import assert from 'node:assert/strict';
import { randomBytes as random } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { deleteAccount } from '@platform/core/operator';
import {
  type ContentApp,
  contentApp,
  deleteDoomedContent,
  sweepContentAsOf,
} from '../../packages/core/test-support/content.ts';
import {
  type FakeStore,
  REGION,
  STORE_CREDENTIALS,
  startFakeStore,
} from '../../packages/gateway/test-support/fake-store.ts';
import { registerAccount } from '../support/client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';

const MiB = 1_048_576;
const BUCKET = 'bucket-of-the-operator';

let store: FakeStore;
let world: Constellation;
let app: ContentApp;
before(async () => {
  store = await startFakeStore(BUCKET);
  const { origin: endpoint } = store;
  const objectStore = { endpoint, region: REGION, bucket: BUCKET, pathStyle: true, credentials: STORE_CREDENTIALS };
  world = await startConstellation({ config: { objectStore, accountDiskBytes: 100 * MiB } });
  app = await contentApp(world, await registerAccount(world, 'keeps-much'), 'keeps-much');
});
after(async () => {
  await world.close();
  await store.close();
});
beforeEach(() => {
  store.next = null;
});

const put = (name: string, body: Buffer, of = app) =>
  of.app.call(`/v1/services/files/${name}`, { method: 'PUT', body, headers: { 'content-type': 'application/x-test' } });
/** So many bytes of text. */
const randomText = (bytes: number) =>
  Buffer.from(
    random(Math.ceil(bytes / 2))
      .toString('hex')
      .slice(0, bytes),
  );
const bytesOf = async (name: string, of = app) => {
  const answer = await of.app.call(`/v1/services/files/${name}`);
  return { status: answer.status, text: answer.text };
};
const names = () => [...store.objects.keys()].filter((name) => name.startsWith(`/${BUCKET}/content/`));

async function count(table: string): Promise<number> {
  const { rows } = await world.core.context.pool.query<{ n: number }>(`SELECT count(*)::integer AS n FROM ${table}`);
  return rows[0]?.n ?? 0;
}

/** As if it were so much later. */
async function swept(milliseconds: number): Promise<void> {
  await sweepContentAsOf(world.core.context, milliseconds);
  while (await deleteDoomedContent(world.core.context));
}
const LATER = 4_000_000;

test('what is large lies in the store and is read back; what is small does not', async () => {
  const [large, small] = [randomText(2 * MiB + 1), randomText(1_000)];
  assert.equal((await put('large', large)).status, 201);
  assert.equal((await put('small', small)).status, 201);
  const pieces = names().length;
  assert.ok(pieces >= 3, `${pieces} pieces`);
  const { rows } = await world.core.context.pool.query('SELECT max(length(bytes)) AS most FROM content_pieces');
  assert.equal(rows[0].most, small.length);
  assert.ok((await bytesOf('large')).text === large.toString());
  assert.ok((await bytesOf('small')).text === small.toString());
  for (const name of ['large', 'small']) await app.app.call(`/v1/services/files/${name}`, { method: 'DELETE' });
  await swept(0);
  assert.equal(names().length, pieces, 'what was put a moment ago could still be on its way');
  await swept(LATER);
  assert.deepEqual([names(), await count('content_objects'), await count('content_doomed_objects')], [[], 0, 0]);
});

test('a store that fails while something is put leaves nothing of it, and what was there stays', async () => {
  const former = randomText(MiB);
  assert.equal((await put('kept', former)).status, 201);
  for (const answer of [500, 403, 503]) {
    let puts = 0;
    // The second piece.
    const failing = () => {
      store.next = (_request, response) => {
        puts += 1;
        if (puts === 1) failing();
        response.writeHead(puts === 1 ? 200 : answer).end();
      };
    };
    failing();
    const refused = await put('kept', randomText(3 * MiB));
    assert.deepEqual([refused.status, JSON.parse(refused.text).code], [503, 'unavailable'], refused.text);
    assert.match(refused.text, /object store .* Send it again/);
  }
  store.next = null;
  assert.ok((await bytesOf('kept')).text === former.toString());
  const there = await count('content_objects');
  await swept(LATER);
  assert.ok(names().length < there);
  assert.deepEqual([names().length, await count('content_doomed_objects')], [await count('content_objects'), 0]);
});

test('other bytes, fewer bytes and none are never passed on as what was put', async () => {
  const large = randomText(400 * 1_024);
  assert.equal((await put('exact', large)).status, 201);
  const [name = ''] = names().filter((one) => store.objects.get(one)?.equals(large));
  for (const wrong of [randomText(large.length), large.subarray(1), Buffer.alloc(0), Buffer.concat([large, large])]) {
    store.objects.set(name, wrong);
    const { status, text } = await bytesOf('exact');
    assert.deepEqual([status, JSON.parse(text).code], [503, 'unavailable']);
  }
  store.objects.delete(name);
  const lost = await bytesOf('exact');
  assert.deepEqual([lost.status, JSON.parse(lost.text).code], [503, 'unavailable'], 'lost is not deleted');
  assert.match(lost.text, /Tell its operator/);
  store.objects.set(name, large);
  assert.ok((await bytesOf('exact')).text === large.toString());
});

test('what a deleted account kept is deleted in the store, however long that is away', async () => {
  const other = await contentApp(world, await registerAccount(world, 'goes-away'), 'goes-away');
  const before = names().length;
  for (const name of ['a', 'b', 'c']) assert.equal((await put(name, randomText(MiB), other)).status, 201);
  const kept = names().length - before;
  assert.ok(kept >= 3);
  await deleteAccount(world.core.context, { name: 'goes-away' });
  store.next = (_request, response) => response.writeHead(500).end();
  const { context } = world.core;
  await sweepContentAsOf(context, LATER);
  assert.equal(await deleteDoomedContent(context), false);
  assert.equal(await count('content_doomed_objects'), kept);
  while (await deleteDoomedContent(context));
  await swept(LATER);
  assert.deepEqual([names().length, await count('content_doomed_objects')], [before, 0]);
});
