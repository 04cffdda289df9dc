// A disk that fills, by a hostile app and its publisher and at last by another program: people register all the same,
// nothing acknowledged is lost, the platform starts on the full disk, and its operator makes space.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { limits, type WorkloadDetail } from '@platform/contract';
import { openBackend } from '../support/backend.ts';
import { registerAccount, signIn, type TestAccount } from '../support/client.ts';
import { onOwnDisk } from '../support/own-disk.ts';
import { buildTestPackage, testManifest } from '../support/packages.ts';
import {
  emptyPlace,
  type PlatformPlace,
  type PlatformProcess,
  runCommand,
  startPlatform,
} from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { problemCode } from '../support/raw-http.ts';
import { until } from '../support/wait.ts';
import { allRegistered, diskFullFiles, diskFullWorkload, MiB, registerMore, testDisk } from './full-disk.ts';

const DISK_MIB = 2_000;
const HOSTILE_MIB = 300;
const PACKAGE_MIB = 48;

onOwnDisk(import.meta.url, { sizeMiB: DISK_MIB, timeout: 10 * 60_000 }, (folder) => {
  let place: PlatformPlace;
  let platform: PlatformProcess | undefined;

  before(async () => {
    place = await emptyPlace({ PLATFORM_RATE_LIMITS: 'authentication=1000000' });
  });
  after(async () => {
    await platform?.stop();
    await place.remove();
  });

  const { freeMiB, fill, fillReserve, giveBack } = testDisk(folder);
  const install = (account: TestAccount, appId: string) => account.fetch('/v1/apps', { body: { appId } });
  const statusOf = async (account: TestAccount, appId: string) =>
    (await account.fetch(`/v1/apps/${appId}/status`)).json as WorkloadDetail;

  async function publishNoise(account: TestAccount, appId: string): Promise<string> {
    const noise = { 'frontend/index.html': '<!doctype html>', 'frontend/noise': randomBytes(PACKAGE_MIB * MiB) };
    const body = await buildTestPackage({ manifest: testManifest(appId), files: noise });
    const headers = { 'content-type': 'application/gzip' };
    const answer = await account.fetch(`/v1/catalog/${appId}/versions/1.0.0`, { method: 'PUT', body, headers });
    return answer.status === 201 ? 'published' : problemCode(answer);
  }

  // A whole story, on a disk that is slow because it is full.
  test('nobody is kept from registering, nothing is lost, and the operator makes space', {
    timeout: 8 * 60_000,
  }, async (context) => {
    platform = await startPlatform(place);
    const villain = await registerAccount(place, 'villain');
    const honest = await registerAccount(place, 'honest');
    const operator = await registerAccount(place, 'caretaker');
    await publishTestApp(honest, 'counter', diskFullWorkload(16), diskFullFiles);
    await publishTestApp(villain, 'hostile', diskFullWorkload(HOSTILE_MIB), diskFullFiles);
    await publishTestApp(villain, 'greedy', diskFullWorkload(DISK_MIB), diskFullFiles);
    assert.equal((await install(honest, 'counter')).status, 201);
    const counter = await openBackend(place, honest, 'counter');
    assert.equal((await counter('/count')).text, '1');
    assert.equal(problemCode(await install(villain, 'greedy')), 'unavailable', 'more than the disk has');
    assert.equal((await install(villain, 'hostile')).status, 201);

    // The hostile app and its publisher take what they can get.
    const registered: string[] = [];
    const filling = new AbortController();
    const registering = registerMore(place, 'early', registered, filling.signal);
    const hostile = await openBackend(place, villain, 'hostile');
    assert.equal((await hostile('/fill')).text, 'filling');
    let packages = 0;
    let refusal = 'published';
    for (; refusal === 'published'; packages += 1) refusal = await publishNoise(villain, `noise-${packages}`);
    assert.equal(refusal, 'unavailable');
    await until('the volume to be full', () => freeMiB() < limits.diskReserve.value / MiB + 2 * PACKAGE_MIB, 120_000);
    assert.ok(freeMiB() > limits.diskReserve.value / MiB - PACKAGE_MIB, `${freeMiB()} MiB are left`);

    // Another program takes of the reserve: now what writes must stop.
    fill(limits.diskReserve.value / MiB - 100);
    const stopped = await until('the hostile backend to be stopped', async () => {
      const status = await statusOf(villain, 'hostile');
      return status.state === 'stopped' ? status : undefined;
    });
    assert.match(stopped.reason ?? '', /disk of the machine is full/);
    assert.equal(problemCode(await counter('/count')), 'workload_unavailable');
    const left = freeMiB();
    const before = registered.length;
    await until('more people to register', () => registered.length > before + 20, 60_000);
    assert.ok(left - freeMiB() < 50, `${left - freeMiB()} MiB went although everything that writes is stopped`);
    filling.abort();
    await registering;

    // And then the very last byte, of what ext4 reserves for root too. The platform starts all the same, and says so.
    await platform.stop();
    const ballast = path.join(place.dataDirectory, 'ballast');
    assert.ok(existsSync(ballast));
    fill(0);
    const giveReserveBack = fillReserve();
    assert.ok(freeMiB() < 1);
    const begun = await startPlatform(place).catch((error: unknown) => error);
    if (begun instanceof Error) {
      // As in containers, whose root may not share what is reserved for it.
      assert.match(begun.message, /The disk of the data folder is full, .* tune2fs -m 0/);
      giveReserveBack();
    }
    platform = begun instanceof Error ? await startPlatform(place) : (begun as PlatformProcess);
    assert.match(platform.output(), /The disk is full: \S+ (?:bytes|KiB|MiB) of \S+ GiB are free/);
    assert.ok(!existsSync(ballast), 'given up for the start');
    await signIn(place, operator.authenticator);
    const late = new AbortController();
    const registeringLate = registerMore(place, 'late', registered, late.signal);
    await until('people to register on the full disk', () => registered.some((name) => name === 'late-n5'), 60_000);

    // The operator sees who took it, and takes it back.
    const listed = await runCommand(['disk'], place.environment);
    assert.match(listed, /300 MiB {2}volume of villain\/hostile/);
    assert.match(listed, /package noise-0@1\.0\.0 by villain/);
    const beforehand = freeMiB();
    await runCommand(['uninstall', 'villain/hostile', '--delete-volume'], place.environment);
    assert.ok(freeMiB() - beforehand > HOSTILE_MIB * 0.9, `${freeMiB() - beforehand} MiB are free again`);
    for (let index = 0; index < packages - 1; index += 1)
      await runCommand(['unpublish', `noise-${index}@1.0.0`], place.environment);
    giveBack();
    if (!(begun instanceof Error)) giveReserveBack();
    await until('the counter to go on', async () => (await counter('/count')).text === '2');
    assert.equal(await publishNoise(honest, 'useful'), 'published');
    late.abort();
    await registeringLate;
    await until('the next full disk to be provided for', () => existsSync(ballast), 60_000);

    await allRegistered(place, registered);
    context.diagnostic(`PLATFORM_TEST_ ${registered.length} registrations, none failed; ${packages - 1} packages`);
  });

  test('a disk that is too small for the first start is named in one line, by doctor too', async () => {
    fill(400);
    const small = await emptyPlace();
    const failed = await runCommand(['start'], small.environment).then(
      () => assert.fail('it started'),
      (error: { readonly stderr: string }) => error.stderr,
    );
    assert.match(failed, /The disk of .* has \d+ MiB free, and the first start needs 512 MiB\. Free some space/);
    assert.equal(failed.trim().split('\n').length, 1);
    const examined = await runCommand(['doctor'], small.environment).then(
      () => assert.fail('nothing is wrong'),
      (error: { readonly stdout: string }) => error.stdout,
    );
    assert.match(examined, /✗ disk .*The disk is full: \S+ (?:bytes|KiB|MiB) of \S+ GiB are free/);
  });
});
