// A disk that fills under the microvm driver: its volumes are images that only the guests write to.
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { lacksEquipment, settingsForTests } from '../../packages/runtime/test-support/microvm/equipment.ts';
import { lendImages } from '../../packages/runtime/test-support/microvm/lend-images.ts';
import { onOwnDisk } from '../support/own-disk.ts';
import { emptyPlace, type PlatformPlace, type PlatformProcess } from '../support/platform-process.ts';
import { tellDiskFullStory } from './disk-full-story.ts';
import { testDisk } from './full-disk.ts';

onOwnDisk(import.meta.url, { sizeMiB: 2_400, timeout: 6 * 60_000, skip: lacksEquipment() }, (folder) => {
  let place: PlatformPlace;
  let platform: PlatformProcess | undefined;

  before(async () => {
    const { kernel } = settingsForTests();
    place = await emptyPlace({
      PLATFORM_RATE_LIMITS: 'authentication=1000000',
      PLATFORM_RUNTIME_DRIVER: 'microvm',
      ...(kernel === undefined ? {} : { PLATFORM_MICROVM_KERNEL: kernel }),
    });
    await lendImages(path.join(place.dataDirectory, 'microvm'));
  });
  after(async () => {
    await platform?.stop();
    await place.remove();
  });

  test('machines that write are stopped before the database, and go on afterwards with nothing lost', () =>
    tellDiskFullStory(place, testDisk(folder), (running) => {
      platform = running;
    }));
});
