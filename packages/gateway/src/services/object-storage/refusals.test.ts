// What object storage refuses, in the words of S3, and what of the store an app never sees.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refused, storageScene } from '../../../test-support/storage-scene.ts';
import { OTHER_PREFIX, PREFIX } from '../../../test-support/storage-under-test.ts';

const scene = storageScene();

test('a client without the session token is told what to give it, and a presigned address what to send', async () => {
  const headers = { 'x-amz-security-token': '' };
  assert.match((await scene.storage.send({ path: '/app/one', headers })).body, /PLATFORM_S3_SESSION_TOKEN/);
  const path = '/app/one?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Security-Token=pgw&X-Amz-Signature=00';
  const presigned = await scene.storage.send({ path, headers });
  refused(presigned, 400, 'InvalidRequest');
  assert.match(presigned.body, /send the request itself/);
});

test('every answer has an X-Request-Id: of the store, of the Gateway and of a refusal', async () => {
  for (const [request, status] of [
    [{ method: 'PUT', path: '/app/named', body: 'x' }, 200],
    [{ path: '/app/named' }, 200],
    [{ method: 'HEAD', path: '/app/named' }, 200],
    [{ path: '/app?list-type=2' }, 200],
    [{ method: 'HEAD', path: '/app' }, 200],
    [{ path: '/app?location' }, 200],
    [{ path: '/app/missing' }, 404],
    [{ path: '/app?acl' }, 403],
    [{ path: '/app/named', headers: { 'x-amz-security-token': '' } }, 403],
  ] as const) {
    const answer = await scene.storage.send(request);
    assert.equal(answer.status, status, request.path);
    assert.match(String(answer.headers['x-request-id']), /^[\w-]{36}$/, request.path);
  }
});

test('the session token is what counts: none, another one and two are refused, whoever signed', async () => {
  for (const headers of [
    { 'x-amz-security-token': '' },
    { 'x-amz-security-token': 'pgw_of-another' },
    { 'x-amz-security-token': ['pgw_of-another', 'pgw_of-another'] },
  ] as Record<string, string | string[]>[])
    refused(await scene.storage.send({ path: '/app/one', headers }), 403, 'AccessDenied');
  assert.equal(scene.storage.store.seen.length, 0);
});

test('more requests than the rate allows are refused without the store, for as long as it takes', async () => {
  const { gateway } = scene.storage.under;
  const { store } = scene.storage;
  const unreached = { perMinute: 10_000_000, burst: 10_000_000 };
  const list = () => scene.storage.send({ path: '/app?list-type=2' });
  await gateway.apply({ revision: 2, objectStorage: true, objectStorageRate: { perMinute: 1, burst: 3 } });
  for (let count = 0; count < 3; count += 1) assert.equal((await list()).status, 200);
  const seen = store.seen.length;
  // Also what would be answered or refused without the store.
  for (const [method, path] of [
    ['GET', '/app?list-type=2'],
    ['GET', '/app?location'],
    ['GET', '/app?acl'],
    ['PUT', '/app/one'],
  ] as const) {
    const answer = await scene.storage.send({ method, path });
    refused(answer, 503, 'SlowDown');
    assert.ok(Number(answer.headers['retry-after']) > 1);
  }
  assert.equal(store.seen.length, seen);
  await gateway.apply({ revision: 3, objectStorage: true, objectStorageRate: { perMinute: 10_000_000, burst: 1 } });
  assert.equal((await list()).status, 200);
  await gateway.apply({ revision: 4, objectStorage: true, objectStorageRate: unreached });
});

for (const [what, request, status, code] of [
  [
    'a presigned address',
    { path: '/app/one?X-Amz-Signature=00&X-Amz-Algorithm=AWS4-HMAC-SHA256' },
    400,
    'InvalidRequest',
  ],
  [
    'a presigned address of the former kind',
    { path: '/app/one?AWSAccessKeyId=a&Signature=b&Expires=1' },
    400,
    'InvalidRequest',
  ],
  [
    'a streaming signature',
    {
      method: 'PUT',
      path: '/app/one',
      headers: { 'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER' },
      body: 'x',
    },
    400,
    'InvalidRequest',
  ],
  [
    'a chunked signature',
    { method: 'PUT', path: '/app/one', headers: { 'content-encoding': 'gzip,aws-chunked' } },
    400,
    'InvalidRequest',
  ],
  [
    'a trailing checksum',
    { method: 'PUT', path: '/app/one', headers: { 'x-amz-trailer': 'x-amz-checksum-crc32' } },
    400,
    'InvalidRequest',
  ],
  [
    'a body that is not what its hash says',
    { method: 'PUT', path: '/app/one', headers: { 'x-amz-content-sha256': '0'.repeat(64) }, body: 'x' },
    400,
    'XAmzContentSHA256Mismatch',
  ],
  [
    'a public object',
    { method: 'PUT', path: '/app/one', headers: { 'x-amz-acl': 'public-read' }, body: 'x' },
    501,
    'NotImplemented',
  ],
  [
    'a lock',
    { method: 'PUT', path: '/app/one', headers: { 'x-amz-object-lock-mode': 'COMPLIANCE' }, body: 'x' },
    501,
    'NotImplemented',
  ],
  ['another bucket', { path: '/operators-bucket/one' }, 403, 'AccessDenied'],
  ['all buckets', { path: '/' }, 403, 'AccessDenied'],
  ['a new bucket', { method: 'PUT', path: '/app' }, 403, 'AccessDenied'],
  ['the bucket’s end', { method: 'DELETE', path: '/app' }, 403, 'AccessDenied'],
  ['a policy', { path: '/app?policy' }, 403, 'AccessDenied'],
  ['an access list', { method: 'PUT', path: '/app/one?acl' }, 403, 'AccessDenied'],
  ['versions', { path: '/app?versions' }, 403, 'AccessDenied'],
  ['a version', { path: '/app/one?versionId=1' }, 403, 'AccessDenied'],
  ['a parameter twice', { path: '/app?list-type=2&prefix=a&prefix=b' }, 400, 'InvalidArgument'],
  ...[
    'uploadId=../../x',
    'uploadId=a%5c..%5cb',
    'uploadId=..',
    `uploadId=${'a'.repeat(5_000)}`,
    'partNumber=../1',
    'partNumber=-1',
    'response-content-type=a%0d%0aset-cookie:%20b',
    'response-content-disposition=%00',
  ].map((query) => [`the value ${query.slice(0, 60)}`, { path: `/app/one?${query}` }, 400, 'InvalidArgument'] as const),
  ...[
    'list-type=2&max-keys=-1',
    'list-type=2&max-keys=1e3',
    'list-type=3',
    'list-type=2&continuation-token=a/../b',
    'delimiter=%0a',
    'encoding-type=base64',
    'uploads&upload-id-marker=..%2fx',
    'list-type=2&fetch-owner=%00true',
  ].map((query) => [`the value ${query}`, { path: `/app?${query}` }, 400, 'InvalidArgument'] as const),
  [
    'a version to copy',
    { method: 'PUT', path: '/app/one', headers: { 'x-amz-copy-source': '/app/two?versionId=1' } },
    403,
    'AccessDenied',
  ],
  [
    'a copy to nowhere',
    { method: 'POST', path: '/app/one?uploads', headers: { 'x-amz-copy-source': '/app/two' } },
    400,
    'InvalidRequest',
  ],
  [
    'a document with a type',
    { method: 'POST', path: '/app?delete', body: '<!DOCTYPE a [<!ENTITY b "c">]><Delete/>' },
    400,
    'MalformedXML',
  ],
  [
    'a document with an unknown entity',
    { method: 'POST', path: '/app?delete', body: '<Delete><Object><Key>&b;</Key></Object></Delete>' },
    400,
    'MalformedXML',
  ],
  [
    '100,000 keys',
    {
      method: 'POST',
      path: '/app?delete',
      body: `<Delete>${'<Object><Key>a</Key></Object>'.repeat(100_000)}</Delete>`,
    },
    400,
    'MalformedXML',
  ],
  [
    'a version to delete',
    {
      method: 'POST',
      path: '/app?delete',
      body: '<Delete><Object><Key>a</Key><VersionId>1</VersionId></Object></Delete>',
    },
    501,
    'NotImplemented',
  ],
  [
    'a body over the limit',
    { method: 'PUT', path: '/app/one', body: Buffer.alloc(16 * 1024 * 1024 + 1) },
    400,
    'EntityTooLarge',
  ],
] as const)
  test(`${what} is refused, and never reaches the store`, async () => {
    const answer = await scene.storage.send(request as never);
    refused(answer, status, code);
    assert.equal(scene.storage.store.seen.length, 0);
  });

test('trouble between the platform and its store is not shown to the app, and stands in the log', async () => {
  for (const [status, code] of [
    [403, 'InvalidAccessKeyId'],
    [403, 'SignatureDoesNotMatch'],
    [404, 'NoSuchBucket'],
    [301, 'PermanentRedirect'],
  ] as const) {
    scene.storage.store.next = (_req, res) =>
      res
        .writeHead(status, { location: 'http://elsewhere/' })
        .end(
          `<Error><Code>${code}</Code><Message>canary-store-secret</Message><AWSAccessKeyId>AKFAKE</AWSAccessKeyId></Error>`,
        );
    const answer = await scene.storage.send({ path: '/app/one' });
    refused(answer, 503, 'ServiceUnavailable');
    assert.ok(!JSON.stringify(answer).includes('canary') && !JSON.stringify(answer).includes('elsewhere'));
    const [last] = scene.storage.under.events.slice(-1);
    assert.deepEqual(last?.event === 'upstream_failure' && [last.upstream, last.reason], [
      'object-store',
      status === 301 ? 'STATUS_301' : code,
    ]);
  }
});

test('the refusal of a streaming signature names the switch of each client', async () => {
  for (const headers of [
    {
      'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
      'user-agent': 'MinIO (linux; amd64) minio-go/v7.0.90',
    },
    { 'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER' },
    { 'x-amz-content-sha256': 'streaming-unsigned-payload-trailer' },
    { 'content-encoding': 'aws-chunked' },
    { 'x-amz-decoded-content-length': '1' },
  ] as Record<string, string>[]) {
    const answer = await scene.storage.send({ method: 'PUT', path: '/app/one', headers, body: 'x' });
    refused(answer, 400, 'InvalidRequest');
    for (const named of [
      ...[
        'AWS_REQUEST_CHECKSUM_CALCULATION=when_required',
        'chunkedEncodingEnabled(false)',
        'UseChunkEncoding = false',
      ],
      ...['minio-go: PutObjectOptions{DisableContentSha256: true}', 'RCLONE_S3_USE_DATA_INTEGRITY_PROTECTIONS=false'],
      ...['s3cmd', 'restic has no switch: use its rclone backend'],
    ])
      assert.ok(answer.body.includes(named), named);
  }
  assert.equal(scene.storage.store.seen.length, 0);
});

test('answers with a document type, entities of their own or more names than a listing has do not pass', async () => {
  const names = (count: number) => `<Contents><Key>${PREFIX}a</Key></Contents>`.repeat(count);
  for (const [document, passes] of [
    [`<ListBucketResult>${names(1_000)}</ListBucketResult>`, true],
    [`<ListBucketResult>${names(100_000)}</ListBucketResult>`, false],
    ['<!DOCTYPE a [<!ENTITY b "c">]><ListBucketResult/>', false],
    ['<!DOCTYPE a SYSTEM "file:///etc/passwd"><ListBucketResult/>', false],
    [`<ListBucketResult><Contents><Key>${PREFIX}&b;</Key></Contents></ListBucketResult>`, false],
    [`${'<a>'.repeat(1_000)}${'</a>'.repeat(1_000)}`, false],
  ] as const) {
    scene.storage.store.next = (_req, res) => res.end(document);
    const answer = await scene.storage.send({ path: '/app?list-type=2' });
    if (passes) assert.equal(answer.status, 200, answer.body);
    else refused(answer, 503, 'ServiceUnavailable');
  }
});

test('an answer that names something outside the prefix does not pass', async () => {
  scene.storage.store.next = (_req, res) =>
    res.end(`<ListBucketResult><Contents><Key>${OTHER_PREFIX}diary</Key></Contents></ListBucketResult>`);
  const answer = await scene.storage.send({ path: '/app?list-type=2' });
  refused(answer, 503, 'ServiceUnavailable');
  assert.ok(!answer.body.includes('diary'));
});
