// Turning web push on and off in this browser: the browser's permission, its push service, and core.
import { signal } from '@preact/signals';
import { ApiError } from '../../api/api-error.ts';
import { call } from '../../api/client.ts';
import { keepOfflinePage, registerWorker } from '../offline/service-worker.ts';
import { askBrowserPermission, browserPermission } from './mirror.ts';
import { announce, dropPush, findSubscription, isTurnedOn, pushHere, supportsPush } from './push-here.ts';

/** Push services are strangers on the internet; browsers without one wait for it for ever. */
const SUBSCRIBE_LIMIT_MS = 20_000;
let attempts = 0;

export type PushState =
  /** The browser cannot, or not at this address. */
  | { readonly kind: 'unsupported' }
  /** The operator has set no VAPID subject. */
  | { readonly kind: 'not-offered' }
  | { readonly kind: 'denied' }
  /** `others`: further browsers of the account that get web push. */
  | { readonly kind: 'on' | 'off'; readonly others: number };

/** `null` until the first answer. */
export const pushState = signal<PushState | null>(null);

/** @throws ApiError */
export async function readPushState(account: string): Promise<void> {
  pushState.value = await currentState(account);
}

async function currentState(account: string): Promise<PushState> {
  if (!supportsPush()) return { kind: 'unsupported' };
  const { publicKey } = await call('push.key');
  if (publicKey === null) return { kind: 'not-offered' };
  if (Notification.permission === 'denied') return { kind: 'denied' };
  const subscription = await findSubscription(account);
  if (subscription !== null && pushHere.value === null) await announce(account, subscription);
  const own = subscription === null ? null : pushHere.value;
  const { items } = await call('push.list');
  const isOn = items.some(({ id }) => id === own);
  return { kind: isOn ? 'on' : 'off', others: items.filter(({ id }) => id !== own).length };
}

/**
 * Only from a press: the browser asks the person, who may take their time; its push service may not. @throws ApiError
 */
export async function turnOnPush(account: string): Promise<void> {
  await askBrowserPermission();
  if (browserPermission.value === 'default')
    throw refusal('The browser’s permission prompt was dismissed, so nothing was turned on.');
  if (browserPermission.value === 'granted') await subscribe(account);
  await readPushState(account);
}

/** @throws ApiError when core did not confirm: push is then still on */
export async function turnOffPush(account: string): Promise<void> {
  const subscription = await findSubscription(account);
  if (subscription !== null) await call('push.unsubscribe', { body: { endpoint: subscription.endpoint } });
  await dropPush();
  await keepOfflinePage();
  await readPushState(account);
}

async function subscribe(account: string): Promise<void> {
  const { publicKey } = await call('push.key');
  if (publicKey === null) return;
  try {
    await announce(account, await inTime(subscribeHere(publicKey)));
  } catch (error) {
    await dropPush();
    await keepOfflinePage();
    throw error;
  }
}

async function subscribeHere(applicationServerKey: string): Promise<PushSubscription> {
  await registerWorker();
  const { pushManager } = await navigator.serviceWorker.ready;
  const options = { userVisibleOnly: true, applicationServerKey };
  try {
    return await pushManager.subscribe(options);
  } catch (error) {
    if (!(error instanceof DOMException) || error.name !== 'InvalidStateError') throw error;
    // It holds one for another key, of a platform that was at this address before.
    await (await pushManager.getSubscription())?.unsubscribe();
    return await pushManager.subscribe(options);
  }
}

async function inTime(work: Promise<PushSubscription>): Promise<PushSubscription> {
  let limit: ReturnType<typeof setTimeout> | undefined;
  let isLate = false;
  attempts += 1;
  const mine = attempts;
  const late = new Promise<never>((_, reject) => {
    limit = setTimeout(() => {
      isLate = true;
      reject(refusal('Your browser’s push service does not answer. Try again later, or use another browser.'));
    }, SUBSCRIBE_LIMIT_MS);
  });
  work.then(
    // Abandoned, unless a second attempt joins the same one.
    (subscription) => (isLate && mine === attempts && !isTurnedOn() ? subscription.unsubscribe() : undefined),
    () => undefined,
  );
  try {
    return await Promise.race([work, late]);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    console.warn('The browser did not subscribe.', error);
    throw refusal('Your browser could not subscribe to its push service. Push may be turned off in its settings.');
  } finally {
    clearTimeout(limit);
  }
}

function refusal(detail: string): ApiError {
  return new ApiError({ code: 'unavailable', detail, status: 0 });
}
