// Opens the microvm driver for the conformance suite, with images that its benches share.

import type { Log } from '../../src/clock.ts';
import type { Driver } from '../../src/drivers/driver.ts';
import { openMicrovmDriver } from '../../src/drivers/microvm/microvm-driver.ts';
import { settingsForTests } from '../microvm/equipment.ts';
import { tryOnce } from '../microvm/try-once.ts';

const write = (fields: object, message: string) => process.stderr.write(`${message} ${JSON.stringify(fields)}\n`);
const log: Log = { debug: () => undefined, info: () => undefined, warn: write, error: write };

export async function openForConformance(
  dataDirectory: string,
  options: Readonly<Record<string, string>>,
): Promise<Driver> {
  const { imageDirectory, dns } = options;
  if (imageDirectory === undefined) throw new Error('The benches share a folder of images.');
  await tryOnce();
  const resolver = dns === undefined ? {} : { dns: [dns] };
  return openMicrovmDriver({ ...settingsForTests(), dataDirectory, imageDirectory, log, ...resolver });
}
