// The object store of the operator: all of it or nothing, and no refusal that repeats a secret.
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { readConfiguration } from './env.ts';
import { StartError } from './start-error.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'object-store-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function keyFile(name: string, content: string, mode = 0o600): string {
  const file = path.join(folder, name);
  writeFileSync(file, content);
  chmodSync(file, mode);
  return file;
}

const KEY = { accessKeyId: 'AKID', secretAccessKey: 'canary-secret' };
const STORE = {
  PLATFORM_OBJECT_STORE_ENDPOINT: 'https://s3.example.com',
  PLATFORM_OBJECT_STORE_BUCKET: 'objects-of-apps',
  PLATFORM_OBJECT_STORE_CREDENTIALS_FILE: keyFile('good.json', JSON.stringify(KEY)),
};
const read = (environment: Record<string, string>) =>
  readConfiguration(environment, { isRoot: false, home: '/home/ada' });

test('without an endpoint there is none, and Fleet says the default plan', () => {
  const { objectStore, defaultPlan } = read({});
  assert.deepEqual([objectStore, defaultPlan], [null, null]);
});

test('endpoint, bucket and key are enough', () => {
  assert.deepEqual(read(STORE).objectStore, {
    endpoint: 'https://s3.example.com',
    region: 'us-east-1',
    bucket: 'objects-of-apps',
    pathStyle: true,
    credentials: KEY,
  });
  assert.equal(
    read({ ...STORE, PLATFORM_OBJECT_STORE_ENDPOINT: 'http://127.0.0.1:9000' }).objectStore?.endpoint,
    'http://127.0.0.1:9000',
  );
  assert.equal(read({ PLATFORM_DEFAULT_PLAN: 'paid' }).defaultPlan, 'paid');
});

const ENDPOINT = 'PLATFORM_OBJECT_STORE_ENDPOINT';
const BUCKET = 'PLATFORM_OBJECT_STORE_BUCKET';
const FILE = 'PLATFORM_OBJECT_STORE_CREDENTIALS_FILE';
const STYLE = 'PLATFORM_OBJECT_STORE_PATH_STYLE';
const wrong: readonly (readonly [name: string, change: Record<string, string>])[] = [
  [BUCKET, { [ENDPOINT]: '' }],
  [ENDPOINT, { [ENDPOINT]: 's3.example.com' }],
  [ENDPOINT, { [ENDPOINT]: 'http://s3.example.com' }],
  [ENDPOINT, { [ENDPOINT]: 'https://s3.example.com/objects' }],
  [ENDPOINT, { [ENDPOINT]: 'https://key:secret@s3.example.com' }],
  [BUCKET, { [BUCKET]: '' }],
  [BUCKET, { [BUCKET]: 'Objects' }],
  ['PLATFORM_OBJECT_STORE_REGION', { PLATFORM_OBJECT_STORE_REGION: 'eu central' }],
  [STYLE, { [STYLE]: 'no' }],
  [STYLE, { [STYLE]: 'false', [ENDPOINT]: 'http://127.0.0.1:9000' }],
  [FILE, { [FILE]: '' }],
  [FILE, { [FILE]: 'store.json' }],
  [FILE, { [FILE]: path.join(folder, 'missing.json') }],
  [FILE, { [FILE]: keyFile('open.json', JSON.stringify(KEY), 0o644) }],
  [FILE, { [FILE]: keyFile('half.json', JSON.stringify({ accessKeyId: 'canary-secret' })) }],
  [FILE, { [FILE]: keyFile('text.json', 'canary-secret') }],
  ['PLATFORM_DEFAULT_PLAN', { PLATFORM_DEFAULT_PLAN: 'gold' }],
];

for (const [name, change] of wrong)
  test(`${JSON.stringify(change).replaceAll(folder, '…')} stops the start with one line about ${name}`, () => {
    assert.throws(
      () => read({ ...STORE, ...change }),
      (error: unknown) => {
        assert.ok(error instanceof StartError, String(error));
        assert.ok(error.message.startsWith(`${name} `), error.message);
        assert.ok(!error.message.includes('\n') && !error.message.includes('canary'), error.message);
        return true;
      },
    );
  });
