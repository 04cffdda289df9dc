// The tiles of the home screen: pinned and moved with the mouse, a finger and the keyboard, kept for the account; and what
// each says about its app. Pictures go to SCREENSHOT_DIR, by default screenshots/.
import { strict as assert } from 'node:assert';
import { after, before, type TestContext, test } from 'node:test';
import type { HomeTiles } from '@platform/contract';
import type { Browser, FrameLocator, Locator, Page } from 'playwright-core';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { until } from '../support/wait.ts';
import { DESKTOP, launchBrowser, PHONE, pressInPrompt, tileOf } from './browser.ts';
import { look } from './look.ts';
import { signedInContext, signInto } from './signed-in.ts';

const HOME = [{ id: 'apps.launcher.register', resources: ['self'] }];
const SERVER = `
  const http = process.getBuiltinModule('node:http');
  http.createServer((request, response) => response.end('here')).listen(Number(process.env.PORT));
`;
const AT_FIRST = [
  'Contacts',
  'Files',
  'Messages',
  'Notifications',
  'Personal Agent',
  'Schedules',
  'Settings',
  'Store',
  'Wallet',
];

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;

before(async () => {
  place = await platformPlace();
  platform = await startPlatform(place);
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

async function openHome(t: TestContext, account: TestAccount, viewport = DESKTOP as { width: number; height: number }) {
  const context = await signedInContext({ browser, platform, account }, viewport);
  t.after(() => context.close());
  const page = await context.newPage();
  await page.goto(platform.origin);
  await tileOf(page, 'Store').waitFor();
  return page;
}

const launcherOf = (page: Page): FrameLocator => page.frameLocator('iframe[title="Launcher"]');

async function names(page: Page, section: 'Pinned' | 'Platform' | 'Your apps'): Promise<string[]> {
  const tiles = launcherOf(page).getByRole('region', { name: section }).locator('.tile-name > :first-child');
  return tiles.allInnerTexts();
}

async function shows(
  page: Page,
  pinned: readonly string[],
  others: readonly string[],
  section: 'Platform' | 'Your apps' = 'Platform',
): Promise<void> {
  const wanted = JSON.stringify([pinned, others]);
  await until(
    `the tiles to be ${wanted}`,
    async () => {
      const shown = [await names(page, 'Pinned'), await names(page, section)];
      return JSON.stringify(shown) === wanted;
    },
    60_000,
  );
}

async function centreOf(page: Page, name: string): Promise<{ x: number; y: number }> {
  const box = await tileOf(page, name).boundingBox();
  assert.ok(box !== null);
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** What core keeps, once it is that. */
async function keeps(account: TestAccount, wanted: (tiles: HomeTiles) => boolean): Promise<void> {
  await until('core to keep it', async () => wanted(await account.browser.take<HomeTiles>('/v1/account/home')));
}

test('tiles are moved with the keyboard and pinned from their menu, and stay so in every browser', async (t) => {
  const account = await registerAccount(platform, 'keys');
  const page = await openHome(t, account);
  await shows(page, [], AT_FIRST);
  await tileOf(page, 'Store').focus();
  await page.keyboard.press('Shift+ArrowLeft');
  await launcherOf(page).getByText('Store: position 7 of 9').waitFor();
  await shows(
    page,
    [],
    ['Contacts', 'Files', 'Messages', 'Notifications', 'Personal Agent', 'Schedules', 'Store', 'Settings', 'Wallet'],
  );
  const focused = () => launcherOf(page).locator(':focus').innerText();
  assert.equal(await focused(), 'Store', 'the focus goes with the tile');

  await launcherOf(page).getByRole('button', { name: 'Options of Settings' }).focus();
  await page.keyboard.press('Enter');
  await launcherOf(page).getByRole('button', { name: 'Pin to the top' }).waitFor();
  await look(page, 'desktop', 'tile-menu');
  await launcherOf(page).getByRole('button', { name: 'Pin to the top' }).press('Enter');
  const moved = ['Contacts', 'Files', 'Messages', 'Notifications', 'Personal Agent', 'Schedules', 'Store', 'Wallet'];
  await shows(page, ['Settings'], moved);
  await keeps(account, ({ pinned }) => pinned.join() === 'settings');
  await look(page, 'desktop', 'tiles-pinned');

  const elsewhere = await openHome(t, account, PHONE);
  await shows(elsewhere, ['Settings'], moved);
  await look(elsewhere, 'phone', 'tiles-pinned');
  // What one browser changes, the other shows.
  await launcherOf(elsewhere).getByRole('button', { name: 'Options of Settings' }).click();
  await launcherOf(elsewhere).getByRole('button', { name: 'Unpin' }).click();
  await shows(elsewhere, [], ['Settings', ...moved]);
  await shows(page, [], ['Settings', ...moved]);
});

test('a tile is dragged with the mouse, into the pins and out of them, and a drag opens nothing', async (t) => {
  const account = await registerAccount(platform, 'mouse');
  const page = await openHome(t, account);
  const drag = async (name: string, to: { x: number; y: number }) => {
    const from = await centreOf(page, name);
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(from.x + 10, from.y, { steps: 2 });
    await page.mouse.move(to.x, to.y, { steps: 8 });
    // A hand does not hold still.
    await page.mouse.move(to.x + 1, to.y, { steps: 2 });
  };
  await drag('Store', await centreOf(page, 'Contacts'));
  await page.mouse.up();
  await shows(page, [], ['Store', ...AT_FIRST.filter((name) => name !== 'Store')]);
  assert.equal(await page.locator('iframe[title="Store"]').count(), 0);

  const start = await centreOf(page, 'Settings');
  await page.mouse.move(start.x, start.y);
  await page.mouse.down();
  await page.mouse.move(start.x + 10, start.y, { steps: 2 });
  const zone = launcherOf(page).getByText('Drop it here to pin it');
  const box = await zone.boundingBox();
  assert.ok(box !== null);
  await page.mouse.move(box.x + 20, box.y + box.height / 2, { steps: 4 });
  await page.mouse.up();
  const rest = ['Store', 'Contacts', 'Files', 'Messages', 'Notifications', 'Personal Agent', 'Schedules', 'Wallet'];
  await shows(page, ['Settings'], rest);
  await keeps(account, ({ pinned }) => pinned.join() === 'settings');

  // Escape lets it go where it was.
  await drag('Settings', await centreOf(page, 'Schedules'));
  await page.keyboard.press('Escape');
  await page.mouse.up();
  await shows(page, ['Settings'], rest);
  await drag('Settings', await centreOf(page, 'Schedules'));
  await page.mouse.up();
  await shows(
    page,
    [],
    ['Store', 'Contacts', 'Files', 'Messages', 'Notifications', 'Personal Agent', 'Settings', 'Schedules', 'Wallet'],
  );
});

test('a finger drags a tile after a long press, and scrolls and opens otherwise', async (t) => {
  const account = await registerAccount(platform, 'finger');
  const context = await browser.newContext({
    viewport: PHONE,
    hasTouch: true,
    isMobile: true,
    reducedMotion: 'reduce',
  });
  t.after(() => context.close());
  await signInto(context, platform, account);
  const page = await context.newPage();
  await page.goto(platform.origin);
  await tileOf(page, 'Store').waitFor();
  const cdp = await context.newCDPSession(page);
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', at?: { x: number; y: number }) =>
    cdp.send('Input.dispatchTouchEvent', { type, touchPoints: at === undefined ? [] : [at] });
  const from = await centreOf(page, 'Store');
  const to = await centreOf(page, 'Contacts');
  await touch('touchStart', from);
  await launcherOf(page).locator('.tile.dragged', { hasText: 'Store' }).waitFor();
  for (const part of [0.25, 0.5, 0.75, 1])
    await touch('touchMove', { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part });
  await touch('touchEnd');
  await shows(page, [], ['Store', ...AT_FIRST.filter((name) => name !== 'Store')]);
  assert.equal(await page.locator('iframe[title="Store"]').count(), 0);
  await tileOf(page, 'Schedules').tap();
  await page.locator('iframe[title="Schedules"]').waitFor();
});

test('the order outlives installs, removals and another launcher, and an app stays among apps', async (t) => {
  const account = await registerAccount(platform, 'mover');
  for (const [appId, name] of [
    ['album', 'Album'],
    ['logbook', 'Diary'],
    ['easel', 'Easel'],
  ] as const)
    await publishTestApp(
      account,
      appId,
      { name, permissions: HOME },
      { 'frontend/index.html': '<!doctype html><html lang="en"><title>x</title><h1>Here</h1></html>' },
    );
  for (const appId of ['album', 'logbook']) await account.browser.take('/v1/apps', { body: { appId } });
  const page = await openHome(t, account);
  await shows(page, [], ['Album', 'Diary'], 'Your apps');
  await tileOf(page, 'Album').focus();
  await page.keyboard.press('Shift+ArrowRight');
  await page.keyboard.press('Shift+ArrowRight');
  await shows(page, [], ['Diary', 'Album'], 'Your apps');
  await keeps(account, ({ order }) => order[0] === 'logbook' && order[1] === 'album');

  await account.fetch('/v1/apps/logbook', { method: 'DELETE' });
  await shows(page, [], ['Album'], 'Your apps');
  await tileOf(page, 'Store').focus();
  await page.keyboard.press('Shift+ArrowLeft');
  await keeps(account, ({ order }) => order.indexOf('store') < order.indexOf('settings'));
  for (const appId of ['logbook', 'easel']) await account.browser.take('/v1/apps', { body: { appId } });
  const back = ['Diary', 'Album', 'Easel'];
  await shows(page, [], back, 'Your apps');
  await shows(
    page,
    [],
    ['Contacts', 'Files', 'Messages', 'Notifications', 'Personal Agent', 'Schedules', 'Store', 'Settings', 'Wallet'],
  );

  await account.browser.take('/v1/account/launcher', { method: 'PUT', body: { appId: 'easel' } });
  await page.frameLocator('iframe[title="Easel"]').getByRole('heading', { name: 'Here' }).waitFor();
  await account.fetch('/v1/account/launcher', { method: 'DELETE' });
  await shows(page, [], back, 'Your apps');
});

test('the home screen says where to start until an app is installed, and never again', async (t) => {
  const account = await registerAccount(platform, 'beginner');
  const page = await openHome(t, account);
  const start = launcherOf(page).getByRole('heading', { name: 'Start here' });
  await start.waitFor();
  await look(page, 'desktop', 'start-here');
  await publishTestApp(
    account,
    'first',
    { name: 'First' },
    { 'frontend/index.html': '<!doctype html><title>x</title>' },
  );
  await account.browser.take('/v1/apps', { body: { appId: 'first' } });
  await tileOf(page, 'First').waitFor();
  await start.waitFor({ state: 'detached' });
  await account.fetch('/v1/apps/first', { method: 'DELETE' });
  await tileOf(page, 'First').waitFor({ state: 'detached' });
  await page.reload();
  await tileOf(page, 'Store').waitFor();
  assert.equal(await start.count(), 0);
});

test('a tile says that its app was stopped or failed, and starts it', async (t) => {
  const account = await registerAccount(platform, 'watcher');
  for (const [appId, name, server] of [
    ['idler', 'Idler', SERVER],
    ['broken', 'Broken', 'process.exit(3)'],
  ] as const) {
    const files = { 'frontend/index.html': '<!doctype html><title>x</title>', 'workload/main.mjs': server };
    await publishTestApp(account, appId, { name, workload: { runtime: 'node', entry: 'main.mjs' } }, files);
    await account.browser.take('/v1/apps', { body: { appId } });
  }
  await account.browser.take('/v1/apps/idler/stop', { body: {} });
  await account.fetch('/v1/apps/broken/start', { body: {} });
  const page = await openHome(t, account);
  const launcher = launcherOf(page);
  await launcher.getByRole('button', { name: /^Broken ?, Failed ?: .*code 3/ }).waitFor();
  await launcher.getByRole('button', { name: /^Idler ?, Stopped ?: Stopped by you$/ }).waitFor();
  await look(page, 'desktop', 'tiles-marked');
  await page.setViewportSize(PHONE);
  await look(page, 'phone', 'tiles-marked');
  await launcher.getByRole('button', { name: 'Options of Idler' }).click();
  await launcher.getByRole('button', { name: 'Start', exact: true }).click();
  await launcher.getByRole('button', { name: 'Idler', exact: true }).waitFor();
  await until('it runs', async () => {
    const { state } = await account.browser.take<{ state: string }>('/v1/apps/idler/status');
    return state === 'running';
  });

  // Settings says the same, and there is one Settings.
  await page.goto(`${platform.origin}/#/app/settings`);
  await page.getByRole('link', { name: /^Broken Failed/ }).waitFor();
  const rows = await page.locator('.settings-page .row-title').allInnerTexts();
  assert.deepEqual(
    rows.map((text) => text.split('\n')[0]),
    [
      'Broken',
      'Idler',
      'Contacts',
      'Files',
      'Launcher',
      'Messages',
      'Notifications',
      'Personal Agent',
      'Schedules',
      'Settings',
      'Store',
      'Wallet',
    ],
  );
  await look(page, 'phone', 'settings-apps');
});

test('an app without a picture shows as the same letter on the same colour everywhere', async (t) => {
  const account = await registerAccount(platform, 'typesetter');
  const frontend = {
    'frontend/index.html': '<!doctype html><html lang="en"><title>x</title><h1>Here</h1></html>',
  };
  await publishTestApp(account, 'glyphs', { name: 'Type Case' }, frontend);
  const page = await openHome(t, account);
  const seen: string[] = [];
  const note = async (letter: Locator) => {
    await letter.waitFor();
    seen.push(
      await letter.evaluate((element) => `${element.textContent} ${getComputedStyle(element).backgroundColor}`),
    );
  };
  await page.goto(`${platform.origin}/#/app/store`);
  const store = page.frameLocator('iframe[title="Store"]');
  const entry = store.getByRole('article').filter({ hasText: 'Type Case' });
  await note(entry.locator('.letter-icon'));
  await entry.getByRole('button', { name: 'Install' }).click();
  const review = page.getByRole('dialog', { name: /Type Case/ });
  await note(review.locator('.letter'));
  const done = review.getByRole('heading', { name: 'Type Case is installed' });
  await pressInPrompt(review.getByRole('button', { name: 'Install', exact: true }), done);
  await pressInPrompt(
    review.getByRole('button', { name: 'Open Type Case', exact: true }),
    page.locator('iframe[title="Type Case"]'),
  );
  await note(page.getByRole('navigation', { name: 'Open apps' }).locator('.letter'));
  await page.goto(`${platform.origin}/#/settings/apps`);
  await note(page.getByRole('link', { name: /^Type Case/ }).locator('.letter'));
  await page.getByRole('button', { name: 'Home', exact: true }).click();
  await note(tileOf(page, 'Type Case').locator('.letter-icon'));
  await page.keyboard.press('Control+k');
  await page.keyboard.type('type c');
  await note(page.getByRole('option', { name: 'Type Case', exact: true }).locator('.letter'));
  assert.deepEqual([...new Set(seen)], seen.slice(0, 1));
  assert.match(seen[0] ?? '', /^T /);
});
