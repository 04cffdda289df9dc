// Opens the microvm driver for drivers/conformance, with images that its benches share.

import { settingsForTests } from '../../../test-support/microvm/equipment.ts';
import { tryOnce } from '../../../test-support/microvm/try-once.ts';
import type { Log } from '../../clock.ts';
import type { Driver } from '../driver.ts';
import { openMicrovmDriver } from './microvm-driver.ts';

const tell = (fields: object, message: string) => process.stderr.write(`${message} ${JSON.stringify(fields)}\n`);
const log: Log = { debug: () => undefined, info: () => undefined, warn: tell, error: tell };

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
