// The apps of the account as this page knows them, and what they are called.
import type { InstalledApp } from '@platform/contract';
import { signal } from '@preact/signals';
import { plainMessage } from '../api/api-error.ts';
import { call, everyItem } from '../api/client.ts';

/** `null` until the first answer. */
export const installedApps = signal<readonly InstalledApp[] | null>(null);

/** Why there is no list yet, in one sentence; `null` while it is read and once there is one. */
export const listingFailure = signal<string | null>(null);

let reading: Promise<readonly InstalledApp[]> | null = null;

/** Reads the list anew; calls at the same time share one reading. @throws ApiError */
export function readInstalledApps(): Promise<readonly InstalledApp[]> {
  reading ??= read().finally(() => {
    reading = null;
  });
  return reading;
}

async function read(): Promise<readonly InstalledApp[]> {
  listingFailure.value = null;
  try {
    const apps = await everyItem((cursor) => call('apps.list', { query: { limit: 200, cursor } }));
    installedApps.value = apps;
    return apps;
  } catch (error) {
    if (installedApps.value === null) listingFailure.value = plainMessage(error);
    throw error;
  }
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
