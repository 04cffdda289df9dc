// The objects of a deleted account and of an app whose data is deleted, in Debian's Swift, which verifies every signature
// and has a mind of its own about names, listings and uploads in parts.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { startNodeDouble } from '../../packages/core/test-support/node-double.ts';
import { type StorageWorld, startStorageWorld } from '../support/storage-world.ts';
import { lacksPython, type SwiftStore, startSwift } from '../support/swift-store.ts';
import { until } from '../support/wait.ts';

const BUCKET = 'objects-of-apps';
const MiB = 1024 * 1024;
/** Each is something that a request, a listing or a document could change. */
const NAMES = [
  'photos/one day é+&.txt',
  'a//b',
  '/c',
  'ends/',
  '100%25',
  'q?x=1#y',
  ' blank ',
  '<tag>&amp;',
  "it's*",
  '🐚',
];

describe('in Swift', { skip: lacksPython('swift', 'python3-swift') }, async () => {
  let swift: SwiftStore;
  let client: S3Client;
  let world: StorageWorld;

  before(async () => {
    swift = await startSwift();
    const { origin: endpoint, region, credentials } = swift;
    client = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
    await client.send(new CreateBucketCommand({ Bucket: BUCKET }));
    world = await startStorageWorld({ endpoint, region, bucket: BUCKET, pathStyle: true, credentials });
  });
  after(async () => {
    await world?.close();
    client?.destroy();
    await swift?.close();
  });

  const put = (Key: string) => client.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body: 'x' }));

  async function fill(prefix: string): Promise<void> {
    for (const name of NAMES) await put(prefix + name);
    const params = { Bucket: BUCKET, Key: `${prefix}large`, Body: Buffer.alloc(6 * MiB) };
    await new Upload({ client, params }).done();
    const upload = { Bucket: BUCKET, Key: `${prefix}never completed` };
    const { UploadId } = await client.send(new CreateMultipartUploadCommand(upload));
    await client.send(new UploadPartCommand({ ...upload, UploadId, PartNumber: 1, Body: Buffer.alloc(5 * MiB) }));
  }

  async function listed(): Promise<string[]> {
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: BUCKET }));
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: BUCKET }));
    return [...Contents, ...Uploads].map(({ Key = '' }) => Key).sort();
  }

  test('all objects and uncompleted uploads of a deleted account go, and nobody else’s', async () => {
    const leaver = await world.photographer('leaver');
    const stays = await world.photographer('stays');
    const similar = `${leaver.prefix.slice(0, -1)}0/of somebody else`;
    await fill(stays.prefix);
    await put(similar);
    const others = await listed();
    await fill(leaver.prefix);
    assert.equal((await listed()).length, 2 * others.length - 1);
    await world.deleteAccount('leaver');
    await until('the objects are gone', async () => (await listed()).length === others.length);
    assert.deepEqual(await listed(), others);
  });

  test('all of an app go when its owner deletes its data, before it runs again', async () => {
    const node = await startNodeDouble(world.platform);
    try {
      const owner = await world.photographer('keeper');
      const others = await listed();
      await fill(owner.prefix);
      const answer = await owner.account.fetch(`/v1/apps/${owner.appId}/data`, { method: 'DELETE' });
      assert.equal(answer.status, 202, answer.text);
      await until('it is assigned again', () => world.isAssigned(owner));
      assert.deepEqual(await listed(), others);
    } finally {
      await node.close();
    }
  });
});
