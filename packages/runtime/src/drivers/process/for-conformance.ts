// Opens the process driver for drivers/conformance, confined in one given way.

import { toldLog } from '../../../test-support/told-log.ts';
import { carrierNames } from '../../network/open-user-egress.ts';
import type { Driver } from '../driver.ts';
import type { Way } from './mechanism.ts';
import { openProcessDriver } from './process-driver.ts';

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
    log: toldLog,
  });
}
