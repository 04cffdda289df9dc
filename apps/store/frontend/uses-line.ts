// What the backend of an app may use of the server, in one line.
import type { CatalogEntry } from '@platform/sdk/browser';

/** `up to 128 MiB of memory while it is used, and 1 GiB of disk`; the disk is taken in any case. */
export function usesLine({ mode, memoryMiB, diskMiB }: NonNullable<CatalogEntry['resources']>): string {
  const when = mode === 'always' ? 'all the time' : 'while it is used';
  const disk = diskMiB === 0 ? '' : `, and ${size(diskMiB)} of disk`;
  return `up to ${size(memoryMiB)} of memory ${when}${disk}`;
}

function size(mebibytes: number): string {
  return mebibytes < 1_024 ? `${mebibytes} MiB` : `${Number((mebibytes / 1_024).toFixed(1))} GiB`;
}
