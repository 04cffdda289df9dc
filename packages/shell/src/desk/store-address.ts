// The address of an app's page in the Store (`#/store/notes`), which a publisher hands on. The Store opens there, and asks
// core for the app; an app that is not offered to this account opens nothing.

import { readStoreAddress, storeTarget } from '../address/view.ts';
import { openApp } from '../apps/frames/open-apps.ts';
import { pausedAt } from '../apps/pause.ts';

/**
 * Opens the page in the address, now and whenever it changes, as soon as `ready` lets apps be opened.
 *
 * @returns a function that ends it
 */
export function followStoreAddress(ready: Promise<unknown>): () => void {
  const open = () => {
    const appId = readStoreAddress(location.hash);
    if (appId === null) return;
    // Once: neither reloading nor going back opens it again.
    history.replaceState(null, '', '#/');
    void ready.then(() => {
      if (typeof pausedAt.value !== 'string') openApp('store', storeTarget(appId));
    });
  };
  window.addEventListener('hashchange', open);
  open();
  return () => window.removeEventListener('hashchange', open);
}
