// Settings → Storage in real Chromium: what an account takes of the disk, and deleting it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { openBackend } from '../support/backend.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { until } from '../support/wait.ts';
import { DESKTOP, DEVICES, launchBrowser } from './browser.ts';
import { look, settingsFit } from './look.ts';
import { signedInContext } from './signed-in.ts';

/** Keeps a line for each request, and answers with how many there are. */
const MAIN = `
  const fs = process.getBuiltinModule('node:fs');
  const file = process.env.PLATFORM_VOLUME_DIR + '/lines';
  process.getBuiltinModule('node:http').createServer((_, res) => {
    fs.appendFileSync(file, 'line\\n');
    res.end(String(fs.readFileSync(file, 'utf8').split('\\n').length - 1));
  }).listen(process.env.PORT);`;

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

for (const [device, viewport] of DEVICES) {
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
    await page.getByText('of 20 GiB reserved').waitFor();
    await look(page, device, 'storage');
    const tooWide = await page.evaluate(() =>
      [...document.querySelectorAll('main, .settings')].some((element) => element.scrollWidth > element.clientWidth),
    );
    assert.equal(tooWide, false, 'the page fits the width of the screen');
    const gone = page.getByRole('listitem').filter({ hasText: 'Old Ledger' });
    await gone.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Everything that Old Ledger stored is deleted. You can’t undo this.').waitFor();
    const typed = page.getByLabel('Type Old Ledger to confirm');
    await typed.fill('Old');
    const confirm = page.getByRole('button', { name: 'Delete its data', exact: true });
    assert.equal(await confirm.getAttribute('aria-disabled'), 'true');
    await typed.fill('old ledger');
    await look(page, device, 'storage-delete');
    await confirm.click();
    await gone.waitFor({ state: 'detached' });
    const old = page.getByRole('listitem').filter({ hasText: `gone-${device}` });
    await old.getByRole('button', { name: 'Delete' }).click();
    await old.getByRole('button', { name: 'Delete' }).click();
    await old.waitFor({ state: 'detached' });
    await page.reload();
    await page.getByText('of 20 GiB reserved').waitFor();
    assert.equal(await page.getByText('Old Ledger').count(), 0);
    await settingsFit(page);
    await account.fetch(`/v1/apps/kept-${device}`, { method: 'DELETE' });
    const { status } = await account.fetch(`/v1/account/volumes/kept-${device}`, { method: 'DELETE' });
    assert.equal(status, 204);
  });

  test(`on a ${device} the data of an app is deleted on its page, and the app goes on without it`, async (t) => {
    const appId = `diary-${device}`;
    await publish(appId, 'Night Diary', 64);
    await account.browser.take('/v1/apps', { body: { appId } });
    t.after(() => account.fetch(`/v1/apps/${appId}`, { method: 'DELETE' }));
    const ask = await openBackend(platform, account, appId);
    const lines = async () => {
      const answer = await ask('/');
      return answer.status === 200 ? Number(answer.text) : null;
    };
    for (const wanted of [1, 2, 3]) assert.equal(await lines(), wanted);
    await account.browser.take(`/v1/apps/${appId}/stop`, { method: 'POST' });

    const context = await signedInContext({ browser, platform, account }, viewport);
    t.after(() => context.close());
    const page = await context.newPage();
    await page.goto(`${platform.origin}/#/settings/storage`);
    await page.getByText(/^\d+ KiB used of 64 MiB reserved · installed$/).waitFor();
    await page.getByText(/of 20 GiB reserved, [\d.]+ [KM]iB of it in use/).waitFor();
    await look(page, device, 'storage-use');
    await account.browser.take(`/v1/apps/${appId}/start`, { method: 'POST' });
    await page.goto(`${platform.origin}/#/settings/apps/${appId}`);
    await page.getByRole('button', { name: 'Delete its data …' }).click();
    await page.getByLabel('Type Night Diary to confirm').fill('Night Diary');
    await look(page, device, 'app-data-delete', [page.getByRole('heading', { name: 'Data', exact: true })]);
    await page.keyboard.press('Enter');
    await page.getByText('Deleting the data of Night Diary.').waitFor();
    const empty = await until(
      'it runs again',
      async () => {
        const now = await lines();
        return now !== null && now <= 3 ? now : null;
      },
      60_000,
    );
    assert.equal(empty, 1);
    await page.goto(`${platform.origin}/#/settings/storage`);
    await page.getByText('Night Diary').first().waitFor();
    await page.getByText('being deleted').waitFor({ state: 'detached' });
  });
}

test('what is listed goes by its name, and a version that somebody may go back to is not offered for deletion', async (t) => {
  await publish('alder', 'Wood', 64);
  await publish('zinnia', 'Flower', 128);
  const reader = await registerAccount(place, 'going-back');
  await reader.browser.take('/v1/apps', { body: { appId: 'alder' } });
  const files = { 'frontend/index.html': '<!doctype html>' };
  for (const version of ['1.10.0', '1.9.0']) await publishTestApp(account, 'alder', { name: 'Wood', version }, files);
  await reader.browser.take('/v1/apps/alder/upgrade', { body: { version: '1.10.0' } });
  for (const appId of ['alder', 'zinnia'])
    await account.browser.take('/v1/apps', { body: { appId, version: '1.0.0' } });
  const context = await signedInContext({ browser, platform, account }, DESKTOP);
  t.after(() => context.close());
  const page = await context.newPage();
  await page.goto(`${platform.origin}/#/settings/storage`);
  await page.getByText('of 20 GiB reserved').waitFor();
  const titles = await page.locator('.settings-page .row-title').allInnerTexts();
  const mine = ['Flower', 'Wood', 'alder 1.10.0', 'alder 1.9.0', 'alder 1.0.0', 'zinnia 1.0.0'];
  assert.deepEqual(
    titles.filter((title) => mine.includes(title)),
    mine,
  );
  await account.fetch('/v1/apps/alder', { method: 'DELETE' });
  await page.reload();
  const kept = page.getByRole('listitem').filter({ hasText: 'alder 1.0.0' });
  await kept.getByText(/people who updated from it can go back until/).waitFor();
  assert.equal(await kept.getByRole('button', { name: 'Delete' }).count(), 0);
  const free = page.getByRole('listitem').filter({ hasText: 'alder 1.9.0' });
  assert.equal(await free.getByRole('button', { name: 'Delete' }).count(), 1);
  await look(page, 'desktop', 'storage-kept');
});
