// The disk space of an account: its volumes and packages are counted in sum, also when they come at the same time.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import { accountDisk } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { buildTestPackage, testManifest } from '../../../../tests/support/packages.ts';
import { problemCode, type RawAnswer } from '../../../../tests/support/raw-http.ts';
import { addNode, bearer, install, installationRow, nodeWorkload, publish } from '../../test-support/apps.ts';
import { type NodeDouble, startNodeDouble } from '../../test-support/node-double.ts';

const MiB = 1024 * 1024;
const LIMIT = 3_000;

let platform: Constellation;
let node: NodeDouble;
/** Publishes what others install, so that packages and volumes count for different accounts. */
let publisher: TestAccount;
let account: TestAccount;
let count = 0;

before(async () => {
  platform = await startConstellation({ config: { accountDiskBytes: LIMIT * MiB } });
  node = await startNodeDouble(platform);
  publisher = await registerAccount(platform, 'publisher');
});
after(async () => {
  await platform.close();
  await node.close();
});
beforeEach(async () => {
  count += 1;
  account = await registerAccount(platform, `tenant-n${count}`);
});

const volumeOf = (diskMiB: number) => ({ ...nodeWorkload, volume: true, resources: { diskMiB } });

async function anApp(diskMiB: number): Promise<string> {
  count += 1;
  const appId = `disk-${count}`;
  await publish(publisher, appId, { workload: volumeOf(diskMiB) });
  return appId;
}

async function appsOf(many: number, diskMiB: number): Promise<string[]> {
  const apps: string[] = [];
  while (apps.length < many) apps.push(await anApp(diskMiB));
  return apps;
}

const tryInstall = (appId: string) => account.fetch('/v1/apps', { body: { appId } });
const uninstall = (appId: string) => account.fetch(`/v1/apps/${appId}`, { method: 'DELETE' });
const deleteVolume = (appId: string) => account.fetch(`/v1/account/volumes/${appId}`, { method: 'DELETE' });
const disk = async () => accountDisk.parse((await account.fetch('/v1/account/disk')).json);

function assertRefused(answer: RawAnswer, status: number, code: string, words?: RegExp): void {
  assert.deepEqual([answer.status, problemCode(answer)], [status, code], answer.text);
  if (words !== undefined) assert.match(answer.text, words);
}

function ofCode(answers: readonly RawAnswer[], code: string): number {
  return answers.filter((answer) => answer.status >= 400 && problemCode(answer) === code).length;
}

/** Cannot be packed any smaller. */
async function randomPackage(appId: string, bytes: number): Promise<Buffer> {
  const files = { 'frontend/index.html': '<!doctype html>', 'frontend/noise': randomBytes(bytes) };
  return buildTestPackage({ manifest: testManifest(appId), files });
}

function tryPublish(appId: string, body: Buffer): Promise<RawAnswer> {
  const headers = { 'content-type': 'application/gzip' };
  return account.fetch(`/v1/catalog/${appId}/versions/1.0.0`, { method: 'PUT', body, headers });
}

describe('volumes', () => {
  test('each within the limit are refused when they do not fit together', async () => {
    const [one = '', two = '', three = '', four = ''] = await appsOf(4, 1_000);
    for (const appId of [one, two, three]) await install(account, appId);
    assertRefused(await tryInstall(four), 409, 'disk_quota', /takes 1000 MiB, and 0 bytes of the 2\.9 GiB .*Storage/);
    const { usedBytes, limitBytes, volumes } = await disk();
    assert.deepEqual([usedBytes, limitBytes, volumes.length], [LIMIT * MiB, LIMIT * MiB, 3]);
  });

  test('that are installed at the same time pass as far as they fit together', async () => {
    const apps = await appsOf(8, 1_000);
    const answers = await Promise.all(apps.map(tryInstall));
    assert.equal(answers.filter(({ status }) => status === 201).length, 3);
    assert.equal(ofCode(answers, 'disk_quota'), 5);
    assert.equal((await disk()).usedBytes, LIMIT * MiB);
  });

  test('of removed apps count until they are deleted, which only their owner can once nothing uses them', async () => {
    const [kept = '', next = ''] = await appsOf(2, 2_000);
    await install(account, kept);
    assertRefused(await deleteVolume(kept), 409, 'volume_in_use');
    assert.equal((await uninstall(kept)).status, 204);
    assertRefused(await tryInstall(next), 409, 'disk_quota');
    assert.deepEqual(
      (await disk()).volumes.map(({ appId, bytes, installed }) => [appId, bytes, installed]),
      [[kept, 2_000 * MiB, false]],
    );
    const other = await registerAccount(platform, `other-n${count}`);
    assertRefused(await other.fetch(`/v1/account/volumes/${kept}`, { method: 'DELETE' }), 404, 'not_found');
    assert.equal((await deleteVolume(kept)).status, 204);
    assert.match(node.calls.at(-1)?.path ?? '', /\/volume$/);
    assert.equal(node.calls.at(-1)?.method, 'DELETE');
    assertRefused(await deleteVolume(kept), 404, 'not_found');
    await install(account, next);
  });

  test('stay counted when the machine on which they lie does not answer', async () => {
    const appId = await anApp(2_000);
    await install(account, appId);
    await uninstall(appId);
    const former = node.answer;
    node.answer = () => ({ status: 503, body: { code: 'workload_unavailable', detail: 'Its app is being removed.' } });
    try {
      assertRefused(await deleteVolume(appId), 503, 'workload_unavailable', /being removed/);
    } finally {
      node.answer = former;
    }
    assert.equal((await disk()).usedBytes, 2_000 * MiB);
  });

  test('that an upgrade would make too large keep their size, and the app its version', async () => {
    const appId = await anApp(1_000);
    await publish(publisher, appId, { version: '2.0.0', workload: volumeOf(3_001) });
    await publish(publisher, appId, { version: '3.0.0', workload: volumeOf(3_000) });
    const body = { appId, version: '1.0.0' };
    assert.equal((await account.fetch('/v1/apps', { body })).status, 201);
    const upgrade = (version: string) =>
      account.fetch(`/v1/apps/${appId}/upgrade`, { body: { version, acceptResources: true } });
    assertRefused(await upgrade('2.0.0'), 409, 'disk_quota', /takes 2 GiB, and 1\.9 GiB/);
    assert.equal((await disk()).usedBytes, 1_000 * MiB);
    assert.equal((await upgrade('3.0.0')).status, 200);
    assert.equal((await disk()).usedBytes, 3_000 * MiB);
    assert.equal((await upgrade('1.0.0')).status, 200);
    assert.equal((await disk()).usedBytes, 3_000 * MiB, 'a volume never shrinks');
  });

  test('found again count once', async () => {
    const appId = await anApp(2_000);
    await install(account, appId);
    await uninstall(appId);
    await install(account, appId);
    assert.equal((await disk()).usedBytes, 2_000 * MiB);
  });
});

describe('packages', () => {
  test('one account cannot fill the store with: at the same time too they pass as far as they fit together', async () => {
    // Of the second two each fits alone.
    const left = 4 * MiB;
    await install(account, await anApp(LIMIT - 4));
    let published = 0;
    for (let round = 0; round < 4; round += 1) {
      const apps = [0, 1].map((index) => `store-${count}-${round}-${index}`);
      const answers = await Promise.all(apps.map(async (appId) => tryPublish(appId, await randomPackage(appId, MiB))));
      published += answers.filter(({ status }) => status === 201).length;
      for (const answer of answers) if (answer.status !== 201) assertRefused(answer, 409, 'disk_quota');
    }
    assert.equal(published, 3, 'each is a little larger than its megabyte of noise');
    const { usedBytes, limitBytes, packages } = await disk();
    assert.equal(packages.length, 3);
    assert.ok(usedBytes <= limitBytes && usedBytes > limitBytes - left, `${usedBytes}`);
  });

  test('that say how large they are meet their refusal unread', async () => {
    await install(account, await anApp(LIMIT - 1));
    const appId = `large-${count}`;
    assertRefused(
      await tryPublish(appId, await randomPackage(appId, 2 * MiB)),
      409,
      'disk_quota',
      /1 MiB of the 2\.9 GiB/,
    );
    assert.deepEqual((await disk()).packages, []);
  });

  test('count with what they unpack to, where that is more', async () => {
    await install(account, await anApp(LIMIT - 10));
    const appId = `dense-${count}`;
    const files = { 'frontend/index.html': '<!doctype html>', 'frontend/zeros': Buffer.alloc(11 * MiB) };
    const body = await buildTestPackage({ manifest: testManifest(appId), files });
    assert.ok(body.length < MiB);
    assertRefused(await tryPublish(appId, body), 409, 'disk_quota', /takes 12 MiB/);
  });

  test('and volumes of one account share its limit, whichever comes first', async () => {
    const appId = await anApp(LIMIT - 1);
    const own = `own-${count}`;
    assert.equal((await tryPublish(own, await randomPackage(own, MiB))).status, 201);
    assertRefused(await tryInstall(appId), 409, 'disk_quota');
  });
});

describe('images', () => {
  const imageWorkload = { runtime: 'oci', image: 'registry.example/app@sha256:0' };
  before(async () => {
    await platform.core.context.pool.query("UPDATE nodes SET runtimes = '{node,oci}'");
  });
  const { local, foreign } = {
    local: (path: string, body: unknown) => bearer(platform, platform.core.localNode.nodeCredential, path, body),
    foreign: async (path: string, body: unknown) =>
      bearer(platform, (await addNode(platform, `other-${count}`)).credential, path, body),
  };
  const pathOf = async (appId: string) =>
    `/v1/node/installations/${(await installationRow(platform, account, appId)).id}/image`;

  async function anImage(workload: object = imageWorkload): Promise<string> {
    count += 1;
    const appId = `image-${count}`;
    await publish(publisher, appId, { workload });
    await publish(publisher, appId, { version: '2.0.0', workload });
    assert.equal((await account.fetch('/v1/apps', { body: { appId, version: '1.0.0' } })).status, 201);
    return appId;
  }

  test('count towards the account that installed them, as often as they are installed and no more', async () => {
    const [one, two] = [await anImage(), await anImage()];
    const claim = async (appId: string, mib: number) => local(await pathOf(appId), { bytes: mib * MiB });
    for (const mib of [2_000, 2_000, 1_500]) assert.equal((await claim(one, mib)).status, 204);
    assert.equal((await disk()).usedBytes, 1_500 * MiB);
    assertRefused(
      await claim(two, 1_501),
      409,
      'disk_quota',
      /The image of .* takes 1\.5 GiB, and 1\.4 GiB of the 2\.9 GiB/,
    );
    assert.deepEqual(
      (await disk()).images.map(({ appId, bytes }) => [appId, bytes]),
      [[one, 1_500 * MiB]],
    );
    assert.equal((await claim(two, 1_500)).status, 204);
    assertRefused(await tryInstall(await anApp(1)), 409, 'disk_quota');
    assertRefused(await claim(one, 1_501), 409, 'disk_quota');
  });

  test('go with an update, until the image of the new version is counted, and with the app', async () => {
    const appId = await anImage();
    assert.equal((await local(await pathOf(appId), { bytes: 2_000 * MiB })).status, 204);
    assert.equal((await account.fetch(`/v1/apps/${appId}/upgrade`, { body: { version: '2.0.0' } })).status, 200);
    assert.equal((await disk()).usedBytes, 0);
    assert.equal((await local(await pathOf(appId), { bytes: 2_500 * MiB })).status, 204);
    assert.equal((await disk()).usedBytes, 2_500 * MiB);
    assert.equal((await uninstall(appId)).status, 204);
    assert.deepEqual([(await disk()).usedBytes, (await disk()).images], [0, []]);
  });

  test('of an installation elsewhere are none of a node', async () => {
    const path = await pathOf(await anImage());
    assertRefused(await foreign(path, { bytes: MiB }), 404, 'not_found');
    assertRefused(await local(path, { bytes: -1 }), 400, 'invalid_request');
    assert.equal((await disk()).usedBytes, 0);
  });

  test('are none of a backend without one, whatever its node says', async () => {
    const path = await pathOf(await anImage(nodeWorkload));
    assertRefused(await local(path, { bytes: 2_000 * MiB }), 404, 'not_found');
    assert.equal((await disk()).usedBytes, 0);
  });
});
