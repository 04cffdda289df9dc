// What a press on a notification does: brings the shell to the front, or opens it, at the address of the record.
import { notificationAddress } from '../address/notification-address.ts';
import type { WorkerScope } from './scope.ts';

type Scope = Pick<WorkerScope, 'clients'>;

/**
 * The message to a window of the shell. The window opens the notification itself: a navigation would lose its state.
 */
export interface GoTo {
  readonly type: 'platform.go';
  readonly address: string;
}

export async function openFromPress({ clients }: Scope, notification: Pick<Notification, 'tag' | 'close'>) {
  notification.close();
  const address = notificationAddress(notification.tag);
  const windows = await clients.matchAll({ type: 'window', includeUncontrolled: true });
  const open = windows.find(({ focused }) => focused) ?? windows[0];
  if (open === undefined) {
    await clients.openWindow(`/${address ?? ''}`);
    return;
  }
  if (address !== null) open.postMessage({ type: 'platform.go', address } satisfies GoTo);
  await open.focus();
}
