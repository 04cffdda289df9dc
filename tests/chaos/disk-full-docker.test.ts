// A disk that fills under the docker driver, with the engine's own data on it too.
import { after, before, test } from 'node:test';
import { engineMissing, prepareEngine, type TestEngine } from '../../packages/runtime/test-support/docker-engine.ts';
import { onOwnDisk } from '../support/own-disk.ts';
import { inOwnNetwork } from '../support/own-network.ts';
import { emptyPlace, type PlatformPlace, type PlatformProcess } from '../support/platform-process.ts';
import { tellDiskFullStory } from './disk-full-story.ts';
import { testDisk } from './full-disk.ts';

onOwnDisk(import.meta.url, { sizeMiB: 2_400, timeout: 6 * 60_000, skip: engineMissing() }, (folder) => {
  inOwnNetwork(import.meta.url, { skip: false, timeout: 5 * 60_000 }, () => {
    let engine: TestEngine;
    let place: PlatformPlace;
    let platform: PlatformProcess | undefined;

    before(async () => {
      engine = prepareEngine('ours');
      place = await emptyPlace({
        PLATFORM_RATE_LIMITS: 'authentication=1000000',
        PLATFORM_RUNTIME_DRIVER: 'docker',
        PLATFORM_RUNTIME_DOCKER_SOCKET: engine.socketPath,
      });
      await engine.start();
    });
    after(async () => {
      await platform?.stop();
      await engine.remove();
      await place.remove();
    });

    test('containers that write are stopped before the database, and go on afterwards with nothing lost', () =>
      tellDiskFullStory(place, testDisk(folder), (running) => {
        platform = running;
      }));
  });
});
