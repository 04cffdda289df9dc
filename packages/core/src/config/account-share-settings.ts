// How much one account may take of what all share.
import { MiB } from '@platform/contract/sizes';
import type { CoreConfig } from './config.ts';
import { integerOf, type Read } from './variables.ts';

export type AccountShareSettings = Pick<CoreConfig, 'accountDiskBytes' | 'accountMemoryPercent' | 'accountUdpPorts'>;

export function readAccountShareSettings(read: Read): AccountShareSettings {
  return {
    accountDiskBytes: integerOf(read, 'PLATFORM_ACCOUNT_DISK_MIB', 1, 2 ** 31 - 1) * MiB,
    accountMemoryPercent: integerOf(read, 'PLATFORM_ACCOUNT_MEMORY_PERCENT', 1, 100),
    accountUdpPorts: integerOf(read, 'PLATFORM_ACCOUNT_UDP_PORTS', 0, 65_535),
  };
}
