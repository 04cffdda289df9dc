// The story of a disk that fills, for drivers that are tried beside the process driver's own test: short, and the same.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import * as path from 'node:path';
import { limits, type WorkloadDetail } from '@platform/contract';
import { openBackend } from '../support/backend.ts';
import { registerAccount, signIn } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, runCommand, startPlatform } from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { until } from '../support/wait.ts';
import { allRegistered, diskFullFiles, diskFullWorkload, MiB, registerMore, type TestDisk } from './full-disk.ts';

const HOSTILE_MIB = 300;
/** So much of it is on the disk when that gets full. */
const WRITTEN_MIB = 32;
const RESERVE_MIB = limits.diskReserve.value / MiB;
/** For an emulated guest on a busy machine to boot. */
const PATIENCE = 120_000;

/** @param current is told which platform runs, so that it is stopped whatever happens */
export async function tellDiskFullStory(
  place: PlatformPlace,
  disk: TestDisk,
  current: (platform: PlatformProcess) => void,
): Promise<void> {
  let platform = await startPlatform(place);
  current(platform);
  const villain = await registerAccount(place, 'villain');
  await publishTestApp(villain, 'hostile', diskFullWorkload(HOSTILE_MIB), diskFullFiles);
  assert.equal((await villain.fetch('/v1/apps', { body: { appId: 'hostile' } })).status, 201);
  const hostile = await openBackend(place, villain, 'hostile');
  const says = (address: string, text: string) => async () => (await hostile(address)).text === text;
  await until('the backend to count', says('/count', '1'), PATIENCE);
  const empty = disk.freeMiB();
  await until('the backend to begin to fill its volume', says('/fill', 'filling'), PATIENCE);
  await until('what it writes to arrive', () => disk.freeMiB() < empty - WRITTEN_MIB, PATIENCE);

  // Another program takes of the reserve while the backend writes: now what writes must stop, and people register.
  const registered: string[] = [];
  const filling = new AbortController();
  const registering = registerMore(place, 'early', registered, filling.signal);
  disk.fill(RESERVE_MIB - 100);
  const status = async () => (await villain.fetch('/v1/apps/hostile/status')).json as WorkloadDetail;
  const stopped = await until('the backend to be stopped', async () => {
    const now = await status();
    return now.state === 'stopped' ? now : undefined;
  });
  assert.match(stopped.reason ?? '', /disk of the machine is full/);
  const [left, before] = [disk.freeMiB(), registered.length];
  await until('more people to register', () => registered.length > before + 5, 60_000);
  assert.ok(left - disk.freeMiB() < 70, `${left - disk.freeMiB()} MiB went although everything that writes is stopped`);
  filling.abort();
  await registering;

  // And then the very last byte. The platform starts all the same, and says so.
  await platform.stop();
  disk.fill(0);
  assert.ok(disk.freeMiB() < 1);
  platform = await startPlatform(place);
  current(platform);
  assert.match(platform.output(), /The disk is full: \S+ (?:bytes|KiB|MiB) of \S+ GiB are free/);
  assert.ok(!existsSync(path.join(place.dataDirectory, 'ballast')), 'given up for the start');
  await signIn(place, villain.authenticator);
  await registerAccount(place, 'late');
  registered.push('late');

  // With space the backend goes on where it was, and its operator takes back what it took.
  disk.giveBack();
  await until('the backend to go on', says('/count', '2'), PATIENCE);
  const beforehand = disk.freeMiB();
  await runCommand(['uninstall', 'villain/hostile', '--delete-volume'], place.environment);
  assert.ok(disk.freeMiB() - beforehand > WRITTEN_MIB, `${disk.freeMiB() - beforehand} MiB are free again`);
  await allRegistered(place, registered);
}
