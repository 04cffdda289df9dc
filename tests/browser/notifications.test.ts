// What an app tells its person appears where they allow it: flashes above every app, and no sound of what is muted.
// On a desktop and on a phone, by day and by night; pictures go to SCREENSHOT_DIR, by default screenshots/.
import { strict as assert } from 'node:assert';
import { after, before, beforeEach, test } from 'node:test';
import type { Notification, NotificationSettings, PublishNotification } from '@platform/contract';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { until } from '../support/wait.ts';
import { DESKTOP, DEVICES, launchBrowser, pressAway, tileOf } from './browser.ts';
import { installGazette, openDesk as openGazetteDesk, type Publish } from './gazette.ts';
import { look } from './look.ts';
import { signedInContext } from './signed-in.ts';

const SETTINGS = '/v1/account/notification-settings';

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;
let account: TestAccount;
let publish: Publish;

before(async () => {
  place = await platformPlace();
  platform = await startPlatform(place);
  account = await registerAccount(platform, 'reader');
  publish = await installGazette(platform, account);
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});
beforeEach(async () => {
  await account.browser.take('/v1/notifications/read-all', { body: {} });
  await change({ system: true, flashes: true, muted: [] });
});

const change = (body: object) => account.browser.take(SETTINGS, { method: 'PATCH', body });

async function unread(): Promise<string[]> {
  const { items } = await account.browser.take<{ items: Notification[] }>('/v1/notifications?unread=true');
  return items.map(({ title }) => title);
}

async function openDesk(
  viewport: { width: number; height: number },
  prepare: () => void = () => undefined,
): Promise<{ context: BrowserContext; page: Page }> {
  const context = await signedInContext({ browser, platform, account }, viewport);
  await context.addInitScript(prepare);
  return { context, page: await openGazetteDesk(context, platform) };
}

const flashes = (page: Page) => page.getByRole('region', { name: 'Important notifications' });
const bell = (page: Page, name: string) =>
  page.locator('button[popovertarget="notifications"]').and(page.getByRole('button', { name, exact: true }));

/** Presses do not count in the first half second, so a press may need to be repeated. */
async function pressUntilGone(press: () => Promise<void>, gone: Locator): Promise<void> {
  const deadline = AbortSignal.timeout(60_000);
  while (!deadline.aborted) {
    await press().catch(() => undefined);
    const left = await gone.waitFor({ state: 'detached', timeout: 1_000 }).then(
      () => true,
      () => false,
    );
    if (left) return;
  }
  assert.fail('the press had no effect');
}

for (const [device, viewport] of DEVICES) {
  test(`important notifications flash one at a time, and an action opens the app that sent it, on a ${device}`, async (t) => {
    const { context, page } = await openDesk(viewport);
    t.after(() => context.close());
    const focused = () => page.evaluate(() => document.activeElement?.tagName);
    const before = await focused();
    await publish({
      title: 'The boiler is at 90 degrees',
      body: 'It was told to stop at 80.',
      priority: 'high',
      presentation: {
        mode: 'flash',
        tone: 'warning',
        layout: 'hero',
        actions: [
          { id: 'see', label: 'See the boiler', type: 'open-app', style: 'primary', target: '?boiler=7' },
          { id: 'later', label: 'Later', type: 'open-app' },
        ],
      },
    });
    const status = flashes(page).getByRole('status');
    await status.getByText('The boiler is at 90 degrees').waitFor();
    assert.equal(await focused(), before, 'a flash takes no focus');
    await publish({ title: 'The cellar is under water', priority: 'critical', presentation: { mode: 'banner' } });
    await status.getByText('1 more waiting').waitFor();
    assert.equal(await flashes(page).getByText('The cellar is under water').count(), 0);
    await look(page, device, 'flash');
    // Not over the search.
    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: 'Search' });
    await field.click({ trial: true });
    await look(page, device, 'flash-search');
    await page.keyboard.press('Escape');
    await field.waitFor({ state: device === 'phone' ? 'hidden' : 'visible' });
    await pressUntilGone(
      () => status.getByRole('button', { name: 'See the boiler' }).click({ timeout: 1_000 }),
      status.getByText('The boiler is at 90 degrees'),
    );
    await page.locator('iframe[title="gazette"][src*="boiler=7"]').waitFor();

    const alert = flashes(page).getByRole('alert');
    await alert.getByText('The cellar is under water').waitFor();
    await until('the first one alone to be read', async () => (await unread()).join() === 'The cellar is under water');
    // With the keyboard alone.
    await alert.getByRole('button', { name: /^Dismiss/ }).focus();
    await pressUntilGone(() => page.keyboard.press('Escape'), alert.getByText('The cellar is under water'));
    await bell(page, 'Notifications').waitFor();
    await until('both to be read', async () => (await unread()).length === 0);
  });
}

test('an important notification from before flashes too, never over a question, and is gone when read elsewhere', async (t) => {
  await publish({ title: 'Sent in the night', priority: 'high' });
  const { context, page } = await openDesk(DESKTOP);
  t.after(() => context.close());
  const shown = flashes(page).getByText('Sent in the night');
  await shown.waitFor();
  await page.getByRole('button', { name: 'Account reader' }).click();
  await page.getByRole('button', { name: 'Pause everything' }).click();
  const question = page.getByRole('dialog', { name: 'Pause everything?' });
  await question.waitFor();
  await shown.waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  await question.waitFor({ state: 'detached' });
  await shown.waitFor();
  await account.browser.take('/v1/notifications/read-all', { body: {} });
  await shown.waitFor({ state: 'detached' });
});

test('what is muted arrives in the inbox and nowhere else unless it is critical, and muting ends a flash that is there', async (t) => {
  const { context, page } = await openDesk(DESKTOP);
  t.after(() => context.close());
  await publish({ title: 'Loud', topic: 'chatter', priority: 'high' });
  await flashes(page).getByText('Loud').waitFor();
  await change({ muted: [{ appId: 'gazette', topic: 'chatter' }] });
  await flashes(page).getByText('Loud').waitFor({ state: 'detached' });
  await publish({ title: 'Muted flash', topic: 'chatter', priority: 'high' });
  await publish({ title: 'Muted message', topic: 'chatter' });
  await bell(page, 'Notifications, 3 unread').waitFor();
  await publish({ title: 'Another topic', topic: 'news' });
  const messages = page.getByRole('region', { name: 'Messages' });
  await messages.getByText('Another topic').waitFor();
  for (const region of [messages, flashes(page)]) assert.equal(await region.getByText(/^Muted/).count(), 0);
  await bell(page, 'Notifications, 4 unread').click();
  await page.getByRole('region', { name: 'Notifications', exact: true }).getByText('Muted flash').waitFor();
  await page.keyboard.press('Escape');
  await publish({ title: 'Fire', topic: 'chatter', priority: 'critical' });
  await flashes(page).getByRole('alert').getByText('Fire').waitFor();
});

test('without flashes an important notification is a card like others, and a critical one flashes all the same', async (t) => {
  const { context, page } = await openDesk(DESKTOP);
  t.after(() => context.close());
  // What arrives before the page has read the change is presented as that says.
  const published = Promise.withResolvers<void>();
  await page.route(`**${SETTINGS}`, async (route) => {
    await published.promise;
    await route.continue();
  });
  await change({ flashes: false });
  await publish({ title: 'Important', priority: 'high' });
  await bell(page, 'Notifications, 1 unread').waitFor();
  published.resolve();
  await page.getByRole('region', { name: 'Messages' }).getByText('Important', { exact: true }).waitFor();
  await publish({ title: 'The roof is leaking', priority: 'critical' });
  await flashes(page).getByText('The roof is leaking').waitFor();
  assert.equal(await flashes(page).getByText('Important').count(), 0);
});

test('when its time is over a flash and a card end, and the record stays in the inbox', async (t) => {
  const { context, page } = await openDesk(DESKTOP);
  t.after(() => context.close());
  await page.clock.install();
  const brief = { presentation: { expiresInSeconds: 3_600 } };
  await publish({ title: 'Brief flash', priority: 'high', ...brief });
  const shown = flashes(page).getByText('Brief flash');
  await shown.waitFor();
  await page.clock.fastForward('59:00');
  assert.equal(await shown.count(), 1);
  await page.clock.fastForward('01:01');
  await shown.waitFor({ state: 'detached' });
  // Over before this page hears of it, whose clock is an hour ahead.
  await publish({ title: 'Brief card', ...brief });
  await bell(page, 'Notifications, 2 unread').click();
  const inbox = page.getByRole('region', { name: 'Notifications', exact: true });
  for (const title of ['Brief flash', 'Brief card']) await inbox.getByText(title).waitFor();
  assert.equal(await page.getByRole('region', { name: 'Messages' }).getByText('Brief card').count(), 0);
});

/** Stands for the desktop, which no test machine has: keeps what the page hands to it, and lets the test press it. */
function recordNotifications(): void {
  const shown: { title: string; body: string; tag: string; notification: EventTarget }[] = [];
  class Recorder extends EventTarget {
    static permission = 'default';
    static async requestPermission() {
      Recorder.permission = 'granted';
      return Recorder.permission;
    }
    constructor(title: string, { body, tag }: { body: string; tag: string }) {
      super();
      shown.push({ title, body, tag, notification: this });
    }
    close() {
      this.dispatchEvent(new Event('close'));
    }
  }
  let hidden = false;
  Object.defineProperty(Document.prototype, 'hidden', { get: () => hidden });
  Object.assign(globalThis, {
    Notification: Recorder,
    shown,
    hide(value: boolean) {
      hidden = value;
      document.dispatchEvent(new Event('visibilitychange'));
    },
  });
}

/** In the page that `recordNotifications` prepared. */
declare const shown: { title: string; body: string; tag: string; notification: EventTarget }[];
declare const hide: (value: boolean) => void;

test('a page nobody looks at hands notifications to the browser once allowed, and a press opens the app', async (t) => {
  const { context, page } = await openDesk(DESKTOP, recordNotifications);
  t.after(() => context.close());
  await page.evaluate(() => hide(true));
  await publish({ title: 'Before it was allowed' });
  await bell(page, 'Notifications, 1 unread').waitFor();
  await page.evaluate(() => hide(false));
  await page.getByRole('button', { name: 'Account reader' }).click();
  await page.getByRole('region', { name: 'Account' }).getByRole('button', { name: 'Notifications' }).click();
  await page.getByRole('button', { name: 'Allow notifications' }).click();
  await page.getByText('Notifications are enabled in this browser.').waitFor();
  await page.getByText('The operator has not set up web push').waitFor();
  await look(page, 'desktop', 'notification-settings');

  await publish({ title: 'While the person looks' });
  await bell(page, 'Notifications, 2 unread').waitFor();
  await page.evaluate(() => hide(true));
  await publish({ title: 'Inbox only', delivery: 'inbox' });
  const actions: PublishNotification['presentation'] = {
    actions: [{ id: 'open', label: 'Open', type: 'open-app', target: '?seen=1' }],
  };
  const sent = await publish({ title: 'While nobody looks', body: 'Come', presentation: actions });
  await page.waitForFunction(() => shown.length > 0);
  await page.getByLabel('Device notifications').uncheck();
  await until('the switch in core', async () => !(await account.browser.take<NotificationSettings>(SETTINGS)).system);
  await publish({ title: 'Switched off' });
  await bell(page, 'Notifications, 5 unread').waitFor();
  assert.deepEqual(await page.evaluate(() => shown.map(({ title, body, tag }) => ({ title, body, tag }))), [
    { title: 'While nobody looks', body: 'gazette\nCome', tag: sent.id },
  ]);
  await page.evaluate(() => shown[0]?.notification.dispatchEvent(new Event('click')));
  await page.locator('iframe[title="gazette"][src*="seen=1"]').waitFor();
  await bell(page, 'Notifications, 4 unread').waitFor();
});

test('of all hidden tabs one goes on listening, and when it is closed the next takes its place', async (t) => {
  const { context, page: first } = await openDesk(DESKTOP, recordNotifications);
  t.after(() => context.close());
  const second = await context.newPage();
  await second.addInitScript(recordNotifications);
  const answerOf = (path: string) => second.waitForResponse((response) => new URL(response.url()).pathname === path);
  await Promise.all([answerOf('/v1/events'), answerOf(SETTINGS), second.goto(platform.origin)]);
  await tileOf(second, 'gazette').waitFor();
  await context.clock.install();
  // `waitForFunction` would take the promise itself for a yes.
  const locks = () => second.evaluate(() => navigator.locks.query());
  for (const [place, page] of [first, second].entries()) {
    await page.evaluate(async () => {
      await Notification.requestPermission();
      hide(true);
    });
    await until('the lock', async () => (await locks())[place === 0 ? 'held' : 'pending']?.length === 1);
  }
  await context.clock.fastForward('01:01');
  await publish({ title: 'For the tab that listens' });
  await first.waitForFunction(() => shown.length === 1);
  await Promise.all([answerOf('/v1/events'), first.close()]);
  await publish({ title: 'For the next one' });
  await second.waitForFunction(() => shown.length > 0);
  assert.deepEqual(await second.evaluate(() => shown.map(({ title }) => title)), ['For the next one']);
  await second.evaluate(() => hide(false));
  await until('the end of the lock', async () => (await locks()).held?.length === 0);
});

for (const [device, viewport] of DEVICES) {
  test(`the Notifications app sorts, mutes and tests, on a ${device}`, async (t) => {
    const { context, page } = await openDesk(viewport);
    t.after(() => context.close());
    await publish({ title: `A chapter for the ${device}`, topic: 'books', body: 'It is about rivers.' });
    await publish({ title: `News for the ${device}`, topic: 'weekly' });
    const inbox = page.frameLocator('iframe[title="Notifications"]');
    const tile = tileOf(page, 'Notifications');
    await pressAway(tile, inbox.owner());
    const chapter = inbox.getByRole('article', { name: `A chapter for the ${device}` });
    await inbox.getByLabel('On topic').selectOption('books');
    await inbox.getByRole('article', { name: `News for the ${device}` }).waitFor({ state: 'detached' });
    await chapter.getByText('Mute', { exact: true }).click();
    await chapter.getByRole('button', { name: 'Only “books”' }).click();
    await chapter.getByText('Muted', { exact: true }).waitFor();
    const { muted } = await account.browser.take<{ muted: unknown[] }>(SETTINGS);
    assert.deepEqual(muted, [{ appId: 'gazette', topic: 'books' }]);

    await inbox.getByText('Where notifications appear').click();
    await look(page, device, 'notifications-app');
    await inbox.getByRole('button', { name: 'Unmute gazette: books' }).click();
    await chapter.getByText('Muted', { exact: true }).waitFor({ state: 'detached' });
    await inbox.getByRole('button', { name: 'Send a test' }).click();
    const test = flashes(page).getByText('This is a test');
    await test.waitFor();
    await inbox.getByLabel('Above your apps').uncheck();
    await test.waitFor({ state: 'detached' });
    const setUp = inbox.getByRole('button', { name: 'Set up this browser' });
    await pressAway(setUp, page.getByRole('heading', { name: 'This browser' }));
    const both = [
      { appId: 'gazette', topic: 'books' },
      { appId: 'gazette', topic: 'weekly' },
    ];
    await change({ muted: both });
    await page.getByRole('button', { name: 'Unmute gazette: books' }).click();
    // Drawn before core answers, so it is core that is asked.
    const left = async () => (await account.browser.take<NotificationSettings>(SETTINGS)).muted;
    await until('an answer of core', async () => (await left()).length < both.length);
    assert.deepEqual(await left(), both.slice(1));
  });
}
