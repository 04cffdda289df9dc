// Opens the notification that the address names: a press on it outside this page, by way of the service worker.

import { readNotificationAddress } from '../../address/notification-address.ts';
import { ApiError, plainMessage } from '../../api/api-error.ts';
import { pausedAt } from '../../apps/pause.ts';
import type { GoTo } from '../../worker/open-from-press.ts';
import { showToast } from '../toasts/toasts.ts';
import { markRead } from './inbox.ts';
import { openSender } from './sender.tsx';

function isGoTo(data: unknown): data is GoTo {
  if (typeof data !== 'object' || data === null || !('type' in data) || !('address' in data)) return false;
  return data.type === 'platform.go' && typeof data.address === 'string';
}

/** Opens notifications that the service worker sends after a press; also while no account is signed in. */
export function followPresses(): void {
  // Pages at an address that browsers do not trust have none.
  if (!('serviceWorker' in navigator)) return;
  navigator.serviceWorker.addEventListener('message', ({ data }) => {
    if (isGoTo(data) && readNotificationAddress(data.address) !== null) location.hash = data.address;
  });
}

/**
 * Opens the notification in the address, now and whenever it changes, as soon as `ready` lets apps be opened. Core
 * returns the record only to its own account, so the address of another account's notification opens nothing.
 *
 * @returns a function that ends it
 */
export function followNotificationAddress(ready: Promise<unknown>): () => void {
  const open = () => {
    const id = readNotificationAddress(location.hash);
    if (id === null) return;
    // Once: neither reloading nor going back opens it again.
    history.replaceState(null, '', '#/');
    void ready.then(() => openAddressed(id));
  };
  window.addEventListener('hashchange', open);
  open();
  return () => window.removeEventListener('hashchange', open);
}

async function openAddressed(id: string): Promise<void> {
  // It stays unread, and the page says why nothing opens.
  if (typeof pausedAt.value === 'string') return;
  try {
    const record = await markRead(id);
    openSender(record, record.presentation?.actions.find(({ target }) => target !== undefined)?.target ?? null);
  } catch (error) {
    const isGone = error instanceof ApiError && error.status === 404;
    showToast({
      title: 'The notification could not be opened',
      body: isGone ? 'It is no longer there, or belongs to another account.' : plainMessage(error),
      tone: 'danger',
    });
  }
}
