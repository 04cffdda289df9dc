// What the backend of an app may use of the server, in one line.
import type { CatalogEntry } from '@platform/sdk/browser';
import { MiB, sizeText } from '@platform/shell/words';

/** `up to 128 MiB of memory while it is used, and 1 GiB of disk`; the disk is taken in any case. */
export function usesLine({ mode, memoryMiB, diskMiB }: NonNullable<CatalogEntry['resources']>): string {
  const when = mode === 'always' ? 'all the time' : 'while it is used';
  const disk = diskMiB === 0 ? '' : `, and ${sizeText(diskMiB * MiB)} of disk`;
  return `up to ${sizeText(memoryMiB * MiB)} of memory ${when}${disk}`;
}
