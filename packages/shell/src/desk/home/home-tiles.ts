// How the person arranged the tiles of the home screen. Core keeps it, for whichever app draws them.
import type { HomeTiles } from '@platform/contract';
import { signal } from '@preact/signals';
import { call } from '../../api/client.ts';

/** As last read; `null` before. */
export const homeTiles = signal<HomeTiles | null>(null);

/** @throws ApiError */
export async function readHomeTiles(): Promise<HomeTiles> {
  homeTiles.value = await call('home.read');
  return homeTiles.value;
}

/** @throws ApiError */
export async function arrangeHomeTiles({ pinned, order }: HomeTiles): Promise<HomeTiles> {
  homeTiles.value = await call('home.arrange', { body: { pinned: [...pinned], order: [...order] } });
  return homeTiles.value;
}
