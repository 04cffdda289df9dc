// A disk that fills under an ordinary user, who can hold no volume to its size: at the reserve what fills it is killed, and
// all else is as for root.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { limits, type WorkloadDetail } from '@platform/contract';
import { openBackend } from '../support/backend.ts';
import { registerAccount, signIn } from '../support/client.ts';
import { onOwnDisk } from '../support/own-disk.ts';
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

const RESERVE_MIB = limits.diskReserve.value / MiB;

onOwnDisk(import.meta.url, { sizeMiB: 1_800, timeout: 5 * 60_000, as: 'nobody' }, (folder) => {
  const disk = testDisk(folder);
  let place: PlatformPlace;
  let platform: PlatformProcess | undefined;

  before(async () => {
    place = await emptyPlace({ PLATFORM_RATE_LIMITS: 'authentication=1000000' });
  });
  after(async () => {
    await platform?.stop();
    await place.remove();
  });

  test('what fills it is killed at the reserve, the database goes on, and the operator takes the space back', async () => {
    assert.notEqual(process.getuid?.(), 0);
    platform = await startPlatform(place);
    const villain = await registerAccount(place, 'villain');
    const honest = await registerAccount(place, 'honest');
    for (const [account, appId] of [
      [honest, 'counter'],
      [villain, 'hostile'],
    ] as const) {
      await publishTestApp(account, appId, diskFullWorkload(16), diskFullFiles);
      assert.equal((await account.fetch('/v1/apps', { body: { appId } })).status, 201);
    }
    const counter = await openBackend(place, honest, 'counter');
    assert.equal((await counter('/count')).text, '1');
    const status = async () => (await villain.fetch('/v1/apps/hostile/status')).json as WorkloadDetail;

    const registered: string[] = [];
    const filling = new AbortController();
    const registering = registerMore(place, 'early', registered, filling.signal);
    const hostile = await openBackend(place, villain, 'hostile');
    assert.equal((await hostile('/fill')).text, 'filling');
    assert.match((await status()).unenforced.join(' '), /size of its volume is not limited/);
    const stopped = await until(
      'the hostile backend to be stopped',
      async () => {
        const now = await status();
        return now.state === 'stopped' ? now : undefined;
      },
      120_000,
    );
    assert.match(stopped.reason ?? '', /disk of the machine is full/);
    const left = disk.freeMiB();
    assert.ok(left > RESERVE_MIB / 2, `${left} MiB are left`);
    assert.equal(problemCode(await counter('/count')), 'workload_unavailable');
    const before = registered.length;
    await until('more people to register', () => registered.length > before + 5, 60_000);
    assert.ok(
      left - disk.freeMiB() < 70,
      `${left - disk.freeMiB()} MiB went although everything that writes is stopped`,
    );
    filling.abort();
    await registering;

    // And then the very last byte, by another program.
    await platform.stop();
    disk.fill(0);
    assert.ok(disk.freeMiB() < 1);
    platform = await startPlatform(place);
    assert.match(platform.output(), /The disk is full: \S+ (?:bytes|KiB|MiB) of \S+ GiB are free/);
    await signIn(place, honest.authenticator);
    await registerAccount(place, 'late');
    registered.push('late');
    const beforehand = disk.freeMiB();
    await runCommand(['uninstall', 'villain/hostile', '--delete-volume'], place.environment);
    assert.ok(disk.freeMiB() - beforehand > 100, `${disk.freeMiB() - beforehand} MiB are free again`);
    disk.giveBack();
    await until('the counter to go on', async () => (await counter('/count')).text === '2');
    await allRegistered(place, registered);
  });
});
