// The browser's end of web push: push messages are given to its service worker, and what that shows is read.
import type { PushPayload } from '@platform/contract';
import type { BrowserContext, CDPSession, Worker } from 'playwright-core';
import { until } from '../../packages/runtime/src/testing/wait.ts';

/** The connection of a browser to its push service. */
export class PushDelivery {
  readonly #cdp: CDPSession;
  readonly #origin: string;
  readonly #registrationId: string;

  private constructor(cdp: CDPSession, origin: string, registrationId: string) {
    this.#cdp = cdp;
    this.#origin = origin;
    this.#registrationId = registrationId;
  }

  /** Through an empty page, since the DevTools know service workers from pages only. */
  static async open(context: BrowserContext, origin: string): Promise<PushDelivery> {
    const cdp = await context.newCDPSession(await context.newPage());
    const registered = new Promise<string>((resolve, reject) => {
      const limit = AbortSignal.timeout(60_000);
      limit.addEventListener('abort', () => reject(new Error('no service worker is registered')));
      cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
        const alive = registrations.filter(({ scopeURL, isDeleted }) => scopeURL === `${origin}/` && !isDeleted);
        // One that was unregistered a moment ago may still be among them. Their numbers grow.
        const newest = Math.max(...alive.map(({ registrationId }) => Number(registrationId)));
        if (alive.length > 0) resolve(String(newest));
      });
    });
    await cdp.send('ServiceWorker.enable');
    return new PushDelivery(cdp, origin, await registered);
  }

  async deliver(message: PushPayload | string): Promise<void> {
    const data = typeof message === 'string' ? message : JSON.stringify(message);
    const [origin, registrationId] = [this.#origin, this.#registrationId];
    await this.#cdp.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data });
  }

  /** As the browser does with workers that have nothing to do. */
  async stopWorker(): Promise<void> {
    await this.#cdp.send('ServiceWorker.stopAllWorkers');
  }
}

/** The DevTools keep workers alive that were unregistered; the newest one is it. `undefined` while none runs. */
export function pushWorker(context: BrowserContext): Worker | undefined {
  return context.serviceWorkers().findLast((worker) => worker.url().endsWith('/service-worker.js'));
}

/** The global of the worker, as far as tests reach into it. */
interface InWorker {
  readonly registration: ServiceWorkerRegistration;
}

/** What is shown now, as the browser knows it; `null` while no worker runs that could tell. */
export async function shownIn(context: BrowserContext): Promise<{ title: string; body: string; tag: string }[] | null> {
  const asked = pushWorker(context)?.evaluate(async () => {
    const { registration } = globalThis as unknown as InWorker;
    return (await registration.getNotifications()).map(({ title, body, tag }) => ({ title, body, tag }));
  });
  // The worker was ended meanwhile.
  return (await asked?.catch(() => null)) ?? null;
}

export function untilShown(context: BrowserContext, titles: readonly string[]): Promise<boolean> {
  const wanted = JSON.stringify(titles.toSorted());
  const isShown = async () => JSON.stringify((await shownIn(context))?.map(({ title }) => title).toSorted()) === wanted;
  return until(`${wanted} on the desktop, and nothing else`, isShown, 60_000);
}

/** The database in which the worker notes what was shown is one of a later release of the platform, which this one cannot open. */
export async function spoilMemory(context: BrowserContext): Promise<void> {
  await pushWorker(context)?.evaluate(
    () =>
      new Promise<void>((resolve, reject) => {
        const request = indexedDB.open('platform-push', 1_000);
        request.onsuccess = () => {
          request.result.close();
          resolve();
        };
        request.onerror = () => reject(request.error);
      }),
  );
}

/** As a person who dismisses it. */
export async function dismiss(context: BrowserContext, title: string): Promise<void> {
  await pushWorker(context)?.evaluate(async (wanted) => {
    const { registration } = globalThis as unknown as InWorker;
    for (const shown of await registration.getNotifications()) if (shown.title === wanted) shown.close();
  }, title);
  await until(`${title} is closed`, async () => !(await shownIn(context))?.some((shown) => shown.title === title));
}

export interface Former {
  readonly endpoint: string;
  /** Some browsers do not say. */
  readonly applicationServerKey: string | null;
}

/**
 * The browser has lost its subscription; called by hand, as only the browser can raise the event.
 * @returns whether it has one afterwards
 */
export function subscribesAgain(worker: Worker, former: Former): Promise<boolean> {
  return worker.evaluate(async ({ endpoint, applicationServerKey }) => {
    const { registration } = globalThis as unknown as InWorker;
    await (await registration.pushManager.getSubscription())?.unsubscribe();
    const work: Promise<unknown>[] = [];
    const oldSubscription = { endpoint, options: { applicationServerKey } };
    const change = { newSubscription: null, oldSubscription, waitUntil: (part: Promise<unknown>) => work.push(part) };
    dispatchEvent(Object.assign(new Event('pushsubscriptionchange'), change));
    await Promise.all(work);
    return (await registration.pushManager.getSubscription()) !== null;
  }, former);
}
