// Raw object storage through the whole platform: the operator's store, the plan of an account, a workload with nothing but
// what it finds in its environment.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import {
  type FakeStore,
  REGION,
  STORE_CREDENTIALS,
  startFakeStore,
} from '../../packages/gateway/test-support/fake-store.ts';
import { openBackend } from '../support/backend.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import {
  type PlatformPlace,
  type PlatformProcess,
  platformPlace,
  runCommand,
  startPlatform,
} from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { until } from '../support/wait.ts';

const BUCKET = 'objects-of-apps';
const GRANT = { id: 'object-storage.raw', resources: ['self'] };

const WORKLOAD = `
import { createServer } from 'node:http';
const { PLATFORM_S3_ENDPOINT: endpoint, PLATFORM_S3_BUCKET: bucket, PLATFORM_S3_SESSION_TOKEN: token } = process.env;
const at = (path, options = {}) =>
  fetch(endpoint + '/' + bucket + path, { ...options, headers: { 'x-amz-security-token': token } });
const ways = {
  '/env': async () => JSON.stringify(Object.fromEntries(Object.entries(process.env).filter(([name]) => /S3|AWS/.test(name)))),
  '/put': async () => String((await at('/photos/one.jpg', { method: 'PUT', body: 'a photo' })).status),
  '/get': async () => (await at('/photos/one.jpg')).text(),
  '/list': async () => (await at('?list-type=2')).text(),
};
createServer(async (req, res) => res.end(await ways[new URL(req.url, 'http://a').pathname]?.().catch(String) ?? 'none'))
  .listen(process.env.PORT);
`;

let folder: string;
let store: FakeStore;
let place: PlatformPlace;
let platform: PlatformProcess;
let account: TestAccount;

before(async () => {
  store = await startFakeStore(BUCKET);
  folder = await mkdtemp(path.join(tmpdir(), 'object-storage-'));
  const file = path.join(folder, 'store.json');
  await writeFile(file, JSON.stringify(STORE_CREDENTIALS), { mode: 0o600 });
  place = await platformPlace({
    PLATFORM_OBJECT_STORE_ENDPOINT: store.origin,
    PLATFORM_OBJECT_STORE_REGION: REGION,
    PLATFORM_OBJECT_STORE_BUCKET: BUCKET,
    PLATFORM_OBJECT_STORE_CREDENTIALS_FILE: file,
  });
  platform = await startPlatform(place);
  account = await registerAccount(platform, 'photographer');
  const manifest = {
    permissions: [GRANT],
    workload: { runtime: 'node', entry: 'main.mjs', port: 8080 },
  };
  await publishTestApp(account, 'photo-shelf', manifest, {
    'frontend/index.html': '<!doctype html>',
    'workload/main.mjs': WORKLOAD,
  });
  await account.browser.take('/v1/apps', { body: { appId: 'photo-shelf' } });
});
after(async () => {
  await platform?.stop();
  await place?.remove();
  await store?.close();
  await rm(folder, { recursive: true, force: true });
});

const plan = (word: string) => runCommand(['account', 'plan', 'photographer', word], place.environment);

async function environment(): Promise<Record<string, string>> {
  const ask = await openBackend(place, account, 'photo-shelf');
  return JSON.parse((await ask('/env')).text);
}

test('without the paid plan it gets no variables', async () => {
  assert.deepEqual(await environment(), {});
});

test('with it the workload is started anew, and uses its own part of the store by its environment alone', async () => {
  assert.match(await plan('paid'), /photographer has the paid plan/);
  const given = await until('the variables', async () => {
    const found = await environment();
    return found.PLATFORM_S3_ENDPOINT === undefined ? undefined : found;
  });
  assert.match(given.PLATFORM_S3_ENDPOINT ?? '', /^http:\/\/[\d.]+:\d+$/);
  assert.equal(given.AWS_REQUEST_CHECKSUM_CALCULATION, 'when_required');
  const ask = await openBackend(place, account, 'photo-shelf');
  assert.equal((await ask('/put')).text, '200');
  assert.equal((await ask('/get')).text, 'a photo');
  const listed = (await ask('/list')).text;
  assert.match(listed, /<Name>app<\/Name>.*<Key>photos\/one\.jpg<\/Key>/s);
  const [name] = store.objects.keys();
  assert.match(name ?? '', /^\/objects-of-apps\/installations\/inst-[0-9a-f-]{36}\/photos\/one\.jpg$/);
  const seen = JSON.stringify([given, listed]);
  assert.ok(!seen.includes(BUCKET) && !seen.includes(store.origin));
  assert.ok(!(seen + platform.output()).includes(STORE_CREDENTIALS.secretAccessKey));
});

test('a grant that is revoked takes it away with the answer, and the variables with the next start', async () => {
  const ask = await openBackend(place, account, 'photo-shelf');
  const before = store.seen.length;
  const revoked = await account.browser.fetch('/v1/apps/photo-shelf/permissions', {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ permissions: [] }),
  });
  assert.equal(revoked.status, 200, revoked.text);
  // Whether the former workload still answers, or the next one does: nothing arrives at the store.
  assert.notEqual((await ask('/put')).text, '200');
  await until('the end of the variables', async () => Object.keys(await environment()).length === 0);
  assert.equal(store.seen.length, before);
});
