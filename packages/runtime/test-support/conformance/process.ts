// Opens the process driver for the conformance suite, confined in one given way.

import type { Driver } from '../../src/drivers/driver.ts';
import type { Way } from '../../src/drivers/process/mechanism.ts';
import { openProcessDriver } from '../../src/drivers/process/process-driver.ts';
import { carrierNames } from '../../src/network/open-user-egress.ts';
import { stderrLog } from '../stderr-log.ts';

const ways: readonly Way[] = ['bubblewrap', 'unshare', 'unshare-as-root'];

export function openForConformance(dataDirectory: string, options: Readonly<Record<string, string>>): Promise<Driver> {
  const way = ways.find((one) => one === options.way);
  if (way === undefined) throw new Error(`There is no way ${options.way}.`);
  const carrier = carrierNames.find((one) => one === options.carrier);
  return openProcessDriver({
    dataDirectory,
    allowUnsandboxed: false,
    ways: [way],
    ...(carrier === undefined ? {} : { carriers: [carrier] }),
    ...(options.dns === undefined ? {} : { dns: [options.dns] }),
    log: stderrLog,
  });
}
