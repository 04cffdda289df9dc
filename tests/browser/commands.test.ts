// The search finds settings and commands by what a person calls them, and begins with what was used last. With the keyboard
// on a desktop, with a finger on a phone; pictures go to SCREENSHOT_DIR, by default screenshots/.
import { strict as assert } from 'node:assert';
import { after, before, test } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { DESKTOP, launchBrowser, PHONE, tileOf } from './browser.ts';
import { look } from './look.ts';
import { signedInContext } from './signed-in.ts';

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;
let account: TestAccount;

before(async () => {
  place = await platformPlace();
  platform = await startPlatform(place);
  account = await registerAccount(platform, 'finder');
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

async function open(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  await page.goto(platform.origin);
  await tileOf(page, 'Store').waitFor();
  return page;
}

const option = (page: Page, name: string | RegExp) => page.getByRole('option', { name, exact: true });

test('settings and commands are found by their names and by synonyms', async (t) => {
  const context = await signedInContext({ browser, platform, account }, DESKTOP);
  t.after(() => context.close());
  const page = await open(context);
  const find = async (typed: string, found: string | RegExp) => {
    await page.getByRole('button', { name: 'Home', exact: true }).focus();
    await page.keyboard.press('Control+k');
    await page.keyboard.type(typed);
    await option(page, found).waitFor();
  };
  await find('dark', /^Dark colours/);
  await look(page, 'desktop', 'search-command');
  await page.keyboard.press('Enter');
  await page.locator('html[data-theme="dark"]').waitFor({ state: 'attached' });
  for (const [typed, found, heading] of [
    ['password', /^Passkeys/, 'Passkeys'],
    ['mute', /^Notifications Settings/, 'Notifications'],
    ['launcher permissions', /^Launcher: settings/, 'Launcher'],
  ] as const) {
    await find(typed, found);
    await option(page, found).click();
    await page.getByRole('heading', { name: heading, exact: true, level: 2 }).waitFor();
  }
  await find('log out', /^Sign out/);
  await option(page, /^Sign out/).click();
  await page.getByRole('button', { name: /^Sign in/ }).waitFor();
  const kept = await page.evaluate(() => localStorage.getItem('platform.recent'));
  assert.equal(kept, null, 'nothing of it stays after the end of the session');
});

test('the search begins with the apps and searches of last time, also in another window', async (t) => {
  const fresh = await registerAccount(platform, 'finder-again');
  const context = await signedInContext({ browser, platform, account: fresh }, PHONE);
  t.after(() => context.close());
  const page = await open(context);
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  assert.equal(await page.getByRole('option').count(), 0);
  await page.keyboard.type('wall');
  await option(page, 'Wallet Part of the platform').click();
  await page.locator('iframe[title="Wallet"]').waitFor();
  await page.getByRole('button', { name: 'Home', exact: true }).click();
  await tileOf(page, 'Schedules').click();
  await page.locator('iframe[title="Schedules"]').waitFor();

  const other = await open(context);
  await other.getByRole('button', { name: 'Search', exact: true }).click();
  await option(other, 'wall').waitFor();
  const titles = await other.getByRole('option').locator('.hit-title').allInnerTexts();
  assert.deepEqual(titles, ['Schedules', 'Wallet', 'wall']);
  await look(other, 'phone', 'search-recent');
  await option(other, 'wall').click();
  await option(other, 'Wallet Part of the platform').click();
  await other.locator('iframe[title="Wallet"]').waitFor();
});
