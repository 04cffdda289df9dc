// One trial guest and one making of the images for all tests of a checkout, also when two files of tests begin together.
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { probeMicrovm } from '../../src/drivers/microvm/microvm-driver.ts';
import { lockFile } from '../../src/file-lock.ts';
import { makePlace } from '../place.ts';
import { imagesOfTests, settingsForTests } from './equipment.ts';

/** For another file's trial, emulated on a busy machine. After that each has its own. */
const LONGEST_WAIT_SECONDS = 120;

/** Before a test opens a driver, which finds there what the trial has left. */
export async function tryOnce(): Promise<void> {
  const outcome = join(imagesOfTests, 'trial.json');
  if (existsSync(outcome)) return;
  mkdirSync(imagesOfTests, { recursive: true });
  const lock = openSync(join(imagesOfTests, 'trial.lock'), 'w');
  const place = makePlace();
  try {
    await lockFile(lock, 'exclusive', { waitSeconds: LONGEST_WAIT_SECONDS });
    if (existsSync(outcome)) return;
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    await probeMicrovm({ ...settingsForTests(), dataDirectory: place.folder, imageDirectory: imagesOfTests, log });
  } finally {
    closeSync(lock);
    place.remove();
  }
}
