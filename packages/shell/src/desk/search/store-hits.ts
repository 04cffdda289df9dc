// Apps of the Store that are not installed and fit what was typed. The list is read when a person begins to search; without
// it they find everything else.
import type { CatalogEntry } from '@platform/contract';
import { signal } from '@preact/signals';
import { call, everyItem } from '../../api/client.ts';
import { installedApps } from '../../apps/installed-apps.ts';
import { fitting } from './match-commands.ts';

type Offered = Pick<CatalogEntry, 'appId' | 'name' | 'summary' | 'icon'>;

/** Listed at most: what is installed comes first, and the Store has its own search. */
const AT_MOST = 4;
const FRESH_MS = 60_000;

/** As last read; empty before. */
export const offeredApps = signal<readonly Offered[]>([]);
let readAt = Number.NEGATIVE_INFINITY;

/** Reads the list, unless it was read a moment ago. */
export async function readOffered(): Promise<void> {
  if (performance.now() - readAt < FRESH_MS) return;
  readAt = performance.now();
  try {
    offeredApps.value = await everyItem((cursor) => call('catalog.list', { query: { limit: 200, cursor } }));
  } catch {
    // The next letter tries again.
    readAt = Number.NEGATIVE_INFINITY;
  }
}

/** Another account is offered other apps. */
export function forgetOffered(): void {
  offeredApps.value = [];
  readAt = Number.NEGATIVE_INFINITY;
}

export function storeHits(
  typed: string,
  offered: readonly Offered[],
  isInstalled: (appId: string) => boolean,
): readonly Offered[] {
  const others = offered.filter(({ appId }) => !isInstalled(appId));
  return fitting(others, typed, ({ name, summary, appId }) => ({ title: name, words: `${appId} ${summary}` })).slice(
    0,
    AT_MOST,
  );
}

/** Those that are not installed now. */
export function offeredHits(typed: string): readonly Offered[] {
  const installed = new Set((installedApps.value ?? []).map(({ appId }) => appId));
  return storeHits(typed, offeredApps.value, (appId) => installed.has(appId));
}
