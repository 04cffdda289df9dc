// What the backend of an app may use of the server, in one line.
import type { CatalogEntry } from '@platform/sdk/browser';

/** `up to 128 MiB of memory and 1 GiB of data, all the time`. */
export function usesLine({ mode, memoryMiB, diskMiB }: NonNullable<CatalogEntry['resources']>): string {
  const data = diskMiB === 0 ? '' : ` and ${size(diskMiB)} of data`;
  return `up to ${size(memoryMiB)} of memory${data}, ${mode === 'always' ? 'all the time' : 'while it is used'}`;
}

function size(mebibytes: number): string {
  return mebibytes < 1_024 ? `${mebibytes} MiB` : `${Number((mebibytes / 1_024).toFixed(1))} GiB`;
}
