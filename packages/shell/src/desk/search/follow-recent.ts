// Keeps which apps were opened last, for the search.
import { effect } from '@preact/signals';
import { frontApp, homeApp } from '../../apps/frames/open-apps.ts';
import { addRecent } from './recent.ts';

/** @returns the end of it */
export function followRecentApps(account: string): () => void {
  return effect(() => {
    const appId = frontApp.value;
    if (appId !== null && appId !== homeApp.value) addRecent(localStorage, account, 'apps', appId);
  });
}
