// What an app can do with its objects, each operation as S3 knows it, and what core decides about it.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { type Answer, until } from '../../../test-support/gateway-under-test.ts';
import { codeOf, keysIn, refused, storageScene } from '../../../test-support/storage-scene.ts';
import { BUCKET, OTHER_PREFIX, PREFIX } from '../../../test-support/storage-under-test.ts';

const scene = storageScene();

test('an object is put, read, read in part, asked about, copied, listed and deleted', async () => {
  const body = Buffer.from('a photo');
  const put = await scene.storage.send({
    method: 'PUT',
    path: '/app/photos/one%20day%20%C3%A9.png',
    headers: { 'content-type': 'image/png', 'x-amz-meta-colour': 'blue' },
    body,
  });
  assert.equal(put.status, 200, put.body);
  assert.equal(put.headers.etag, '"one"');
  assert.equal(scene.inStore('photos/one day é.png'), 'a photo');
  assert.equal(scene.storage.store.seen[0]?.headers['x-amz-meta-colour'], 'blue');

  const got = await scene.storage.send({ path: '/app/photos/one%20day%20%C3%A9.png' });
  assert.deepEqual([got.status, got.body, got.headers['content-type']], [200, 'a photo', 'image/png']);
  assert.equal(got.headers['x-amz-meta-colour'], 'blue');
  assert.equal(got.headers['x-amz-id-2'], undefined);
  assert.equal(got.headers['set-cookie'], undefined);
  const part = await scene.storage.send({
    path: '/app/photos/one%20day%20%C3%A9.png',
    headers: { range: 'bytes=2-4' },
  });
  assert.deepEqual([part.status, part.body, part.headers['content-range']], [206, 'pho', 'bytes 2-4/7']);
  const head = await scene.storage.send({ method: 'HEAD', path: '/app/photos/one%20day%20%C3%A9.png' });
  assert.deepEqual([head.status, head.headers['content-length'], head.body], [200, '7', '']);

  const copied = await scene.storage.send({
    method: 'PUT',
    path: '/app/copy.png',
    headers: { 'x-amz-copy-source': '/app/photos/one%20day%20%C3%A9.png' },
  });
  assert.equal(copied.status, 200, copied.body);
  assert.match(
    copied.body,
    /<CopyObjectResult xmlns="http:\/\/s3.amazonaws.com\/doc\/2006-03-01\/"><ETag>&quot;one&quot;/,
  );
  assert.equal(scene.inStore('copy.png'), 'a photo');

  const listed = await scene.storage.send({ path: '/app?list-type=2&delimiter=%2F' });
  assert.deepEqual(keysIn(listed), ['copy.png']);
  assert.match(listed.body, /<CommonPrefixes><Prefix>photos\/<\/Prefix><\/CommonPrefixes>/);
  assert.match(listed.body, /<Name>app<\/Name><Prefix><\/Prefix>/);
  assert.ok(
    !listed.body.includes(BUCKET) && !listed.body.includes('installations/') && !listed.body.includes('operator'),
  );

  const gone = await scene.storage.send({ method: 'DELETE', path: '/app/copy.png' });
  assert.equal(gone.status, 204);
  assert.equal(scene.inStore('copy.png'), undefined);
  const missing = await scene.storage.send({ path: '/app/copy.png' });
  refusedBy(missing, 404, 'NoSuchKey');
  assert.match(missing.body, /<Key>copy.png<\/Key>/);
  assert.equal((await scene.storage.send({ method: 'HEAD', path: '/app/copy.png' })).status, 404);
});

/** An error of the store itself, in the app's words. */
function refusedBy(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, codeOf(answer)], [status, code], answer.body);
  assert.ok(!answer.body.includes(BUCKET) && !answer.body.includes('installations/'), answer.body);
}

test('a listing goes on where it ended, in both versions, encoded or not, and shows no neighbour', async () => {
  for (const key of ['a/1 ü', 'a/2', 'a/3', 'b/1'])
    scene.storage.store.objects.set(`/${BUCKET}/${PREFIX}${key}`, Buffer.from('x'));
  scene.storage.store.objects.set(`/${BUCKET}/${OTHER_PREFIX}a/4`, Buffer.from('x'));
  const first = await scene.storage.send({ path: '/app?list-type=2&prefix=a%2F&max-keys=2&encoding-type=url' });
  assert.deepEqual(keysIn(first), ['a/1%20%C3%BC', 'a/2']);
  const token = /<NextContinuationToken>([^<]*)</.exec(first.body)?.[1] ?? '';
  const second = await scene.storage.send({
    path: `/app?list-type=2&prefix=a%2F&max-keys=2&continuation-token=${encodeURIComponent(token)}`,
  });
  assert.deepEqual(keysIn(second), ['a/3']);
  const former = await scene.storage.send({ path: '/app/?prefix=a%2F&max-keys=1' });
  assert.deepEqual(keysIn(former), ['a/1 ü']);
  assert.match(former.body, /<NextMarker>a\/1 ü<\/NextMarker>/);
  const next = await scene.storage.send({ path: '/app/?prefix=a/&max-keys=1&marker=a%2F1%20%C3%BC' });
  assert.deepEqual(keysIn(next), ['a/2']);
  assert.match(next.body, /<Marker>a\/1 ü<\/Marker>/);
  const after = await scene.storage.send({ path: '/app?list-type=2&start-after=a%2F3' });
  assert.deepEqual(keysIn(after), ['b/1']);
  const forged = Buffer.from(`${OTHER_PREFIX}a`).toString('base64');
  const elsewhere = await scene.storage.send({
    path: `/app?list-type=2&continuation-token=${encodeURIComponent(forged)}`,
  });
  assert.deepEqual(keysIn(elsewhere), []);
});

test('a large object is uploaded in parts, of which one is copied', async () => {
  await scene.storage.send({ method: 'PUT', path: '/app/source', body: 'second' });
  const begun = await scene.storage.send({ method: 'POST', path: '/app/large?uploads' });
  assert.match(begun.body, /<Bucket>app<\/Bucket><Key>large<\/Key><UploadId>upload-1<\/UploadId>/);
  const put = await scene.storage.send({
    method: 'PUT',
    path: '/app/large?partNumber=1&uploadId=upload-1',
    body: 'first ',
  });
  assert.equal(put.headers.etag, '"part"');
  const copied = await scene.storage.send({
    method: 'PUT',
    path: '/app/large?partNumber=2&uploadId=upload-1',
    headers: { 'x-amz-copy-source': 'app/source', 'x-amz-copy-source-range': 'bytes=0-5' },
  });
  assert.equal(copied.status, 200, copied.body);
  const parts = await scene.storage.send({ path: '/app/large?uploadId=upload-1' });
  assert.match(parts.body, /<Key>large<\/Key><Part><PartNumber>1<\/PartNumber><\/Part>/);
  assert.ok(!parts.body.includes('operator'));
  const done = await scene.storage.send({
    method: 'POST',
    path: '/app/large?uploadId=upload-1',
    body: '<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Part><PartNumber>1</PartNumber><ETag>"part"</ETag></Part><Part><PartNumber>2</PartNumber><ETag>"part"</ETag></Part></CompleteMultipartUpload>',
  });
  assert.equal(done.status, 200, done.body);
  assert.match(done.body, /<Location>http:\/\/127\.0\.0\.1:\d+\/app\/large<\/Location><Bucket>app<\/Bucket>/);
  assert.equal(scene.inStore('large'), 'first second');
});

test('many objects are deleted at once, by names of the app', async () => {
  for (const key of ['one', 'two&three'])
    await scene.storage.send({ method: 'PUT', path: `/app/${encodeURIComponent(key)}`, body: 'x' });
  const body = '<Delete><Object><Key>one</Key></Object><Object><Key>two&amp;three</Key></Object></Delete>';
  const answer = await scene.storage.send({ method: 'POST', path: '/app?delete', body });
  assert.deepEqual(keysIn(answer), ['one', 'two&amp;three']);
  const sent = scene.storage.store.seen.at(-1);
  assert.equal(
    sent?.headers['content-md5'],
    createHash('md5')
      .update(sent?.body ?? '')
      .digest('base64'),
  );
  assert.equal(scene.storage.store.objects.size, 0);
});

test('what is known of the bucket is answered here', async () => {
  assert.equal(
    (await scene.storage.send({ method: 'HEAD', path: '/app' })).headers['x-amz-bucket-region'],
    'us-east-1',
  );
  assert.match((await scene.storage.send({ path: '/app?location' })).body, /><\/LocationConstraint>/);
  assert.equal(scene.storage.store.seen.length, 0);
});

/** As many bodies as are handled at a time, which the store answers when told to. */
async function holdFour() {
  const held: (() => void)[] = [];
  const puts: Promise<Answer>[] = [];
  for (let count = 1; count <= 4; count += 1) {
    scene.storage.store.next = (_req, res) => {
      held.push(() => res.writeHead(200, { etag: '"one"' }).end());
    };
    puts.push(scene.storage.send({ method: 'PUT', path: `/app/held-${count}`, body: 'x' }));
    await until(() => held.length === count);
  }
  return {
    async release(): Promise<void> {
      for (const answer of held) answer();
      assert.deepEqual(
        (await Promise.all(puts)).map(({ status }) => status),
        [200, 200, 200, 200],
      );
    },
  };
}

const putOneMore = () => scene.storage.send({ method: 'PUT', path: '/app/fifth', body: 'x' });

test('a fifth body at a time is told to slow down; reads go on, and a place is free again afterwards', async () => {
  const four = await holdFour();
  refused(await putOneMore(), 503, 'SlowDown');
  assert.equal((await scene.storage.send({ path: '/app?list-type=2' })).status, 200);
  await four.release();
  assert.equal((await putOneMore()).status, 200);
});

test('bodies beyond those handled at a time are refused the more slowly the more there are', async () => {
  const four = await holdFour();
  const begun = performance.now();
  for (const answer of await Promise.all(Array.from({ length: 80 }, putOneMore))) refused(answer, 503, 'SlowDown');
  const elapsed = performance.now() - begun;
  // Twenty are free, and each further one takes 5 ms longer than the one before; meanwhile some are forgotten.
  assert.ok(elapsed > 150, `80 refusals took ${elapsed.toFixed()} ms`);
  await four.release();
});

test('four documents of the store are held at a time; others wait until one has been read, and none is refused', async () => {
  const bodies: (() => void)[] = [];
  const answers: Promise<Answer>[] = [];
  for (let count = 1; count <= 6; count += 1) {
    scene.storage.store.next = (_req, res) => {
      res.writeHead(200, { 'content-type': 'application/xml' }).write('<ListBucketResult>');
      bodies.push(() => res.end('</ListBucketResult>'));
    };
    answers.push(scene.storage.send({ path: '/app?list-type=2' }));
    await until(() => bodies.length === count);
  }
  // The last two have their turn when two others are over, not before.
  bodies[4]?.();
  bodies[5]?.();
  const first = await Promise.race([Promise.race(answers.slice(4)), scene.storage.send({ path: '/app/none' })]);
  assert.equal(first.status, 404, 'a read of another kind is not kept waiting, and neither of the two was read');
  for (const end of bodies.slice(0, 4)) end();
  for (const answer of await Promise.all(answers)) assert.equal(answer.status, 200);
});

test('a later policy that still grants it does not end what is under way', async () => {
  let answer = (): void => undefined;
  scene.storage.store.next = (_req, res) => {
    answer = () => res.writeHead(200, { etag: '"one"' }).end();
  };
  const put = scene.storage.send({ method: 'PUT', path: '/app/held', body: 'x' });
  await until(() => scene.storage.store.seen.length === 1);
  await scene.storage.under.gateway.apply({ revision: 2, objectStorage: true });
  answer();
  assert.equal((await put).status, 200);
});

test('core is asked once for many requests, and again under a later policy; what it refuses is refused', async () => {
  const before = scene.storage.asked();
  await scene.storage.under.gateway.apply({ revision: 3, objectStorage: true });
  for (let count = 0; count < 5; count += 1) await scene.storage.send({ path: '/app?list-type=2' });
  assert.equal(scene.storage.asked(), before + 1);
  scene.storage.refuseWith(403, 'plan_required');
  await scene.storage.under.gateway.apply({ revision: 4, objectStorage: true });
  const answer = await scene.storage.send({ path: '/app?list-type=2' });
  refused(answer, 403, 'AccessDenied');
  assert.match(answer.body, /Refused: plan_required/);
  await scene.storage.under.gateway.apply({ revision: 5 });
  refused(await scene.storage.send({ path: '/app?list-type=2' }), 403, 'AccessDenied');
});
