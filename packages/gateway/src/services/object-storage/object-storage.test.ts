import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { type Answer, until } from '../../../test-support/gateway-under-test.ts';
import {
  assertConfined,
  BUCKET,
  OTHER_PREFIX,
  PREFIX,
  type StorageUnderTest,
  startStorageUnderTest,
} from '../../../test-support/storage-under-test.ts';

let scene: StorageUnderTest;
before(async () => {
  scene = await startStorageUnderTest();
});
after(() => scene.close());
beforeEach(() => {
  scene.store.seen.length = 0;
  scene.store.objects.clear();
  scene.store.next = null;
});
/** Whatever a test did, nothing of it may have reached anything but the installation's own part. */
afterEach(() => assertConfined(scene.store.seen));

const codeOf = ({ body }: Answer) => /<Code>([^<]*)<\/Code>/.exec(body)?.[1];
const keysIn = ({ body }: Answer) => [...body.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key]) => key);
const inStore = (key: string) => scene.store.objects.get(`/${BUCKET}/${PREFIX}${key}`)?.toString();

function refused(answer: Answer, status: number, code: string): void {
  assert.equal(codeOf(answer), code, answer.body);
  assert.equal(answer.status, status);
  assert.match(answer.body, /<Message>[^<]{10,}<\/Message><RequestId>[0-9a-f-]{36}<\/RequestId>/);
  assert.equal(answer.headers['content-type'], 'application/xml');
}

test('an object is put, read, read in part, asked about, copied, listed and deleted', async () => {
  const body = Buffer.from('a photo');
  const put = await scene.send({
    method: 'PUT',
    path: '/app/photos/one%20day%20%C3%A9.png',
    headers: { 'content-type': 'image/png', 'x-amz-meta-colour': 'blue' },
    body,
  });
  assert.equal(put.status, 200, put.body);
  assert.equal(put.headers.etag, '"one"');
  assert.equal(inStore('photos/one day é.png'), 'a photo');
  assert.equal(scene.store.seen[0]?.headers['x-amz-meta-colour'], 'blue');

  const got = await scene.send({ path: '/app/photos/one%20day%20%C3%A9.png' });
  assert.deepEqual([got.status, got.body, got.headers['content-type']], [200, 'a photo', 'image/png']);
  assert.equal(got.headers['x-amz-meta-colour'], 'blue');
  assert.equal(got.headers['x-amz-id-2'], undefined);
  assert.equal(got.headers['set-cookie'], undefined);
  const part = await scene.send({ path: '/app/photos/one%20day%20%C3%A9.png', headers: { range: 'bytes=2-4' } });
  assert.deepEqual([part.status, part.body, part.headers['content-range']], [206, 'pho', 'bytes 2-4/7']);
  const head = await scene.send({ method: 'HEAD', path: '/app/photos/one%20day%20%C3%A9.png' });
  assert.deepEqual([head.status, head.headers['content-length'], head.body], [200, '7', '']);

  const copied = await scene.send({
    method: 'PUT',
    path: '/app/copy.png',
    headers: { 'x-amz-copy-source': '/app/photos/one%20day%20%C3%A9.png' },
  });
  assert.equal(copied.status, 200, copied.body);
  assert.match(
    copied.body,
    /<CopyObjectResult xmlns="http:\/\/s3.amazonaws.com\/doc\/2006-03-01\/"><ETag>&quot;one&quot;/,
  );
  assert.equal(inStore('copy.png'), 'a photo');

  const listed = await scene.send({ path: '/app?list-type=2&delimiter=%2F' });
  assert.deepEqual(keysIn(listed), ['copy.png']);
  assert.match(listed.body, /<CommonPrefixes><Prefix>photos\/<\/Prefix><\/CommonPrefixes>/);
  assert.match(listed.body, /<Name>app<\/Name><Prefix><\/Prefix>/);
  assert.ok(
    !listed.body.includes(BUCKET) && !listed.body.includes('installations/') && !listed.body.includes('operator'),
  );

  const gone = await scene.send({ method: 'DELETE', path: '/app/copy.png' });
  assert.equal(gone.status, 204);
  assert.equal(inStore('copy.png'), undefined);
  const missing = await scene.send({ path: '/app/copy.png' });
  refusedBy(missing, 404, 'NoSuchKey');
  assert.match(missing.body, /<Key>copy.png<\/Key>/);
  assert.equal((await scene.send({ method: 'HEAD', path: '/app/copy.png' })).status, 404);
});

/** An error of the store itself, in the app's words. */
function refusedBy(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, codeOf(answer)], [status, code], answer.body);
  assert.ok(!answer.body.includes(BUCKET) && !answer.body.includes('installations/'), answer.body);
}

test('a listing goes on where it ended, in both versions, encoded or not, and shows no neighbour', async () => {
  for (const key of ['a/1 ü', 'a/2', 'a/3', 'b/1'])
    scene.store.objects.set(`/${BUCKET}/${PREFIX}${key}`, Buffer.from('x'));
  scene.store.objects.set(`/${BUCKET}/${OTHER_PREFIX}a/4`, Buffer.from('x'));
  const first = await scene.send({ path: '/app?list-type=2&prefix=a%2F&max-keys=2&encoding-type=url' });
  assert.deepEqual(keysIn(first), ['a/1%20%C3%BC', 'a/2']);
  const token = /<NextContinuationToken>([^<]*)</.exec(first.body)?.[1] ?? '';
  const second = await scene.send({
    path: `/app?list-type=2&prefix=a%2F&max-keys=2&continuation-token=${encodeURIComponent(token)}`,
  });
  assert.deepEqual(keysIn(second), ['a/3']);
  const former = await scene.send({ path: '/app/?prefix=a%2F&max-keys=1' });
  assert.deepEqual(keysIn(former), ['a/1 ü']);
  assert.match(former.body, /<NextMarker>a\/1 ü<\/NextMarker>/);
  const next = await scene.send({ path: '/app/?prefix=a/&max-keys=1&marker=a%2F1%20%C3%BC' });
  assert.deepEqual(keysIn(next), ['a/2']);
  assert.match(next.body, /<Marker>a\/1 ü<\/Marker>/);
  const after = await scene.send({ path: '/app?list-type=2&start-after=a%2F3' });
  assert.deepEqual(keysIn(after), ['b/1']);
  const forged = Buffer.from(`${OTHER_PREFIX}a`).toString('base64');
  const elsewhere = await scene.send({ path: `/app?list-type=2&continuation-token=${encodeURIComponent(forged)}` });
  assert.deepEqual(keysIn(elsewhere), []);
});

test('a large object is uploaded in parts, of which one is copied', async () => {
  await scene.send({ method: 'PUT', path: '/app/source', body: 'second' });
  const begun = await scene.send({ method: 'POST', path: '/app/large?uploads' });
  assert.match(begun.body, /<Bucket>app<\/Bucket><Key>large<\/Key><UploadId>upload-1<\/UploadId>/);
  const put = await scene.send({ method: 'PUT', path: '/app/large?partNumber=1&uploadId=upload-1', body: 'first ' });
  assert.equal(put.headers.etag, '"part"');
  const copied = await scene.send({
    method: 'PUT',
    path: '/app/large?partNumber=2&uploadId=upload-1',
    headers: { 'x-amz-copy-source': 'app/source', 'x-amz-copy-source-range': 'bytes=0-5' },
  });
  assert.equal(copied.status, 200, copied.body);
  const parts = await scene.send({ path: '/app/large?uploadId=upload-1' });
  assert.match(parts.body, /<Key>large<\/Key><Part><PartNumber>1<\/PartNumber><\/Part>/);
  assert.ok(!parts.body.includes('operator'));
  const done = await scene.send({
    method: 'POST',
    path: '/app/large?uploadId=upload-1',
    body: '<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Part><PartNumber>1</PartNumber><ETag>"part"</ETag></Part><Part><PartNumber>2</PartNumber><ETag>"part"</ETag></Part></CompleteMultipartUpload>',
  });
  assert.equal(done.status, 200, done.body);
  assert.match(done.body, /<Location>http:\/\/127\.0\.0\.1:\d+\/app\/large<\/Location><Bucket>app<\/Bucket>/);
  assert.equal(inStore('large'), 'first second');
});

test('many objects are deleted at once, by names of the app', async () => {
  for (const key of ['one', 'two&three'])
    await scene.send({ method: 'PUT', path: `/app/${encodeURIComponent(key)}`, body: 'x' });
  const body = '<Delete><Object><Key>one</Key></Object><Object><Key>two&amp;three</Key></Object></Delete>';
  const answer = await scene.send({ method: 'POST', path: '/app?delete', body });
  assert.deepEqual(keysIn(answer), ['one', 'two&amp;three']);
  const sent = scene.store.seen.at(-1);
  assert.equal(
    sent?.headers['content-md5'],
    createHash('md5')
      .update(sent?.body ?? '')
      .digest('base64'),
  );
  assert.equal(scene.store.objects.size, 0);
});

test('what is known of the bucket is answered here', async () => {
  assert.equal((await scene.send({ method: 'HEAD', path: '/app' })).headers['x-amz-bucket-region'], 'us-east-1');
  assert.match((await scene.send({ path: '/app?location' })).body, /><\/LocationConstraint>/);
  assert.equal(scene.store.seen.length, 0);
});

test('a slash that is encoded is the same as a plain one, in paths, prefixes and copy sources, as in S3', async () => {
  await scene.send({ method: 'PUT', path: '/app/a%2Fb%2fc', body: 'kept' });
  assert.equal(inStore('a/b/c'), 'kept');
  assert.equal((await scene.send({ path: '/app/a/b/c' })).body, 'kept');
  assert.deepEqual(keysIn(await scene.send({ path: '/app?list-type=2&prefix=a%2Fb/' })), ['a/b/c']);
  for (const source of ['/app/a/b/c', 'app/a%2Fb/c', 'app%2Fa%2Fb%2Fc', '%2Fapp%2Fa/b/c']) {
    scene.store.objects.delete(`/${BUCKET}/${PREFIX}copy`);
    const headers = { 'x-amz-copy-source': source };
    assert.equal((await scene.send({ method: 'PUT', path: '/app/copy', headers })).status, 200, source);
    assert.equal(inStore('copy'), 'kept');
  }
});

test('a client without the session token is told what to give it, and a presigned address what to send', async () => {
  const headers = { 'x-amz-security-token': '' };
  assert.match((await scene.send({ path: '/app/one', headers })).body, /PLATFORM_S3_SESSION_TOKEN/);
  const path = '/app/one?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Security-Token=pgw&X-Amz-Signature=00';
  const presigned = await scene.send({ path, headers });
  refused(presigned, 400, 'InvalidRequest');
  assert.match(presigned.body, /send the request itself/);
});

test('the session token is what counts: none, another one and two are refused, whoever signed', async () => {
  for (const headers of [
    { 'x-amz-security-token': '' },
    { 'x-amz-security-token': 'pgw_of-another' },
    { 'x-amz-security-token': ['pgw_of-another', 'pgw_of-another'] },
  ] as Record<string, string | string[]>[])
    refused(await scene.send({ path: '/app/one', headers }), 403, 'AccessDenied');
  assert.equal(scene.store.seen.length, 0);
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
    { method: 'POST', path: '/app?delete', body: `<Delete>${'<Object><Key>a</Key></Object>'.repeat(60_000)}</Delete>` },
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
    const answer = await scene.send(request as never);
    refused(answer, status, code);
    assert.equal(scene.store.seen.length, 0);
  });

/** Each names something outside the prefix, in one reading or another. */
const HOSTILE_KEYS = [
  ...[
    '..',
    '.',
    '../x',
    'a/../x',
    'a/..',
    '%2e%2e',
    '%2e%2e/x',
    'a/%2e%2e/x',
    'a%2f..%2fx',
    '..%2fx',
    'a/%2E/x',
    '%2e',
    '.%2e/x',
  ],
  ...[
    '%00',
    'a%00b',
    'a%0ab',
    'a%0d%0ax',
    '%1f',
    '%7f',
    'a%ff',
    '%c0%ae%c0%ae/x',
    '%ed%a0%80',
    '%',
    '%zz',
    'a%2',
    '%ef%bf%bf',
  ],
  'x'.repeat(901),
  encodeURIComponent('é'.repeat(451)),
];
/** A key goes into each of them. */
const PLACES = {
  'the path of a read': (key: string) => ({ path: `/app/${key}` }),
  'the path of a write': (key: string) => ({ method: 'PUT', path: `/app/${key}`, body: 'x' }),
  'the path of a deletion': (key: string) => ({ method: 'DELETE', path: `/app/${key}` }),
  'the path of an upload in parts': (key: string) => ({ method: 'POST', path: `/app/${key}?uploads` }),
  'a copy source': (key: string) => ({
    method: 'PUT',
    path: '/app/one',
    headers: { 'x-amz-copy-source': `/app/${key}` },
  }),
  'the prefix of a listing': (key: string) => ({ path: `/app?list-type=2&prefix=${key}` }),
  'the begin of a listing': (key: string) => ({ path: `/app?list-type=2&start-after=${key}` }),
  'the marker of a listing': (key: string) => ({ path: `/app?marker=${key}` }),
  'the marker of a list of uploads': (key: string) => ({ path: `/app?uploads&key-marker=${key}` }),
} satisfies Record<string, (key: string) => object>;

for (const [place, request] of Object.entries(PLACES))
  test(`no key leads out of the prefix as ${place}`, async () => {
    for (const key of HOSTILE_KEYS) {
      const answer = await scene.send(request(key));
      // A HEAD has no body; all else says why.
      assert.ok(['InvalidArgument', 'KeyTooLongError'].includes(codeOf(answer) ?? ''), `${key}: ${answer.body}`);
      assert.equal(answer.status, 400);
    }
    assert.equal(scene.store.seen.length, 0);
  });

for (const source of [
  '/operators-bucket/one',
  'operators-bucket/one',
  '/app',
  'app',
  '',
  '//app/one',
  '/ap%70x/one',
  '/app%2F..%2Fone',
  '%2F%2Fapp%2Fone',
  'operators-bucket%2Fone',
])
  test(`the copy source ${JSON.stringify(source)} is refused`, async () => {
    const answer = await scene.send({ method: 'PUT', path: '/app/one', headers: { 'x-amz-copy-source': source } });
    assert.ok([400, 403].includes(answer.status), answer.body);
    assert.equal(scene.store.seen.length, 0);
  });

for (const key of [
  'a//b',
  '//a',
  'a/',
  ' ',
  '...',
  '..a',
  'a..',
  '%252e%252e',
  'a%2Bb',
  'a+b',
  "~!*()'",
  'ключ',
  '💡',
  'a\\b',
  'x'.repeat(900),
])
  test(`the key ${JSON.stringify(key.slice(0, 20))} is kept as it is`, async () => {
    const decoded = key.startsWith('%252e') ? '%2e%2e' : key === 'a%2Bb' ? 'a+b' : key;
    const encoded = key.includes('%') ? key : key.split('/').map(encodeURIComponent).join('/');
    const put = await scene.send({ method: 'PUT', path: `/app/${encoded}`, body: 'kept' });
    assert.equal(put.status, 200, put.body);
    assert.equal(inStore(decoded), 'kept', [...scene.store.objects.keys()].join());
    assert.equal((await scene.send({ path: `/app/${encoded}` })).body, 'kept');
  });

test('a fifth body at a time is told to slow down; reads go on, and a place is free again afterwards', async () => {
  const held: (() => void)[] = [];
  const hold = () => {
    scene.store.next = (_req, res) => {
      held.push(() => res.writeHead(200, { etag: '"one"' }).end());
    };
  };
  const puts: Promise<Answer>[] = [];
  for (let count = 1; count <= 4; count += 1) {
    hold();
    puts.push(scene.send({ method: 'PUT', path: `/app/held-${count}`, body: 'x' }));
    await until(() => held.length === count);
  }
  refused(await scene.send({ method: 'PUT', path: '/app/fifth', body: 'x' }), 503, 'SlowDown');
  assert.equal((await scene.send({ path: '/app?list-type=2' })).status, 200);
  for (const release of held) release();
  assert.deepEqual(
    (await Promise.all(puts)).map(({ status }) => status),
    [200, 200, 200, 200],
  );
  assert.equal((await scene.send({ method: 'PUT', path: '/app/fifth', body: 'x' })).status, 200);
});

test('trouble between the platform and its store is not shown to the app, and stands in the log', async () => {
  for (const [status, code] of [
    [403, 'InvalidAccessKeyId'],
    [403, 'SignatureDoesNotMatch'],
    [404, 'NoSuchBucket'],
    [301, 'PermanentRedirect'],
  ] as const) {
    scene.store.next = (_req, res) =>
      res
        .writeHead(status, { location: 'http://elsewhere/' })
        .end(
          `<Error><Code>${code}</Code><Message>canary-store-secret</Message><AWSAccessKeyId>AKFAKE</AWSAccessKeyId></Error>`,
        );
    const answer = await scene.send({ path: '/app/one' });
    refused(answer, 503, 'ServiceUnavailable');
    assert.ok(!JSON.stringify(answer).includes('canary') && !JSON.stringify(answer).includes('elsewhere'));
    const [last] = scene.under.events.slice(-1);
    assert.deepEqual(last?.event === 'upstream_failure' && [last.upstream, last.reason], [
      'object-store',
      status === 301 ? 'STATUS_301' : code,
    ]);
  }
});

test('an answer that names something outside the prefix does not pass', async () => {
  scene.store.next = (_req, res) =>
    res.end(`<ListBucketResult><Contents><Key>${OTHER_PREFIX}diary</Key></Contents></ListBucketResult>`);
  const answer = await scene.send({ path: '/app?list-type=2' });
  refused(answer, 503, 'ServiceUnavailable');
  assert.ok(!answer.body.includes('diary'));
});

test('a later policy that still grants it does not end what is under way', async () => {
  let answer = (): void => undefined;
  scene.store.next = (_req, res) => {
    answer = () => res.writeHead(200, { etag: '"one"' }).end();
  };
  const put = scene.send({ method: 'PUT', path: '/app/held', body: 'x' });
  await until(() => scene.store.seen.length === 1);
  await scene.under.gateway.apply({ revision: 2, objectStorage: true });
  answer();
  assert.equal((await put).status, 200);
});

test('core is asked once for many requests, and again under a later policy; what it refuses is refused', async () => {
  const before = scene.asked();
  await scene.under.gateway.apply({ revision: 3, objectStorage: true });
  for (let count = 0; count < 5; count += 1) await scene.send({ path: '/app?list-type=2' });
  assert.equal(scene.asked(), before + 1);
  scene.refuseWith(403, 'plan_required');
  await scene.under.gateway.apply({ revision: 4, objectStorage: true });
  const answer = await scene.send({ path: '/app?list-type=2' });
  refused(answer, 403, 'AccessDenied');
  assert.match(answer.body, /Refused: plan_required/);
  await scene.under.gateway.apply({ revision: 5 });
  refused(await scene.send({ path: '/app?list-type=2' }), 403, 'AccessDenied');
});
