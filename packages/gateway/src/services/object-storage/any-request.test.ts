// Whatever a workload sends, nothing reaches the store that is not below the prefix of its installation.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fc } from '../../../../../tests/support/fast-check.ts';
import { thorough } from '../../../../../tests/support/thorough.ts';
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

/** Fewer than the bodies that are held at a time, or some would only be told to slow down. */
const AT_ONCE = 4;
const BATCH = 20;
/** A thorough run sends 100,000 requests. */
const LIMIT = { timeout: thorough(60_000, 900_000) };
const FALSE_STARTS = [
  '..',
  '.',
  '../',
  './',
  '%2e%2e',
  '%2E.',
  '%2e%2e%2f',
  '..%2f',
  '%252e%252e%252f',
  '..\\',
  '%5c..',
];
const ODD = [
  '/',
  '//',
  '%2f',
  '%2F',
  '\\',
  '%00',
  '%0a',
  '%7f',
  '%c0%ae',
  '%ff',
  '%',
  '%zz',
  '+',
  '%20',
  '%C3%A9',
  ';',
  ':',
];
const NAMES = [BUCKET, PREFIX, OTHER_PREFIX, 'app', 'installations', 'diary', 'a', 'http://store/', '@'];
/** As it stands in a request: printable, encoded or not. */
const piece = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...NAMES, '/') },
  { weight: 1, arbitrary: fc.constantFrom(...FALSE_STARTS, ...ODD) },
  { weight: 2, arbitrary: fc.string({ maxLength: 6 }).map(encodeURIComponent) },
);
const name = fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join(''));
const bucket = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('app', 'app', 'app', '%61pp') },
  { weight: 1, arbitrary: fc.constantFrom('', '.', '..', BUCKET, 'app%2f..', `app/../${BUCKET}`, '%2e%2e') },
);
const pairOf = (...names: string[]) =>
  fc
    .tuple(fc.constantFrom(...names), fc.oneof(fc.constantFrom('', '1', '2', 'url'), name))
    .map((pair) => pair.join('='));
const positions = pairOf('prefix', 'delimiter', 'marker', 'start-after', 'key-marker', 'continuation-token');
const others = pairOf(
  'versionId',
  'acl',
  'policy',
  'x-id',
  'pre%66ix',
  'Prefix',
  'encoding-type',
  'delete',
  'location',
);
const query = fc.oneof(
  { weight: 4, arbitrary: fc.constant([]) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom('list-type=2', 'uploads', 'x-id=a'), fc.array(positions, { maxLength: 2 }))
      .map(([first, more]) => [first, ...more]),
  },
  { weight: 2, arbitrary: fc.constantFrom(['uploads'], ['uploadId=upload-1', 'partNumber=1'], ['uploadId=upload-1']) },
  { weight: 1, arbitrary: fc.array(fc.oneof(positions, others), { maxLength: 4 }) },
);
const target = fc
  .record({
    bucket,
    key: fc.option(name, { nil: undefined }),
    query,
  })
  .map(
    (one) =>
      `/${one.bucket}${one.key === undefined ? '' : `/${one.key}`}${one.query.length === 0 ? '' : `?${one.query.join('&')}`}`,
  );
const source = fc
  .tuple(fc.constantFrom('/app/', 'app/', 'app%2F', '/', '//', `/${BUCKET}/`), name)
  .map((pair) => pair.join(''));
const headers = fc.oneof(
  { weight: 10, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: source.map((one) => ({ 'x-amz-copy-source': one })) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('x-original-url', 'x-rewrite-url', 'x-amz-rename-source', 'x-http-method-override'), name)
      .map(([field, value]) => ({ [field]: value })),
  },
);
const keys = fc.array(name, { minLength: 1, maxLength: 3 });
const body = fc.oneof(
  fc.constant(''),
  fc.string({ maxLength: 20 }),
  keys.map((all) => `<Delete>${all.map((key) => `<Object><Key>${decoded(key)}</Key></Object>`).join('')}</Delete>`),
);

/** Documents name keys as they are. */
function decoded(key: string): string {
  try {
    return decodeURIComponent(key).replace(/[<&]/g, '');
  } catch {
    return key;
  }
}

const method = fc.constantFrom('GET', 'HEAD', 'PUT', 'POST', 'DELETE');
const request = fc
  .oneof(
    { weight: 6, arbitrary: fc.record({ method, path: target, headers, body }) },
    {
      weight: 1,
      arbitrary: body.map((text) => ({ method: 'POST', path: '/app?delete', headers: {}, body: text })),
    },
  )
  .map((one) => ({ ...one, body: one.method === 'PUT' || one.method === 'POST' ? one.body : '' }));

test('no request reaches anything outside the prefix of its installation', LIMIT, async (context) => {
  let sent = 0;
  let arrived = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: BATCH, maxLength: BATCH }), async (batch) => {
      scene.store.seen.length = 0;
      scene.store.objects.clear();
      for (let first = 0; first < batch.length; first += AT_ONCE) {
        const answers = batch.slice(first, first + AT_ONCE).map((one) => scene.send(one as never));
        for (const { status } of await Promise.all(answers)) assert.ok(status >= 200 && status < 504, String(status));
      }
      sent += batch.length;
      arrived += scene.store.seen.length;
      assertConfined(scene.store.seen);
    }),
    { numRuns: thorough(100, 5_000) },
  );
  context.diagnostic(`${sent} requests, of which ${arrived} were for the store`);
  assert.ok(arrived > sent / 5, 'enough of them are such as the store sees');
});
