// A browser that blocks what apps would store in it, as many do for pages in frames: every app of the platform opens, and
// an app whose author relied on storage is told why it is not there.
import { strict as assert } from 'node:assert';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import type { BrowserContext, Page } from 'playwright-core';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { launchProfile, pressAway, tileOf } from './browser.ts';
import { signInto } from './signed-in.ts';

/** Chromium's settings of sites: 2 is blocked. Hosts of apps end with this domain. */
const PREFERENCES = {
  profile: { content_settings: { exceptions: { cookies: { '[*.]apps.platform.localhost,*': { setting: 2 } } } } },
};
const APPS = ['Launcher', 'Store', 'Notifications', 'Contacts', 'Personal Agent', 'Wallet', 'Notes'];

let place: PlatformPlace;
let platform: PlatformProcess;
let account: TestAccount;
let profile = '';
let context: BrowserContext;
let page: Page;

before(async () => {
  place = await platformPlace();
  platform = await startPlatform(place);
  account = await registerAccount(platform, 'careful');
  await account.browser.take('/v1/apps', { body: { appId: 'notes' } });
  profile = await mkdtemp(path.join(tmpdir(), 'blocked-storage-'));
  await mkdir(path.join(profile, 'Default'));
  await writeFile(path.join(profile, 'Default', 'Preferences'), JSON.stringify(PREFERENCES));
  context = await launchProfile(profile, {});
  await signInto(context, platform, account);
  page = await context.newPage();
  await page.goto(platform.origin);
});
after(async () => {
  await context?.close();
  await platform?.stop();
  await place?.remove();
  await rm(profile, { recursive: true, force: true });
});

for (const name of APPS) {
  test(`${name} opens without storage, and stays connected after a reload of its frame`, async () => {
    const warned = page.waitForEvent('console', (message) => message.text().startsWith('This browser blocks'));
    await page.getByRole('button', { name: 'Home' }).click();
    const shown = page.frameLocator(`iframe[title="${name}"]`);
    const button = tileOf(page, name);
    if (name !== 'Launcher') await pressAway(button, shown.owner());
    else await page.reload();
    await shown.getByRole('heading', { level: 1 }).first().waitFor();
    const frame = await (await page.locator(`iframe[title="${name}"]`).elementHandle())?.contentFrame();
    assert.ok(frame);
    const blocked = () => {
      try {
        return String(localStorage);
      } catch (error) {
        return (error as Error).name;
      }
    };
    assert.equal(await frame.evaluate(blocked), 'SecurityError');
    await warned;
    await frame.evaluate(() => location.reload()).catch(() => {});
    await frame.waitForFunction(() => performance.getEntriesByType('navigation')[0]?.toJSON().type === 'reload');
    await shown.getByRole('heading', { level: 1 }).first().waitFor();
    assert.equal(await shown.getByText('This app is not connected').count(), 0);
  });
}

test('a draft of Notes is kept by the shell then', async () => {
  const notes = page.frameLocator('iframe[title="Notes"]');
  await page.evaluate(() => {
    location.hash = '#/app/notes';
  });
  await notes.locator('button:enabled').first().waitFor();
  await notes.getByLabel('New note').fill('Without storage');
  await page.waitForFunction(() => sessionStorage.getItem('platform.kept.state.notes')?.includes('Without storage'));
  await page.reload();
  await notes.locator('button:enabled').first().waitFor();
  assert.equal(await notes.getByLabel('New note').inputValue(), 'Without storage');
});

test('a shopping list sends what was changed offline after its person went elsewhere, also without storage', async (t) => {
  await account.browser.take('/v1/apps', { body: { appId: 'shopping-list' } });
  t.after(() => context.setOffline(false));
  const show = () => page.goto(`${platform.origin}/#/app/shopping-list`);
  await show();
  const list = page.frameLocator('iframe[title="Shopping List"]');
  await list.getByRole('button', { name: 'New list' }).click();
  await list.getByLabel('Name', { exact: true }).fill('Groceries');
  await list.getByRole('button', { name: 'Make list' }).click();
  await list.getByText('Nothing to buy.').waitFor();
  await context.setOffline(true);
  await list.getByLabel('New item').fill('Milk');
  await list.getByRole('button', { name: 'Add', exact: true }).click();
  await list.getByText('Offline. 1 change kept in this tab, to be sent later.').waitFor();
  await page.getByRole('button', { name: 'Home' }).click();
  await list.owner().waitFor({ state: 'detached' });
  await context.setOffline(false);
  await show();
  await list.locator('li:not(.waits)').getByLabel('Change Milk').waitFor();
});
