// Objects that are deleted with an account or with the data of an app: all of them, nobody else's, however the store
// behaves and whichever core ends in the middle of it.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { inspect } from 'node:util';
import { accountDisk, workloadDetail } from '@platform/contract';
import { type NodeDouble, startNodeDouble } from '../../packages/core/test-support/node-double.ts';
import {
  type FakeStore,
  REGION,
  STORE_CREDENTIALS,
  startFakeStore,
} from '../../packages/gateway/test-support/fake-store.ts';
import { type Photographer, type StorageWorld, startStorageWorld } from '../support/storage-world.ts';
import { until } from '../support/wait.ts';

const BUCKET = 'objects-of-apps';
const HOUR = 60 * 60_000;

let store: FakeStore;
let world: StorageWorld;
let node: NodeDouble;
let leaver: Photographer;
let stays: Photographer;
let count = 0;

before(async () => {
  store = await startFakeStore(BUCKET);
  const place = { endpoint: store.origin, region: REGION, bucket: BUCKET, pathStyle: true };
  world = await startStorageWorld({ ...place, credentials: STORE_CREDENTIALS });
  node = await startNodeDouble(world.platform);
});
after(async () => {
  await world?.close();
  await node?.close();
  await store?.close();
});
beforeEach(async () => {
  count += 1;
  leaver = await world.photographer(`leaver-${count}`);
  stays = await world.photographer(`stays-${count}`);
  put(stays, 'a');
});
afterEach(async () => {
  store.credentials = STORE_CREDENTIALS;
  const { pool } = world.platform.core.context;
  await until('nothing is under way', async () => {
    const { rows } = await pool.query(
      'SELECT FROM data_deletions UNION ALL SELECT FROM abandoned_objects WHERE attempts > 0',
    );
    return rows.length === 0;
  });
  await pool.query('DELETE FROM abandoned_objects');
  store.objects.clear();
});

const put = ({ prefix }: Photographer, ...keys: string[]) => {
  for (const key of keys) store.objects.set(`/${BUCKET}/${prefix}${key}`, Buffer.from('x'));
};
const keysOf = ({ prefix }: Photographer) =>
  [...store.objects.keys()].filter((key) => key.startsWith(`/${BUCKET}/${prefix}`));
const isEmpty = (owner: Photographer) => keysOf(owner).length === 0;
const leave = () => world.deleteAccount(leaver.account.name);
const deleteData = (owner = leaver) => owner.account.fetch(`/v1/apps/${owner.appId}/data`, { method: 'DELETE' });

interface Waiting {
  readonly attempts: number;
  readonly due_at: Date;
  readonly abandoned_at: Date;
}

async function waiting(): Promise<Waiting[]> {
  const { rows } = await world.platform.core.context.pool.query<Waiting>(
    'SELECT attempts, due_at, abandoned_at FROM abandoned_objects WHERE installation_id = $1',
    [leaver.app.installationId],
  );
  return rows;
}

/** As if the account had been deleted so much earlier. Workers look when data of anybody is to be deleted. */
async function pass(milliseconds: number): Promise<void> {
  await world.platform.core.context.pool.query(
    `UPDATE abandoned_objects SET due_at = due_at - $1 * interval '1 millisecond',
                                  abandoned_at = abandoned_at - $1 * interval '1 millisecond'`,
    [milliseconds],
  );
  await stays.account.fetch('/v1/apps/launcher/data', { method: 'DELETE' });
}

/** What was sent to the store that deletes. */
const deletions = () =>
  store.seen
    .filter(({ method }) => method === 'DELETE' || method === 'POST')
    .map(({ path, body }) => `${path} ${body.toString()}`);

test('more objects than one page holds', async () => {
  put(leaver, ...Array.from({ length: 2_345 }, (_, n) => `photo-${n}`));
  await leave();
  await until('they are gone', () => isEmpty(leaver));
  assert.equal(keysOf(stays).length, 1);
});

test('what a Gateway still sent after the deletion is gone an hour later, and then it is forgotten', async () => {
  put(leaver, 'first');
  await leave();
  const row = await until('the first look', async () => {
    const [one] = await waiting();
    return one?.attempts === 0 ? one : undefined;
  });
  assert.equal(row.due_at.getTime(), row.abandoned_at.getTime() + HOUR);
  put(leaver, 'late');
  await pass(HOUR);
  await until('the last look', async () => (await waiting()).length === 0);
  assert.ok(isEmpty(leaver));
});

test('while the store refuses, they wait; its words and the key of it are in no log', async () => {
  put(leaver, 'a', 'b');
  store.credentials = { ...STORE_CREDENTIALS, secretAccessKey: 'rotated' };
  await leave();
  await until('it was tried twice', async () => ((await waiting())[0]?.attempts ?? 0) >= 2);
  assert.equal(keysOf(leaver).length, 2);
  store.credentials = STORE_CREDENTIALS;
  await until('they are gone', () => isEmpty(leaver));
  const log = inspect(world.platform.log, { depth: 10, maxArrayLength: null });
  assert.match(log, /the store answered 403 SignatureDoesNotMatch/);
  assert.ok(log.includes(leaver.app.installationId));
  assert.ok(!log.includes(STORE_CREDENTIALS.secretAccessKey) && !log.includes(STORE_CREDENTIALS.accessKeyId));
});

const listing = (name: string, listed = '') => `<${name}><IsTruncated>false</IsTruncated>${listed}</${name}>`;

/** What the store answers to the next requests, instead of what is true. */
function answerNext([first, ...others]: readonly string[]): void {
  store.next =
    first === undefined
      ? null
      : (_req, res) => {
          res.end(first);
          answerNext(others);
        };
}

for (const [what, prefixOf] of [
  ['another installation', () => stays.prefix],
  ['one whose id begins alike', () => leaver.prefix.replace(/\/$/, '0/')],
  ['one that dots lead to', () => `${leaver.prefix}../${stays.prefix.split('/')[1]}/`],
] as const)
  test(`a store that lists objects of ${what} makes core delete none of them`, async () => {
    put(leaver, 'own');
    const strange = `${prefixOf()}a`;
    const uploads = listing(
      'ListMultipartUploadsResult',
      `<Upload><Key>${strange}</Key><UploadId>u</UploadId></Upload>`,
    );
    const objects = listing('ListBucketResult', `<Contents><Key>${strange}</Key></Contents>`);
    answerNext([uploads, listing('ListMultipartUploadsResult'), objects]);
    const before = deletions().length;
    await leave();
    await until('they are gone', () => isEmpty(leaver));
    assert.equal(store.next, null, 'it has lied twice');
    const sent = deletions().slice(before);
    assert.equal(sent.length, 1);
    assert.ok(!sent.join().includes(strange), sent.join());
  });

test('a store that never ends to list what it deleted is asked again later', async () => {
  put(leaver, 'a');
  const before = deletions().length;
  const ghost = listing('ListBucketResult', `<Contents><Key>${leaver.prefix}a</Key></Contents>`);
  const none = listing('ListMultipartUploadsResult');
  // Deleted at once, then one by one, and still there.
  answerNext([none, ghost, '<DeleteResult/>', ghost, '', ghost]);
  await leave();
  await until('they are gone', () => isEmpty(leaver));
  assert.equal(store.next, null);
  const [first, second] = deletions().slice(before);
  assert.match(first ?? '', /<Key>/);
  assert.equal(second, `/${BUCKET}/${leaver.prefix}a `);
});

test('a core that is held up in the middle leaves the rest to another one', async () => {
  put(leaver, 'a');
  const held = Promise.withResolvers<ServerResponse>();
  store.next = (_req, res) => held.resolve(res);
  await leave();
  const never = await held.promise;
  // Its lease runs out.
  await pass(HOUR);
  await until('another one has done it', () => isEmpty(leaver));
  never.destroy();
});

test('the data of an app: it runs again when its objects are gone, and not before', async () => {
  put(leaver, 'a', 'b');
  store.credentials = { ...STORE_CREDENTIALS, secretAccessKey: 'rotated' };
  assert.equal((await deleteData()).status, 202);
  const before = store.seen.length;
  await until('it was tried', () => store.seen.length > before);
  assert.equal(await world.isAssigned(leaver), false);
  const { reason } = workloadDetail.parse((await leaver.account.fetch(`/v1/apps/${leaver.appId}/status`)).json);
  assert.equal(reason, 'Its data is being deleted.');
  store.credentials = STORE_CREDENTIALS;
  await until('it is assigned again', async () => await world.isAssigned(leaver));
  assert.ok(isEmpty(leaver));
  assert.equal(keysOf(stays).length, 1);
});

test('a removed app that left nothing but objects is listed until its owner deletes them', async () => {
  put(leaver, 'a');
  const left = async () =>
    accountDisk
      .parse((await leaver.account.fetch('/v1/account/disk')).json)
      .volumes.map(({ appId, bytes, installed }) => ({ appId, bytes, installed }));
  assert.deepEqual(await left(), [], 'while it is installed, its own page deletes them');
  assert.equal((await leaver.account.fetch(`/v1/apps/${leaver.appId}`, { method: 'DELETE' })).status, 204);
  assert.deepEqual(await left(), [{ appId: leaver.appId, bytes: 0, installed: false }]);
  assert.equal(keysOf(leaver).length, 1, 'an app that is installed again finds them');
  assert.equal((await deleteData()).status, 202);
  await until('it is not listed', async () => (await left()).length === 0);
  assert.ok(isEmpty(leaver));
});

test('its objects stay while its node may still run it', async () => {
  put(leaver, 'a');
  const running = node.answer;
  const released = Promise.withResolvers<void>();
  let asked = 0;
  node.answer = (call) => {
    if (!call.path.endsWith('/volume')) return running(call);
    asked += 1;
    if (asked === 2) released.resolve();
    return { status: 503, body: { code: 'workload_unavailable', detail: 'Its app is being removed.' } };
  };
  const before = deletions().length;
  await deleteData();
  await until('the node was asked twice', () => asked >= 2);
  await released.promise;
  assert.equal(keysOf(leaver).length, 1);
  assert.equal(deletions().length, before);
  node.answer = running;
  await until('it is assigned again', async () => await world.isAssigned(leaver));
  assert.ok(isEmpty(leaver));
});

test('an app that never had access to the store waits for neither node nor store', async () => {
  const before = store.seen.length;
  const calls = node.calls.length;
  const answer = await stays.account.fetch('/v1/apps/launcher/data', { method: 'DELETE' });
  assert.equal(answer.status, 202);
  await until('it is done', async () => {
    const { rows } = await world.platform.core.context.pool.query('SELECT FROM data_deletions');
    return rows.length === 0;
  });
  assert.deepEqual([store.seen.length, node.calls.length], [before, calls]);
});
