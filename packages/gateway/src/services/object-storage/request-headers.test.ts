// Which fields of a request reach a store: what S3 defines for its operation, and no command of a particular store.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../../../tests/support/fast-check.ts';
import { refused, storageScene } from '../../../test-support/storage-scene.ts';
import { passingFields } from './request-headers.ts';
import { S3Refusal } from './s3-error.ts';

const scene = storageScene();

/** By the documentation and the code of MinIO, RustFS, Ceph, Zenko, SeaweedFS and others. */
const COMMANDS = [
  'X-Amz-Meta-Snowball-Auto-Extract',
  'X-Amz-Meta-Minio-Snowball-Prefix',
  'X-Amz-Meta-Minio-Snowball-Ignore-Dirs',
  'X-Amz-Meta-Minio-Snowball-Ignore-Errors',
  'X-Amz-Meta-Acme-Snowball-Prefix',
  'X-Amz-Meta-RustFS-Snowball-Prefix',
  'X-Amz-Meta-X-Minio-Internal-Inline-Data',
  'X-Amz-Meta-Rgwx-Version-Id',
  'X-Amz-Meta-Rgwx-Source-Key',
  'X-Amz-Meta-Scal-Location-Constraint',
  'X-Minio-Extract',
  'X-Minio-Force-Delete',
  'X-Minio-Source-Mtime',
  'X-Minio-Source-Replication-Request',
  'X-Minio-Replication-Server-Side-Encryption-Sealed-Key',
  'X-Minio-Internal-Inline-Data',
  'X-Rustfs-Force-Delete',
  'X-Rgw-Auth',
  'X-Rgw-Storequery',
  'X-Rgw-Cloud',
  'Rgwx-Uid',
  'X-Object-Manifest',
  'X-Object-Meta-A',
  'X-Container-Read',
  'X-Delete-At',
  'X-Copy-From',
  'X-Goog-Copy-Source',
  'X-Dho-Acl',
  'Seaweed-Ttl',
  'X-Seaweedfs-Is-Directory-Key',
  'X-Seaweedfs-Upload-Id',
  'X-Seaweedfs-Principal',
  'X-Garage-Command',
  'X-Emc-Namespace',
  'X-Amz-Snowball-Auto-Extract',
  'X-Amz-Rename-Source',
  'X-Amz-Bucket-Object-Lock-Token',
  'X_Amz_Acl',
  'Destination',
  'X-Http-Method-Override',
];

test('no command of a store reaches it, with any operation, and the app learns why', async () => {
  for (const name of COMMANDS)
    for (const [method, path] of [
      ['PUT', '/app/one'],
      ['GET', '/app/one'],
      ['GET', '/app?list-type=2'],
      ['HEAD', '/app'],
      ['GET', '/app?location'],
      ['POST', '/app/one?uploads'],
      ['DELETE', '/app/one'],
    ] as const) {
      const seen = scene.storage.store.seen.length;
      const answer = await scene.storage.send({ method, path, headers: { [name]: 'true' } });
      assert.equal(answer.status, 400, `${method} ${path} with ${name}`);
      if (method !== 'HEAD') refused(answer, 400, 'InvalidRequest');
      assert.equal(scene.storage.store.seen.length, seen, name);
    }
});

test('metadata and the fields of an operation travel on, and what only describes a message stays here', async () => {
  const headers = {
    ...{ 'content-type': 'text/plain', 'cache-control': 'no-store', 'if-none-match': '*', 'user-agent': 'rclone/1' },
    ...{ 'x-amz-meta-mtime': '1', 'x-amz-meta-ball_of.snow': '2', traceparent: '00-a-b-01', 'x-amz-acl': 'private' },
  };
  const answer = await scene.storage.send({ method: 'PUT', path: '/app/with-fields', headers, body: 'x' });
  assert.equal(answer.status, 200, answer.body);
  const sent = scene.storage.store.seen.at(-1)?.headers ?? {};
  for (const name of ['content-type', 'cache-control', 'if-none-match', 'x-amz-meta-mtime', 'x-amz-meta-ball_of.snow'])
    assert.equal(sent[name], headers[name as keyof typeof headers], name);
  for (const name of ['traceparent', 'x-amz-acl']) assert.equal(sent[name], undefined, name);
});

test('a field of another operation, or with a value that it cannot have, is refused', async () => {
  for (const [method, path, name, value, code] of [
    ['GET', '/app/one', 'x-amz-meta-a', 'b', 'InvalidRequest'],
    ['PUT', '/app/one?partNumber=1&uploadId=u', 'x-amz-meta-a', 'b', 'InvalidRequest'],
    ['PUT', '/app/one', 'x-amz-metadata-directive', 'REPLACE', 'InvalidRequest'],
    ['PUT', '/app/one', 'x-amz-checksum-rot13', 'b', 'InvalidRequest'],
    ['PUT', '/app/one', 'x-amz-meta-', 'b', 'InvalidRequest'],
    ['PUT', '/app/one', "x-amz-meta-'a", 'b', 'InvalidRequest'],
    ['PUT', '/app/one', 'x-amz-checksum-type', '../x', 'InvalidArgument'],
  ] as const)
    refused(await scene.storage.send({ method, path, headers: { [name]: value } }), 400, code);
});

test('whatever fields a request has, what passes is in the list of its operation', () => {
  const name = fc.oneof(
    fc.constantFrom(...COMMANDS.map((one) => one.toLowerCase())),
    fc.stringMatching(/^x-(?:amz|minio|rgw|amz-meta|amz-meta-minio)-[a-z_.-]{0,12}$/),
    fc.stringMatching(/^[a-z-]{1,12}$/),
  );
  const known =
    /^(?:(?:cache-control|content-(?:disposition|encoding|language|md5|type)|expires|if-(?:none-)?match)$|x-amz-(?:checksum|sdk-checksum|meta)-)/;
  fc.assert(
    fc.property(fc.dictionary(name, fc.constant('1')), (fields) => {
      let passing: Record<string, string> = {};
      try {
        passing = passingFields('PutObject', new Map(Object.entries(fields)));
      } catch (error) {
        assert.ok(error instanceof S3Refusal);
      }
      for (const one of Object.keys(passing)) {
        assert.match(one, known);
        assert.doesNotMatch(one, /snowball|minio|rgwx|scal-/);
      }
    }),
  );
});
