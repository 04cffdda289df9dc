// Web push in this browser, as far as the first load goes: kept at the start of the desk, ended when signing out, and
// what it shows closed once it is read. Turning it on and off is in the settings.
import { signal } from '@preact/signals';
import { plainMessage } from '../../api/api-error.ts';
import { call } from '../../api/client.ts';
import { currentPin } from '../../api/pin.ts';
import { subscriptionBody } from '../../api/subscription-body.ts';
import { dropWorkerPin, keepWorkerPin } from '../../api/worker-pin.ts';
import { showToast } from '../toasts/toasts.ts';

/** The account that turned push on in this browser; other accounts that sign in here do not get it. */
const OWNER = 'platform.push';
/** A push service that does not answer must not keep anybody from signing out. */
const DROP_LIMIT_MS = 3_000;

/** Id of this browser's subscription; `null` while it has none, or it is not registered with core yet. */
export const pushHere = signal<string | null>(null);

export function supportsPush(): boolean {
  return 'serviceWorker' in navigator && 'PushManager' in globalThis && 'Notification' in globalThis;
}

async function findRegistration(): Promise<ServiceWorkerRegistration | undefined> {
  return supportsPush() ? await navigator.serviceWorker.getRegistration('/') : undefined;
}

/** The subscription that this account asked for here, if it is still there. */
export async function findSubscription(account: string): Promise<PushSubscription | null> {
  if (localStorage.getItem(OWNER) !== account || Notification.permission !== 'granted') return null;
  return (await (await findRegistration())?.pushManager.getSubscription()) ?? null;
}

/** Registers the subscription with core, replacing a former one; core sends from then on. @throws ApiError */
export async function announce(account: string, subscription: PushSubscription): Promise<void> {
  // First: a browser may change the subscription as soon as core has it, and the worker would name the former session.
  const pin = currentPin();
  if (pin !== null) await keepWorkerPin(pin);
  const answer = await call('push.subscribe', { body: subscriptionBody(subscription) });
  localStorage.setItem(OWNER, account);
  pushHere.value = answer.subscription.id;
}

export function isTurnedOn(): boolean {
  return localStorage.getItem(OWNER) !== null;
}

/**
 * Core deletes subscriptions with their session, and browsers when the permission is revoked. So a subscription is
 * registered again each time, and one of another account is ended.
 */
async function keepPush(account: string): Promise<void> {
  if (!isTurnedOn()) return;
  const subscription = await findSubscription(account);
  if (subscription === null) {
    await dropPush();
    return;
  }
  try {
    await announce(account, subscription);
  } catch (error) {
    showToast({
      title: 'No notifications in this browser while it is closed',
      body: plainMessage(error),
      tone: 'danger',
    });
  }
}

/** Apart from the first load: it is for later visits. */
function keepWorker(): void {
  import('../offline/service-worker.ts').then(
    ({ keepOfflinePage }) => keepOfflinePage(),
    () => undefined,
  );
}

/** Keeps it now, and follows what other windows of this account turn on and off. @returns a function that ends it */
export function followPush(account: string): () => void {
  const follow = ({ key, newValue }: StorageEvent) => {
    if (key !== OWNER) return;
    if (newValue === null) pushHere.value = null;
    // A window of an account that was signed in before leaves another one's alone.
    if (newValue === account) void keepPush(account);
  };
  window.addEventListener('storage', follow);
  // Ending the push of another account takes the worker with it.
  void keepPush(account).finally(keepWorker);
  return () => window.removeEventListener('storage', follow);
}

/** Ends it in this browser, with everything it shows. Never rejects, and takes three seconds at most. */
export async function dropPush(): Promise<void> {
  localStorage.removeItem(OWNER);
  pushHere.value = null;
  await Promise.race([
    endRegistration().catch((error: unknown) => console.warn('Web push was not turned off completely.', error)),
    new Promise((resolve) => setTimeout(resolve, DROP_LIMIT_MS)),
  ]);
}

async function endRegistration(): Promise<void> {
  await dropWorkerPin();
  const registration = await findRegistration();
  if (registration === undefined) return;
  for (const notification of await registration.getNotifications()) notification.close();
  const subscription = await registration.pushManager.getSubscription();
  // The registration takes the subscription with it, also where its push service does not answer.
  await Promise.all([subscription?.unsubscribe(), registration.unregister()]);
}

/** Closes what was read, here or elsewhere. */
export async function closePushed(isRead: (id: string) => boolean): Promise<void> {
  if (pushHere.value === null) return;
  const registration = await findRegistration();
  for (const notification of (await registration?.getNotifications()) ?? [])
    if (isRead(notification.tag)) notification.close();
}
