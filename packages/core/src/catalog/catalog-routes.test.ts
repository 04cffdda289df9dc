// Promises of the catalog routes: a version is published as a whole, once, by its owner, or not at all.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import * as fs from 'node:fs';
import http from 'node:http';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { constants, deflateRawSync } from 'node:zlib';
import { type CatalogDetail, type CatalogEntry, limits } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { buildTestPackage, type TestPackage, testManifest } from '../../../../tests/support/packages.ts';
import { chunk, png } from '../../../../tests/support/pictures.ts';
import { problemCode, type RawAnswer, rawRequest } from '../../../../tests/support/raw-http.ts';
import { hostilePictures, svg } from '../../test-support/hostile-pictures.ts';
import { type ArchiveDescription, archiveOf, tarOf } from '../../test-support/vector-archives.ts';
import { imageSize } from './packages/image-size.ts';

let world: Constellation;
let owner: TestAccount;
let other: TestAccount;
let apps = 0;
before(async () => {
  world = await startConstellation();
  owner = await registerAccount(world, 'owner-account');
  other = await registerAccount(world, 'other-account');
});
after(() => world.close());

function newAppId(): string {
  apps += 1;
  return `catalog-app-${apps}`;
}

function packageOf(id: string, more: Record<string, unknown> = {}, files?: TestPackage['files']): Promise<Buffer> {
  return buildTestPackage({ manifest: testManifest(id, more), ...(files === undefined ? {} : { files }) });
}

function publish(account: TestAccount, id: string, version: string, body: Buffer): Promise<RawAnswer> {
  return account.fetch(`/v1/catalog/${id}/versions/${version}`, {
    method: 'PUT',
    body,
    headers: { 'content-type': 'application/gzip' },
  });
}

async function published(account: TestAccount, id: string, version = '1.0.0', more: Record<string, unknown> = {}) {
  const answer = await publish(account, id, version, await packageOf(id, { version, ...more }));
  assert.equal(answer.status, 201, answer.text);
}

function detailOf(id: string): Promise<CatalogDetail> {
  return owner.browser.take<CatalogDetail>(`/v1/catalog/${id}`);
}

function stored(): string[] {
  return fs.readdirSync(world.core.context.config.packagesDirectory).sort();
}

function scratch(): string[] {
  const incoming = path.join(world.core.context.config.packagesDirectory, 'incoming');
  return fs.existsSync(incoming) ? fs.readdirSync(incoming) : [];
}

test('a published version is in the list and the detail, and its files lie under its hash', async () => {
  const id = newAppId();
  const permissions = [{ id: 'notifications.publish', resources: ['news'], reason: 'To tell you.' }];
  const body = await packageOf(id, { categories: ['tools'], permissions });
  const hash = createHash('sha256').update(body).digest('hex');
  const answer = await publish(owner, id, '1.0.0', body);
  assert.equal(answer.status, 201, answer.text);
  const { manifest, ...rest } = answer.json as { manifest: { id: string; frontend: object } };
  assert.deepEqual(rest, { appId: id, version: '1.0.0', hash, size: body.length });
  assert.deepEqual(manifest.frontend, { entry: 'index.html', chrome: 'auto' }, 'defaults are filled in');
  const detail = await detailOf(id);
  const { publishedAt } = detail;
  assert.deepEqual(detail, {
    appId: id,
    name: id,
    summary: `The test app ${id}.`,
    version: '1.0.0',
    categories: ['tools'],
    publisher: 'owner-account',
    icon: null,
    installed: null,
    visibility: 'public',
    own: true,
    hasFrontend: true,
    hasWorkload: false,
    resources: null,
    connects: [],
    rating: 4,
    publishedAt,
    permissions,
    backend: null,
    changes: null,
    screenshots: [],
    size: body.length,
    secretSlots: [],
    publicRoutes: [],
    versions: [{ version: '1.0.0', hash, size: body.length, publishedAt }],
  });
  const { packagesDirectory } = world.core.context.config;
  assert.deepEqual(fs.readFileSync(path.join(packagesDirectory, `${hash}.tgz`)), body);
  assert.deepEqual(fs.readdirSync(path.join(packagesDirectory, hash)), ['frontend']);
  assert.deepEqual(scratch(), []);
});

test('the detail says what the internet could request of an app: what it declares, as far as it asks for it', async () => {
  const id = newAppId();
  const more = {
    workload: { runtime: 'node', entry: 'main.js' },
    publicEndpoints: ['GET:/feed', 'POST:/hooks/*', 'WS:/live'],
    permissions: [{ id: 'endpoints.public', resources: ['GET:*', 'POST:/hooks/a', 'DELETE:/*'] }],
  };
  const files = { 'frontend/index.html': '<!doctype html><title>t</title>', 'workload/main.js': '' };
  const answer = await publish(owner, id, '1.0.0', await packageOf(id, more, files));
  assert.equal(answer.status, 201, answer.text);
  assert.deepEqual((await detailOf(id)).publicRoutes, ['GET:/feed', 'POST:/hooks/a']);
});

test('the catalog is listed in pages that follow each other', async () => {
  for (let index = 0; index < 5; index += 1) await published(owner, newAppId());
  const seen: CatalogEntry[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const query: string = cursor === '' ? '?limit=4' : `?limit=4&cursor=${cursor}`;
    const page: { items: CatalogEntry[]; nextCursor: string | null } = await owner.browser.take(`/v1/catalog${query}`);
    seen.push(...page.items);
    cursor = page.nextCursor;
  }
  const ids = seen.map(({ appId }) => appId);
  assert.deepEqual(ids, [...new Set(ids)].sort());
  assert.equal(seen.find(({ appId }) => appId === 'launcher')?.publisher, 'platform');
  const foreign = await owner.fetch('/v1/catalog?cursor=bm90LW91cnM');
  assert.deepEqual([foreign.status, problemCode(foreign)], [400, 'invalid_cursor']);
});

test('the newest version is the highest by precedence, a pre-release only while alone', async () => {
  const id = newAppId();
  const steps: [string, string][] = [
    ['2.0.0-beta.2', '2.0.0-beta.2'],
    ['2.0.0-beta.10', '2.0.0-beta.10'],
    ['1.0.0', '1.0.0'],
    ['1.10.0', '1.10.0'],
    ['1.9.0', '1.10.0'],
    ['2.0.0-rc.1', '1.10.0'],
    ['2.0.0', '2.0.0'],
  ];
  for (const [version, newest] of steps) {
    await published(owner, id, version);
    assert.equal((await detailOf(id)).version, newest, `after ${version}`);
  }
  const order = (await detailOf(id)).versions.map(({ version }) => version);
  assert.deepEqual(order, ['2.0.0', '1.10.0', '1.9.0', '1.0.0', '2.0.0-rc.1', '2.0.0-beta.10', '2.0.0-beta.2']);
});

test('a version never changes, not even for the same bytes', async () => {
  const id = newAppId();
  const body = await packageOf(id);
  assert.equal((await publish(owner, id, '1.0.0', body)).status, 201);
  for (const again of [body, await packageOf(id, { name: 'Other' })]) {
    const answer = await publish(owner, id, '1.0.0', again);
    assert.deepEqual([answer.status, problemCode(answer)], [409, 'version_exists']);
  }
  assert.equal((await detailOf(id)).name, id);
  assert.ok(
    fs.existsSync(
      path.join(world.core.context.config.packagesDirectory, `${(await detailOf(id)).versions[0]?.hash}.tgz`),
    ),
  );
});

test('an app belongs to the account that published it first, and system apps to no account', async () => {
  const id = newAppId();
  await published(owner, id);
  for (const [account, app] of [
    [other, id],
    [owner, 'launcher'],
  ] as const) {
    const answer = await publish(account, app, '9.0.0', await packageOf(app, { version: '9.0.0' }));
    assert.deepEqual([answer.status, problemCode(answer)], [403, 'not_authorized']);
  }
  assert.equal((await detailOf('launcher')).version, '1.0.0');
});

test('of two accounts that publish one new app at once, one owns it and the other leaves nothing', async () => {
  for (let round = 0; round < 10; round += 1) {
    const id = newAppId();
    const before = stored().length;
    const bodies = await Promise.all(
      ['1.0.0', '1.0.1'].map((version) => packageOf(id, { version, name: `by ${version}` })),
    );
    const answers = await Promise.all([
      publish(owner, id, '1.0.0', bodies[0] ?? Buffer.alloc(0)),
      publish(other, id, '1.0.1', bodies[1] ?? Buffer.alloc(0)),
    ]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 403]);
    assert.equal((await detailOf(id)).versions.length, 1);
    assert.equal(stored().length, before + 2, 'one blob and one folder more');
  }
});

test('of two equal uploads at once one is published, and its files stay', async () => {
  for (let round = 0; round < 10; round += 1) {
    const id = newAppId();
    const body = await packageOf(id);
    const answers = await Promise.all([publish(owner, id, '1.0.0', body), publish(owner, id, '1.0.0', body)]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409]);
    const [version] = (await detailOf(id)).versions;
    assert.ok(fs.existsSync(path.join(world.core.context.config.packagesDirectory, version?.hash ?? '', 'frontend')));
  }
  assert.deepEqual(scratch(), []);
});

test('versions published at once are all there, with one newest', async () => {
  const id = newAppId();
  const versions = ['1.0.0', '1.1.0', '1.2.0', '1.3.0', '1.4.0', '1.5.0'];
  for (let at = 0; at < versions.length; at += 2) {
    await Promise.all(versions.slice(at, at + 2).map((version) => published(owner, id, version)));
  }
  const detail = await detailOf(id);
  assert.deepEqual([detail.version, detail.versions.length], ['1.5.0', 6]);
});

test('a wrong manifest is refused with an error per member, and nothing is stored', async () => {
  const id = newAppId();
  const before = stored();
  const answer = await publish(
    owner,
    id,
    '1.0.0',
    await packageOf(id, { name: '', permissions: [{ id: 'nonsense' }] }),
  );
  assert.deepEqual([answer.status, problemCode(answer)], [400, 'invalid_request']);
  const { errors } = answer.json as { errors: { path: string }[] };
  assert.deepEqual(
    errors.map((error) => error.path),
    ['name', 'permissions[0].id', 'permissions[0].resources'],
  );
  assert.deepEqual(stored(), before);
  assert.equal((await owner.fetch(`/v1/catalog/${id}`)).status, 404);
});

test('a hostile archive changes nothing, whatever was published before', async () => {
  const file = new URL('../../test-vectors/package-archives.json', import.meta.url);
  const vectors: { cases: (ArchiveDescription & { name: string; expected: string })[] } = JSON.parse(
    fs.readFileSync(file, 'utf8'),
  );
  const id = newAppId();
  await published(owner, id);
  const before = [stored(), await detailOf(id)];
  const manifest = JSON.stringify(testManifest(id, { version: '2.0.0', frontend: { entry: 'i.html' } }));
  for (const vector of vectors.cases.filter(({ expected }) => expected === 'reject')) {
    const entries = [
      ...vector.entries.map((entry) =>
        entry.content === '<a valid manifest>' ? { ...entry, content: manifest } : entry,
      ),
      { name: 'frontend/i.html', type: 'file', content: 'x' },
    ];
    const answer = await publish(owner, id, '2.0.0', archiveOf({ ...vector, entries }));
    assert.deepEqual([answer.status, problemCode(answer)], [400, 'invalid_request'], vector.name);
    assert.doesNotMatch(answer.text, new RegExp(`${world.directory}|at \\w+ \\(|node:`), vector.name);
    assert.deepEqual([stored(), await detailOf(id)], before, vector.name);
    assert.deepEqual(scratch(), [], vector.name);
  }
  await published(owner, id, '2.0.0');
});

test('another media type and a body announced as too large are refused before it is read', async () => {
  const id = newAppId();
  const headers = { 'content-type': 'application/x-tar' };
  const wrong = await owner.fetch(`/v1/catalog/${id}/versions/1.0.0`, {
    method: 'PUT',
    body: await packageOf(id),
    headers,
  });
  assert.deepEqual([wrong.status, problemCode(wrong)], [415, 'unsupported_media_type']);
  const large = await upload(id, { 'content-length': String(limits.packagePacked.value + 1) }).answer;
  assert.equal(large.status, 413);
});

/** An upload in pieces, as the test sends them. */
function upload(id: string, headers: Record<string, string> = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
  const request = http.request({
    host: '127.0.0.1',
    port: world.port,
    path: `/v1/catalog/${id}/versions/1.0.0`,
    method: 'PUT',
    agent: false,
    headers: {
      host: new URL(world.origin).host,
      origin: world.origin,
      cookie: owner.cookie,
      'content-type': 'application/gzip',
      ...headers,
    },
  });
  request.on('response', (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
  });
  request.on('error', reject);
  request.flushHeaders();
  return { request, answer: promise };
}

test('an upload that turns out too large while it streams is answered, and leaves nothing', async () => {
  const id = newAppId();
  const before = stored();
  const { request, answer } = upload(id);
  let status: number | undefined;
  const answered = answer.then((received) => {
    status = received.status;
  });
  const piece = deflateRawSync(randomBytes(1024 * 1024), { finishFlush: constants.Z_FULL_FLUSH, level: 1 });
  const [header = Buffer.alloc(0)] = tarOf([{ name: 'frontend/big', type: 'file', declaredSize: 2 ** 31 }]);
  request.write(Buffer.from('1f8b0800000000000003', 'hex'));
  request.write(deflateRawSync(header, { finishFlush: constants.Z_FULL_FLUSH }));
  let sent = 0;
  while (status === undefined && sent < 2 * limits.packagePacked.value) {
    sent += piece.length;
    if (!request.write(piece)) await Promise.race([once(request, 'drain'), answered]);
  }
  await answered;
  assert.equal(status, 413);
  assert.ok(sent < limits.packagePacked.value + 64 * 1024 * 1024, `${sent} bytes were taken`);
  request.destroy();
  while (scratch().length > 0) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(stored(), before);
});

async function uploading(): Promise<void> {
  while (scratch().length === 0) await new Promise((resolve) => setImmediate(resolve));
}

test('an upload that breaks off leaves nothing', async () => {
  const id = newAppId();
  const body = await packageOf(id);
  const before = stored();
  const { request, answer } = upload(id, { 'content-length': String(body.length) });
  request.write(body.subarray(0, body.length - 20));
  await uploading();
  request.destroy();
  await assert.rejects(answer);
  while (scratch().length > 0) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(stored(), before);
  assert.equal((await owner.fetch(`/v1/catalog/${id}`)).status, 404);
});

test('a replica that starts in the middle of an upload does not sweep it away', async () => {
  const id = newAppId();
  const body = await packageOf(id);
  const { request, answer } = upload(id, { 'content-length': String(body.length) });
  request.write(body.subarray(0, 30));
  await uploading();
  await world.replica();
  request.end(body.subarray(30));
  assert.equal((await answer).status, 201);
});

test('one account publishes two packages at a time', async () => {
  const ids = [newAppId(), newAppId()];
  const open = ids.map((id) => upload(id, { 'content-length': '100' }));
  for (const { request } of open) request.write(Buffer.from('1f8b08', 'hex'));
  while (scratch().length < 2) await new Promise((resolve) => setImmediate(resolve));
  const third = newAppId();
  const answer = await publish(owner, third, '1.0.0', await packageOf(third));
  assert.deepEqual([answer.status, problemCode(answer)], [429, 'concurrency_limited']);
  await published(other, third);
  for (const { request, answer: broken } of open) {
    request.destroy();
    await assert.rejects(broken);
  }
  while (scratch().length > 0) await new Promise((resolve) => setImmediate(resolve));
  await published(owner, newAppId());
});

const PNG = png(64, 64);
for (const [name, bytes, type] of [
  ['icon.png', PNG, 'image/png'],
  ['icon.txt', PNG, 'image/png'],
] as const) {
  test(`the icon ${name} is served as what it is, and can do nothing but be shown`, async () => {
    const id = newAppId();
    const files = { 'frontend/index.html': 'x', [`frontend/${name}`]: bytes };
    const body = await packageOf(id, { icon: name }, files);
    assert.equal((await publish(owner, id, '1.0.0', body)).status, 201);
    const { icon } = await detailOf(id);
    assert.equal(icon, `/v1/catalog/${id}/versions/1.0.0/icon`);
    const headers = { host: new URL(world.origin).host, cookie: owner.cookie };
    const answer = await rawRequest({ port: world.port, path: icon ?? '', headers });
    assert.deepEqual([answer.status, answer.headers['content-type']], [200, type]);
    assert.equal(answer.headers['content-length'], String(bytes.length));
    assert.equal(answer.headers['x-content-type-options'], 'nosniff');
    assert.match(String(answer.headers['content-security-policy']), /default-src 'none';.*sandbox/);
    const again = await rawRequest({
      port: world.port,
      path: icon ?? '',
      headers: { ...headers, 'if-none-match': answer.headers.etag ?? '' },
    });
    assert.deepEqual([again.status, again.text], [304, '']);
  });
}

const SHOWN = svg('<script>x</script><rect width="9" height="9"/>');

async function publishedIcon(icon: string | Buffer): Promise<{ readonly id: string; readonly folder: string }> {
  const id = newAppId();
  const files = { 'frontend/index.html': 'x', 'frontend/icon.png': icon };
  const body = await packageOf(id, { icon: 'icon.png' }, files);
  const answer = await publish(owner, id, '1.0.0', body);
  assert.equal(answer.status, 201, answer.text);
  const { hash } = answer.json as { hash: string };
  return { id, folder: path.join(world.core.context.config.packagesDirectory, hash) };
}

function iconOf(id: string): Promise<RawAnswer> {
  const headers = { host: new URL(world.origin).host, cookie: owner.cookie };
  return rawRequest({ port: world.port, path: `/v1/catalog/${id}/icon`, headers });
}

test('an icon that is an SVG is drawn when its version is published, and is seen as PNG alone', async () => {
  const { id, folder } = await publishedIcon(SHOWN);
  const drawn = fs.readFileSync(path.join(folder, 'icon.png'));
  assert.deepEqual(imageSize(drawn), { width: 256, height: 256 });
  const { status, headers } = await iconOf(id);
  assert.deepEqual([status, headers['content-type']], [200, 'image/png']);
  assert.equal(headers['content-length'], String(drawn.length));
});

test('an icon of before is drawn when it is first asked for, once for all, and kept', async () => {
  const { id, folder } = await publishedIcon(SHOWN);
  fs.rmSync(path.join(folder, 'icon.png'));
  const answers = await Promise.all(Array.from({ length: 10 }, () => iconOf(id)));
  for (const { status, headers } of answers) assert.deepEqual([status, headers['content-type']], [200, 'image/png']);
  assert.deepEqual(fs.readdirSync(folder).sort(), ['frontend', 'icon.png']);
  const { ino } = fs.statSync(path.join(folder, 'icon.png'));
  await iconOf(id);
  assert.equal(fs.statSync(path.join(folder, 'icon.png')).ino, ino);
});

test('an icon of before that cannot be drawn is not shown, and not tried again and again', async () => {
  const { id, folder } = await publishedIcon(SHOWN);
  const [drawn, original] = [path.join(folder, 'icon.png'), path.join(folder, 'frontend/icon.png')];
  // What core has verified it does not look at again, so this stands for an icon that was published.
  assert.equal((await iconOf(id)).status, 200);
  fs.rmSync(drawn);
  fs.writeFileSync(original, hostilePictures['use that names use'] ?? '');
  assert.equal((await iconOf(id)).status, 404);
  fs.writeFileSync(original, SHOWN);
  assert.equal((await iconOf(id)).status, 404, 'it was tried again');
  assert.equal(fs.existsSync(drawn), false);
});

test('a picture of before that is animated is not shown', async () => {
  const { id, folder } = await publishedIcon(PNG);
  const announced = chunk('acTL', Buffer.alloc(8));
  assert.equal((await iconOf(id)).status, 200);
  fs.writeFileSync(
    path.join(folder, 'frontend/icon.png'),
    Buffer.concat([PNG.subarray(0, 33), announced, PNG.subarray(33)]),
  );
  assert.equal((await iconOf(id)).status, 404);
});

test('an icon that cannot be drawn is refused with its reason, and nothing is published', async () => {
  const faults = {
    [svg('<text>x</text>')]: /with text/,
    [svg('<image href="https://example.com/a.png"/>')]: /other files/,
    [hostilePictures['use that names use'] ?? '']: /more than 64 MiB/,
  };
  for (const [icon, fault] of Object.entries(faults)) {
    const id = newAppId();
    const body = await packageOf(id, { icon: 'a.svg' }, { 'frontend/index.html': 'x', 'frontend/a.svg': icon });
    const answer = await publish(owner, id, '1.0.0', body);
    const { errors } = answer.json as { errors?: { path: string; message: string }[] };
    assert.deepEqual([answer.status, problemCode(answer), errors?.[0]?.path], [400, 'invalid_request', 'icon']);
    assert.match(errors?.[0]?.message ?? '', fault);
    assert.equal((await owner.fetch(`/v1/catalog/${id}`)).status, 404);
    assert.deepEqual(scratch(), []);
  }
});

test('screenshots are served as what they are, of the version that is named, and can do nothing but be shown', async () => {
  const id = newAppId();
  const files = { 'frontend/index.html': 'x', 'frontend/a.html': png(64, 40), 'frontend/b.png': png(40, 64) };
  const body = await packageOf(id, { screenshots: ['a.html', 'b.png'], changes: 'First.\nReally.' }, files);
  assert.equal((await publish(owner, id, '1.0.0', body)).status, 201);
  await published(owner, id, '2.0.0');
  const detail = (await owner.fetch(`/v1/catalog/${id}?version=1.0.0`)).json as CatalogDetail;
  assert.equal(detail.changes, 'First.\nReally.');
  assert.equal(detail.size, body.length);
  assert.deepEqual(
    detail.screenshots,
    [1, 2].map((number) => `/v1/catalog/${id}/versions/1.0.0/screenshots/${number}`),
  );
  const { changes, screenshots } = (await owner.fetch(`/v1/catalog/${id}`)).json as CatalogDetail;
  assert.deepEqual([changes, screenshots], [null, []]);
  const headers = { host: new URL(world.origin).host, cookie: owner.cookie };
  const etags = new Set<string>();
  for (const path of detail.screenshots) {
    const answer = await rawRequest({ port: world.port, path, headers });
    assert.deepEqual([answer.status, answer.headers['content-type']], [200, 'image/png']);
    assert.equal(answer.headers['x-content-type-options'], 'nosniff');
    assert.equal(answer.headers['cross-origin-resource-policy'], 'same-origin');
    assert.match(String(answer.headers['content-disposition']), /^attachment; filename="picture\.[a-z]+"$/);
    assert.match(String(answer.headers['content-security-policy']), /default-src 'none';.*sandbox/);
    etags.add(String(answer.headers.etag));
  }
  assert.equal(etags.size, 2);
  for (const rest of ['1.0.0/screenshots/3', '2.0.0/screenshots/1', '9.0.0/screenshots/1']) {
    const answer = await owner.fetch(`/v1/catalog/${id}/versions/${rest}`);
    assert.deepEqual([answer.status, problemCode(answer)], [404, 'not_found'], rest);
  }
  for (const number of ['0', '-1', '01', '1.5', 'x', '%2e%2e']) {
    const answer = await owner.fetch(`/v1/catalog/${id}/versions/1.0.0/screenshots/${number}`);
    assert.equal(answer.status, 400, number);
  }
});

test('an app without icon, and an app that is not there, have none', async () => {
  const id = newAppId();
  await published(owner, id);
  for (const app of [id, 'no-such-app']) {
    const answer = await owner.fetch(`/v1/catalog/${app}/icon`);
    assert.deepEqual([answer.status, problemCode(answer)], [404, 'not_found']);
  }
});
