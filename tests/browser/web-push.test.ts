// A push message on its whole way: an app publishes, core encrypts and signs, a push service on loopback takes it over TLS,
// verifies and decrypts, and real Chromium with no window of the platform open shows it once; a press opens its app.
// Two things stand in for what is on the internet: the page's `PushManager` (push-service-stand-in.ts), and for the
// connection between push service and browser the DevTools' `ServiceWorker.deliverPushMessage`. The desktop is a
// notification service on a D-Bus of the test's own; where it is lacking, presses are skipped.
import { strict as assert } from 'node:assert';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import type { Notification, PushPayload } from '@platform/contract';
import type { BrowserContext, CDPSession, Page, Response, Worker } from 'playwright-core';
import { registerAccount, signIn, type TestAccount } from '../support/client.ts';
import { type Desktop, desktopLacking, startDesktop } from '../support/desktop.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { type PushedBrowser, type PushService, startPushService } from '../support/push-service.ts';
import { until } from '../support/wait.ts';
import { launchProfile, PHONE } from './browser.ts';
import { installGazette, openDesk, type Publish } from './gazette.ts';
import { look } from './look.ts';
import { type StandIn, standInForPushService } from './push-service-stand-in.ts';
import { signInto } from './signed-in.ts';

const lacking = desktopLacking();

let service: PushService;
let place: PlatformPlace;
let platform: PlatformProcess;
let desktop: Desktop | undefined;
let account: TestAccount;
let publish: Publish;
let publicKey: string;

before(async () => {
  service = await startPushService();
  place = await platformPlace({
    PLATFORM_VAPID_SUBJECT: 'mailto:operator@platform.example',
    PLATFORM_WEB_PUSH_PRIVATE_ORIGINS: service.origin,
    NODE_EXTRA_CA_CERTS: service.caFile,
  });
  platform = await startPlatform(place);
  account = await registerAccount(platform, 'reader');
  publish = await installGazette(platform, account);
  ({ publicKey } = await account.browser.take<{ publicKey: string }>('/v1/push/key'));
  desktop = lacking === null ? await startDesktop() : undefined;
});
after(async () => {
  await desktop?.close();
  await platform?.stop();
  await place?.remove();
  await service?.close();
});

interface Scene {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly pushed: PushedBrowser;
  readonly session: TestAccount;
}

/** A browser with a profile of its own, at the desk. */
async function openScene(t: TestContext, { mood = 'answers' }: Partial<Pick<StandIn, 'mood'>> = {}): Promise<Scene> {
  const session = await signIn(platform, account.authenticator);
  const folder = await mkdtemp(path.join(tmpdir(), 'platform-profile-'));
  const bus = desktop === undefined ? {} : { DBUS_SESSION_BUS_ADDRESS: desktop.busAddress };
  const context = await launchProfile(folder, bus);
  t.after(async () => {
    await context.close();
    await session.fetch('/v1/auth/logout', { method: 'POST' });
    await rm(folder, { recursive: true, force: true });
  });
  await signInto(context, platform, session);
  const pushed = service.newBrowser(publicKey);
  await context.addInitScript(standInForPushService, { ...pushed.body, publicKey, mood });
  await context.grantPermissions(['notifications'], { origin: platform.origin });
  const page = await openDesk(context, platform);
  return { context, page, pushed, session };
}

const block = (page: Page) => page.getByRole('region', { name: 'When all its windows are closed' });

async function openSettings(page: Page): Promise<void> {
  await page.goto(`${platform.origin}/#/settings/notifications`);
  await block(page).getByRole('status').waitFor();
}

async function turnOn(page: Page): Promise<void> {
  await openSettings(page);
  await block(page).getByRole('button', { name: 'Turn on in this browser' }).click();
  await block(page).getByText('On in this browser.').waitFor();
}

/** The browser's end of the connection to its push service. */
class PushDelivery {
  readonly #cdp: CDPSession;
  readonly #registrationId: string;

  private constructor(cdp: CDPSession, registrationId: string) {
    this.#cdp = cdp;
    this.#registrationId = registrationId;
  }

  /** Through an empty page, since the DevTools know service workers from pages only. */
  static async open(context: BrowserContext): Promise<PushDelivery> {
    const cdp = await context.newCDPSession(await context.newPage());
    const registered = new Promise<string>((resolve, reject) => {
      const limit = AbortSignal.timeout(60_000);
      limit.addEventListener('abort', () => reject(new Error('no service worker is registered')));
      cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
        const found = registrations.find(({ scopeURL, isDeleted }) => scopeURL === `${platform.origin}/` && !isDeleted);
        if (found !== undefined) resolve(found.registrationId);
      });
    });
    await cdp.send('ServiceWorker.enable');
    return new PushDelivery(cdp, await registered);
  }

  async deliver(message: PushPayload | string): Promise<void> {
    const data = typeof message === 'string' ? message : JSON.stringify(message);
    const registrationId = this.#registrationId;
    await this.#cdp.send('ServiceWorker.deliverPushMessage', { origin: platform.origin, registrationId, data });
  }

  /** As the browser does with workers that have nothing to do. */
  async stopWorker(): Promise<void> {
    await this.#cdp.send('ServiceWorker.stopAllWorkers');
  }
}

const isOurs = (worker: Worker) => worker.url() === `${platform.origin}/service-worker.js`;

interface InWorker {
  readonly registration: ServiceWorkerRegistration;
}

/** What is shown now, as the browser knows it; `null` while no worker runs that could tell. */
async function shownIn(context: BrowserContext): Promise<{ title: string; body: string; tag: string }[] | null> {
  // The DevTools keep those alive that were unregistered; the newest one is it.
  const worker = context.serviceWorkers().findLast(isOurs);
  const asked = worker?.evaluate(async () => {
    const { registration } = globalThis as unknown as InWorker;
    return (await registration.getNotifications()).map(({ title, body, tag }) => ({ title, body, tag }));
  });
  // The worker was ended meanwhile.
  return (await asked?.catch(() => null)) ?? null;
}

/**
 * Asks the desktop first. Chromium answers from its own list, and strikes off it what the desktop did not have when it was
 * asked: what it is only about to show would then be shown, and never be listed again.
 */
async function untilShown(context: BrowserContext, titles: readonly string[]): Promise<void> {
  for (const title of titles) await desktop?.until(title);
  const limit = AbortSignal.timeout(60_000);
  for (;;) {
    const shown = await shownIn(context);
    const found = shown?.map(({ title }) => title).toSorted();
    if (JSON.stringify(found) === JSON.stringify(titles.toSorted())) return;
    if (limit.aborted) assert.deepEqual(found, titles.toSorted());
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test('a push message comes through the whole chain with no window open, is shown once, and a press opens its app', async (t) => {
  const { context, page, pushed } = await openScene(t);
  await turnOn(page);
  await look(page, 'desktop', 'web-push-on');
  const delivery = await PushDelivery.open(context);
  await page.close();

  const sent = await publish({
    title: 'The ferry leaves early',
    body: 'At ten past six.',
    priority: 'high',
    delivery: 'inbox-and-web-push',
    presentation: { actions: [{ id: 'see', label: 'See', type: 'open-app', target: '?ferry=7' }] },
  });
  const [push] = await pushed.until(1);
  assert.ok(push !== undefined);
  assert.equal(push.claims.sub, 'mailto:operator@platform.example');
  assert.deepEqual(service.faults, []);
  await delivery.deliver(push.payload);
  await untilShown(context, ['The ferry leaves early']);
  assert.deepEqual(await shownIn(context), [
    { title: 'The ferry leaves early', body: 'gazette\nAt ten past six.', tag: sent.id },
  ]);

  await t.test('the same message again shows nothing, also after the worker has ended', async () => {
    await delivery.deliver(push.payload);
    await delivery.stopWorker();
    await delivery.deliver(push.payload);
    await publish({ title: 'A second one', delivery: 'inbox-and-web-push' });
    const [, second] = await pushed.until(2);
    assert.ok(second !== undefined);
    await delivery.deliver(second.payload);
    await untilShown(context, ['A second one', 'The ferry leaves early']);
    const titles = desktop?.shown().map(({ title }) => title);
    if (titles !== undefined) assert.deepEqual(titles, ['The ferry leaves early', 'A second one']);
  });

  await t.test('a press opens the shell, and in it the app that sent it', { skip: lacking ?? false }, async () => {
    assert.ok(desktop !== undefined);
    const opening = context.waitForEvent('page');
    await desktop.press(await desktop.until('The ferry leaves early'));
    const opened = await opening;
    await opened.locator('iframe[title="gazette"][src*="ferry=7"]').waitFor();
    const { items } = await account.browser.take<{ items: Notification[] }>('/v1/notifications?unread=true');
    assert.deepEqual(
      items.map(({ title }) => title),
      ['A second one'],
    );

    await desktop.press(await desktop.until('A second one'));
    await untilShown(context, []);
    await untilUnread(0);
    await opened.locator('button[popovertarget="notifications"][aria-label="Notifications"]').waitFor();
    assert.equal(context.pages().filter((one) => one.url().startsWith(platform.origin)).length, 1);

    await publish({ title: 'Read elsewhere', delivery: 'inbox-and-web-push' });
    const [, , third] = await pushed.until(3);
    assert.ok(third !== undefined);
    await delivery.deliver(third.payload);
    await untilShown(context, ['Read elsewhere']);
    await account.browser.take('/v1/notifications/read-all', { body: {} });
    await untilShown(context, []);
  });
});

function untilUnread(count: number): Promise<boolean> {
  return until(
    `${count} unread`,
    async () => {
      const { items } = await account.browser.take<{ items: Notification[] }>('/v1/notifications?unread=true');
      return items.length === count;
    },
    60_000,
  );
}

test('the service worker is served fresh, as a script, under the policy of the page', async () => {
  const { status, headers } = await account.fetch('/service-worker.js');
  assert.equal(status, 200);
  assert.equal(headers['cache-control'], 'no-cache');
  assert.match(String(headers['content-type']), /^text\/javascript/);
  assert.match(String(headers['content-security-policy']), /default-src 'none'.*trusted-types service-worker$/);
});

test('what no schema knows is announced in words of the platform, once', async (t) => {
  const { context, page, pushed } = await openScene(t);
  await turnOn(page);
  const delivery = await PushDelivery.open(context);
  await page.close();
  await publish({ title: 'A true one', delivery: 'inbox-and-web-push' });
  const [push] = await pushed.until(1);
  assert.ok(push !== undefined);
  for (const hostile of [
    '',
    'no JSON',
    'null',
    JSON.stringify({ ...push.payload, onclick: 'https://evil.example/' }),
    JSON.stringify({ ...push.payload, title: 'x'.repeat(121) }),
    JSON.stringify({ ...push.payload, body: 'x'.repeat(2_001) }),
    JSON.stringify({ ...push.payload, title: '\u202Ereversed' }),
    JSON.stringify({ ...push.payload, id: 'https://evil.example/' }),
    JSON.stringify({ ...push.payload, appId: '../../auth/session' }),
  ])
    await delivery.deliver(hostile);
  // Its id was not used up by those that only claimed to be it.
  await delivery.deliver(push.payload);
  await untilShown(context, ['A true one', 'New notification']);
  const [first] = ((await shownIn(context)) ?? []).filter(({ title }) => title === 'New notification');
  assert.equal(first?.body, 'Open the platform to see it.');
});

/** In the page: nobody looks at it, and what it mirrors is written down. */
function lookAway(): void {
  Object.defineProperty(document, 'hidden', { get: () => true });
  const titles: string[] = [];
  class Recorder extends EventTarget {
    static readonly permission = 'granted';
    constructor(title: string) {
      super();
      titles.push(title);
    }
  }
  Object.assign(globalThis, { Notification: Recorder, mirrored: titles });
}

declare const mirrored: readonly string[];

test('on a phone: on, off, and off by signing out, which also takes away what is shown', async (t) => {
  const { context, page, pushed } = await openScene(t);
  await account.browser.take('/v1/push/subscriptions', { body: service.newBrowser(publicKey).body });
  await page.setViewportSize(PHONE);
  await openSettings(page);
  await block(page).getByText('On in 1 other browser.').waitFor();
  await block(page).getByRole('button').scrollIntoViewIfNeeded();
  await look(page, 'phone', 'web-push-off');
  // With the keyboard alone.
  await block(page).getByRole('button').focus();
  await page.keyboard.press('Enter');
  await block(page).getByText('On in this browser.').waitFor();
  await page.keyboard.press('Enter');
  await block(page).getByText('Off in this browser.').waitFor();
  assert.equal((await subscriptions()).length, 1);
  assert.equal(await subscribed(page), 0);

  await turnOn(page);
  await block(page).getByText('Also on in 1 other browser.').waitFor();
  const delivery = await PushDelivery.open(context);
  await publish({ title: 'Not for the next person', delivery: 'inbox-and-web-push' });
  const [push] = await pushed.until(1);
  assert.ok(push !== undefined);
  await delivery.deliver(push.payload);
  await untilShown(context, ['Not for the next person']);
  await page.evaluate(lookAway);
  await publish({ title: 'For the service worker', delivery: 'inbox-and-web-push' });
  await publish({ title: 'For the page', delivery: 'inbox-and-system' });
  await page.waitForFunction(() => mirrored.length > 0);
  assert.deepEqual(await page.evaluate(() => mirrored), ['For the page']);
  await page.getByRole('button', { name: 'Account reader' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: /^Sign in/ }).waitFor();
  assert.equal((await subscriptions()).length, 1);
  assert.equal(await registrations(page), 0);
  assert.equal(await page.evaluate(() => localStorage.getItem('platform.push')), null);
});

test('a push service that does not answer is waited for so long and no longer, and every state has its words', async (t) => {
  const { context, page } = await openScene(t, { mood: 'hangs' });
  const cdp = await context.newCDPSession(page);
  const permit = (setting: 'granted' | 'denied') =>
    cdp.send('Browser.setPermission', { permission: { name: 'notifications' }, setting, origin: platform.origin });
  await permit('denied');
  await openSettings(page);
  await block(page).getByText('Notifications are blocked for this site').waitFor();
  await permit('granted');
  await page.clock.install();
  await page.reload();
  await block(page).getByRole('button', { name: 'Turn on in this browser' }).click();
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await page.clock.runFor(20_000);
  await block(page).getByRole('alert').getByText('does not answer').waitFor();
  await block(page).getByText('Off in this browser.').waitFor();
  await page.getByLabel('When all windows are closed').uncheck();
  await block(page).getByText('Nothing is sent to your browsers').waitFor();
  await look(page, 'desktop', 'web-push-no-answer');
  await page.getByLabel('When all windows are closed').check();

  await page.addInitScript(() => Reflect.deleteProperty(globalThis, 'PushManager'));
  await page.reload();
  await block(page).getByText('This browser doesn’t support web push here.').waitFor();
});

test('what was turned on comes back with the same account after a session that ended, and never with another one', async (t) => {
  const { context, page, session } = await openScene(t);
  await turnOn(page);
  const before = (await subscriptions()).length;
  await session.fetch('/v1/auth/logout', { method: 'POST' });
  assert.equal((await subscriptions()).length, before - 1);
  await page.getByRole('button', { name: /^Sign in/ }).waitFor();

  const again = await signIn(platform, account.authenticator);
  const told = context.waitForEvent('response', isSubscribing);
  // The window that is open follows by itself.
  await signInto(context, platform, again);
  assert.equal((await told).status(), 201);
  assert.equal((await subscriptions()).length, before);

  // The push service gives the browser another endpoint; what it does is called by hand, as only it can raise the event.
  const [worker] = context.serviceWorkers().filter(isOurs);
  const next = service.newBrowser(publicKey).body;
  const renewed = context.waitForEvent('response', isSubscribing);
  await worker?.evaluate((body) => {
    const newSubscription = { endpoint: body.endpoint, toJSON: () => body };
    const change = { newSubscription, oldSubscription: null, waitUntil: () => undefined };
    dispatchEvent(Object.assign(new Event('pushsubscriptionchange'), change));
  }, next);
  assert.equal((await renewed).status(), 201);
  assert.equal((await subscriptions()).length, before + 1);

  await signInto(context, platform, await registerAccount(platform, 'next-person'));
  await page.getByRole('button', { name: 'Account next-person' }).waitFor();
  await page.waitForFunction(() => localStorage.getItem('platform.push') === null);
  await until('the end of the subscription', async () => (await subscribed(page)) === 0);
  await again.fetch('/v1/auth/logout', { method: 'POST' });
});

function isSubscribing(answer: Response): boolean {
  return answer.url().endsWith('/v1/push/subscriptions') && answer.request().method() === 'POST';
}

function registrations(page: Page): Promise<number> {
  return page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length);
}

/** The worker stays for the page that says that the platform cannot be reached. */
function subscribed(page: Page): Promise<number> {
  return page.evaluate(async () => {
    const all = await navigator.serviceWorker.getRegistrations();
    const held = await Promise.all(all.map(({ pushManager }) => pushManager.getSubscription()));
    return held.filter((one) => one !== null).length;
  });
}

async function subscriptions(): Promise<unknown[]> {
  return (await account.browser.take<{ items: unknown[] }>('/v1/push/subscriptions')).items;
}
