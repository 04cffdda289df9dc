// How much disk space one account may take.
import { MiB } from '@platform/contract/sizes';
import type { CoreConfig } from './config.ts';
import { integerOf, type Read } from './variables.ts';

export type AccountDiskSettings = Pick<CoreConfig, 'accountDiskBytes'>;

export function readAccountDiskSettings(read: Read): AccountDiskSettings {
  return { accountDiskBytes: integerOf(read, 'PLATFORM_ACCOUNT_DISK_MIB', 1, 2 ** 31 - 1) * MiB };
}
