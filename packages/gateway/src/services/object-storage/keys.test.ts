// Keys: those that S3 allows are kept as they are, and none leads out of the part of its installation.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeOf, keysIn, storageScene } from '../../../test-support/storage-scene.ts';
import { BUCKET, OTHER_PREFIX, PREFIX } from '../../../test-support/storage-under-test.ts';

const scene = storageScene();

test('a slash that is encoded is the same as a plain one, in paths, prefixes and copy sources, as in S3', async () => {
  await scene.storage.send({ method: 'PUT', path: '/app/a%2Fb%2fc', body: 'kept' });
  assert.equal(scene.inStore('a/b/c'), 'kept');
  assert.equal((await scene.storage.send({ path: '/app/a/b/c' })).body, 'kept');
  assert.deepEqual(keysIn(await scene.storage.send({ path: '/app?list-type=2&prefix=a%2Fb/' })), ['a/b/c']);
  for (const source of ['/app/a/b/c', 'app/a%2Fb/c', 'app%2Fa%2Fb%2Fc', '%2Fapp%2Fa/b/c']) {
    scene.storage.store.objects.delete(`/${BUCKET}/${PREFIX}copy`);
    const headers = { 'x-amz-copy-source': source };
    assert.equal((await scene.storage.send({ method: 'PUT', path: '/app/copy', headers })).status, 200, source);
    assert.equal(scene.inStore('copy'), 'kept');
  }
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
    'a%5c..%5cx',
    '..%5cx',
    '%20../x',
    'a/..%20/x',
    'a/%c2%a0..',
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
  // 1,024 bytes of UTF-8, which S3 itself would take.
  encodeURIComponent(`${'鍵'.repeat(341)}x`),
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
      const answer = await scene.storage.send(request(key));
      // A HEAD has no body; all else says why.
      assert.ok(['InvalidArgument', 'KeyTooLongError'].includes(codeOf(answer) ?? ''), `${key}: ${answer.body}`);
      assert.equal(answer.status, 400);
    }
    assert.equal(scene.storage.store.seen.length, 0);
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
  `/${BUCKET}/${OTHER_PREFIX}diary`,
  `/${BUCKET}/${PREFIX}one`,
  `/app/../${OTHER_PREFIX}diary`,
])
  test(`the copy source ${JSON.stringify(source)} is refused`, async () => {
    const answer = await scene.storage.send({
      method: 'PUT',
      path: '/app/one',
      headers: { 'x-amz-copy-source': source },
    });
    assert.ok([400, 403].includes(answer.status), answer.body);
    assert.equal(scene.storage.store.seen.length, 0);
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
  '鍵'.repeat(300),
])
  test(`the key ${JSON.stringify(key.slice(0, 20))} is kept as it is`, async () => {
    const decoded = key.startsWith('%252e') ? '%2e%2e' : key === 'a%2Bb' ? 'a+b' : key;
    const encoded = key.includes('%') ? key : key.split('/').map(encodeURIComponent).join('/');
    const put = await scene.storage.send({ method: 'PUT', path: `/app/${encoded}`, body: 'kept' });
    assert.equal(put.status, 200, put.body);
    assert.equal(scene.inStore(decoded), 'kept', [...scene.storage.store.objects.keys()].join());
    assert.equal((await scene.storage.send({ path: `/app/${encoded}` })).body, 'kept');
  });

test('the copy source of another prefix is a name below its own, which nobody else has', async () => {
  scene.storage.store.objects.set(`/${BUCKET}/${OTHER_PREFIX}diary`, Buffer.from('private'));
  for (const source of [`/app/${OTHER_PREFIX}diary`, `app//${OTHER_PREFIX}diary`]) {
    const headers = { 'x-amz-copy-source': source };
    const answer = await scene.storage.send({ method: 'PUT', path: '/app/copy', headers });
    assert.deepEqual([answer.status, codeOf(answer)], [404, 'NoSuchKey'], answer.body);
  }
  assert.equal(scene.inStore('copy'), undefined);
});
