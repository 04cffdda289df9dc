// The apps of the account as this page knows them, and what they are called.
import type { InstalledApp } from '@platform/contract';
import { signal } from '@preact/signals';
import { call, everyItem } from '../api/client.ts';

/** `null` until the first answer. */
export const installedApps = signal<readonly InstalledApp[] | null>(null);

let reading: Promise<readonly InstalledApp[]> | null = null;

/** Reads the list anew; calls at the same time share one reading. @throws ApiError */
export function readInstalledApps(): Promise<readonly InstalledApp[]> {
  reading ??= everyItem((cursor) => call('apps.list', { query: { limit: 200, cursor } }))
    .then((apps) => {
      installedApps.value = apps;
      return apps;
    })
    .finally(() => {
      reading = null;
    });
  return reading;
}

/** For news that the list changed: a reading that is already under way may have begun before the change. */
export async function refreshInstalledApps(): Promise<void> {
  await reading?.catch(() => undefined);
  await readInstalledApps();
}

export function findApp(appId: string): InstalledApp | undefined {
  return installedApps.value?.find((app) => app.appId === appId);
}

/** The name a person knows an app by; its id when it is no longer installed. */
export function nameOf(appId: string): string {
  return findApp(appId)?.name ?? appId;
}
