// Shows what a push message says: from the bounded fields of the contract's schema alone, at most once for each id.
import { PLATFORM_SENDER, type PushPayload, pushPayload } from '@platform/contract';
import { UNREADABLE_TAG } from '../address/notification-address.ts';
import { isFirstTime } from './shown-messages.ts';

type Registration = Pick<ServiceWorkerRegistration, 'showNotification'>;

/** `null` for everything that is not exactly what the schema says. */
function readPayload(text: string): PushPayload | null {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // Not JSON: as unreadable as JSON of another shape.
    return null;
  }
  return pushPayload.safeParse(json).data ?? null;
}

/**
 * Browsers let a page subscribe on the promise that each message shows something, and end subscriptions that break it.
 * So what cannot be read is announced in words of our own; all such messages share one notification.
 */
export async function showPush(registration: Registration, text: string): Promise<void> {
  const payload = readPayload(text);
  if (payload === null) {
    await registration.showNotification('New notification', {
      body: 'Open the platform to see it.',
      tag: UNREADABLE_TAG,
    });
    return;
  }
  const { id, appId, appName, title, body, priority } = payload;
  if (!(await isFirstTime(id, Date.now()))) return;
  await registration.showNotification(title, {
    body: body === '' ? appName : `${appName}\n${body}`,
    tag: id,
    icon: appId === PLATFORM_SENDER ? '/mark.svg' : `/v1/catalog/${appId}/icon`,
    requireInteraction: priority === 'critical',
    silent: priority === 'low',
  });
}
