// Copies images that other tests have built into the data folder of a platform under test; and, for attacks, installs
// guests with a root shell that the workload can reach.
import { constants, copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { baseImage, guestInit, initramfs } from '../../src/drivers/microvm/base-image.ts';
import { openImages } from '../../src/drivers/microvm/images.ts';
import { findEquipment } from '../../src/drivers/microvm/requirements.ts';
import { imagesOfTests, settingsForTests } from './equipment.ts';
import { tryOnce } from './try-once.ts';

/**
 * TCP port in a guest with `rootDoor`: what is sent there is run by /bin/sh as root of the guest, outside all its
 * walls.
 */
export const ROOT_DOOR = 7_099;

const BEFORE = '# What the keeper may ask for while it runs.';

/**
 * @param directory where the platform looks for its images
 * @param door `rootDoor` stands for a hole in the guest's kernel: the workload becomes root of its machine through it
 * @throws Error where virtual machines cannot be run: skip the test by `lacksEquipment`
 */
export async function lendImages(directory: string, door: 'rootDoor' | 'none' = 'none'): Promise<void> {
  const equipment = findEquipment(settingsForTests());
  if (!('monitor' in equipment)) throw new Error(equipment.join(' '));
  await tryOnce();
  mkdirSync(directory, { recursive: true });
  const images = await openImages(imagesOfTests, equipment.makeErofs);
  const lend = (from: string, name: string) =>
    copyFileSync(from, join(directory, basename(name)), constants.COPYFILE_FICLONE);
  const [base, usual] = [await baseImage(images, equipment), await initramfs(images, equipment)];
  lend(base, base);
  lend(door === 'none' ? usual : await initramfs(images, equipment, withRootDoor(guestInit())), usual);
  // What a trial guest found out, so that there need not be another.
  const trial = join(imagesOfTests, 'trial.json');
  if (existsSync(trial)) lend(trial, trial);
  images.close();
}

function withRootDoor(init: string): string {
  if (!init.includes(BEFORE)) throw new Error('The init of guests has changed: there is no place for the door.');
  return init.replace(BEFORE, `nc -ll -p ${ROOT_DOOR} -e /bin/sh 4>&- 5>&- &\n${BEFORE}`);
}
