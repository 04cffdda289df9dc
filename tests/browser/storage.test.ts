// Settings → Storage in real Chromium: what an account takes of the disk, and deleting it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { DESKTOP, launchBrowser, PHONE } from './browser.ts';
import { look } from './look.ts';
import { signedInContext } from './signed-in.ts';

const MAIN = "process.getBuiltinModule('node:http').createServer((_, res) => res.end()).listen(process.env.PORT);";

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;
let account: TestAccount;

before(async () => {
  place = await platformPlace();
  platform = await startPlatform(place);
  browser = await launchBrowser();
  account = await registerAccount(place, 'collector');
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

async function publish(appId: string, name: string, diskMiB: number): Promise<void> {
  const workload = { runtime: 'node', entry: 'main.mjs', volume: true, resources: { diskMiB } };
  const files = { 'frontend/index.html': '<!doctype html>', 'workload/main.mjs': MAIN };
  await publishTestApp(account, appId, { name, workload }, files);
}

for (const [device, viewport] of [
  ['desktop', DESKTOP],
  ['phone', PHONE],
] as const) {
  test(`on a ${device} an account sees what takes its storage, and deletes what a removed app left`, async (t) => {
    await publish(`kept-${device}`, 'Photo Diary', 2_048);
    await publish(`gone-${device}`, 'Old Ledger', 512);
    for (const appId of [`kept-${device}`, `gone-${device}`])
      await account.browser.take('/v1/apps', { body: { appId } });
    await account.fetch(`/v1/apps/gone-${device}`, { method: 'DELETE' });
    const context = await signedInContext({ browser, platform, account }, viewport);
    t.after(() => context.close());
    const page = await context.newPage();
    await page.goto(`${platform.origin}/#/settings/storage`);
    await page.getByText('of 20 GiB used').waitFor();
    await look(page, device, 'storage');
    const tooWide = await page.evaluate(() =>
      [...document.querySelectorAll('main, .settings')].some((element) => element.scrollWidth > element.clientWidth),
    );
    assert.equal(tooWide, false, 'the page fits the width of the screen');
    const gone = page.getByRole('listitem').filter({ hasText: 'Old Ledger' });
    await gone.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Delete all data of Old Ledger? You can’t undo this.').waitFor();
    await look(page, device, 'storage-delete');
    await gone.getByRole('button', { name: 'Delete' }).click();
    await gone.waitFor({ state: 'detached' });
    const kept = page.getByRole('listitem').filter({ hasText: 'Photo Diary' }).first();
    assert.equal(await kept.getByRole('button', { name: 'Delete' }).count(), 0, 'what is in use has no button');
    const old = page.getByRole('listitem').filter({ hasText: `gone-${device}` });
    await old.getByRole('button', { name: 'Delete' }).click();
    await old.getByRole('button', { name: 'Delete' }).click();
    await old.waitFor({ state: 'detached' });
    await page.reload();
    await page.getByText('of 20 GiB used').waitFor();
    assert.equal(await page.getByText('Old Ledger').count(), 0);
    await account.fetch(`/v1/apps/kept-${device}`, { method: 'DELETE' });
    const { status } = await account.fetch(`/v1/account/volumes/kept-${device}`, { method: 'DELETE' });
    assert.equal(status, 204);
  });
}
