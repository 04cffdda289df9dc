// How the person arranged the tiles of the home screen. Core keeps it, for whichever app draws them.
import type { HomeScreen, HomeTiles } from '@platform/contract';
import { signal } from '@preact/signals';
import { call } from '../../api/client.ts';

/** As last read; `null` before. */
export const homeTiles = signal<HomeTiles | null>(null);

/** @throws ApiError */
export async function readHomeTiles(): Promise<HomeScreen> {
  const home = await call('home.read');
  homeTiles.value = home;
  return home;
}

/** @throws ApiError */
export async function arrangeHomeTiles({ pinned, order }: HomeTiles): Promise<HomeTiles> {
  homeTiles.value = await call('home.arrange', { body: { pinned: [...pinned], order: [...order] } });
  return homeTiles.value;
}
