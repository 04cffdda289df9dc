import { MiB } from '@platform/contract/sizes';

/**
 * What the kernel may keep for connections of a workload where it does not count that as its memory (control groups of version
 * 1): a quarter as much again.
 */
export function socketBytes(memoryMiB: number): number {
  return Math.floor(memoryMiB / 4) * MiB;
}
