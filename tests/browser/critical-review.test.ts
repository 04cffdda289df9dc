// What a review says and leaves off of permissions that weigh much, in a real browser: the one list of critical permissions is what
// core grants without a choice, what the Store marks, and what a review turns off. Pictures go to SCREENSHOT_DIR.
import { strict as assert } from 'node:assert';
import { after, before, test } from 'node:test';
import type { PermissionsView } from '@platform/contract';
import type { Browser } from 'playwright-core';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { BOTH_DEVICES, launchBrowser, pressInPrompt } from './browser.ts';
import { look } from './look.ts';
import { signedInContext } from './signed-in.ts';

const MANIFEST = {
  name: 'Brake',
  summary: 'Stops everything when the house is on fire.',
  frontend: { entry: 'index.html' },
  workload: { runtime: 'node', entry: 'main.mjs', resources: { memoryMiB: 64 } },
  permissions: [
    { id: 'notifications.publish', resources: ['alarm'], reason: 'Tells you when it stopped something.' },
    { id: 'network.public', resources: ['*'], reason: 'Asks the fire brigade.' },
    { id: 'runtime.network-tunnel', resources: ['*'] },
    { id: 'runtime.pause', resources: ['*'], reason: 'Stops your apps in an emergency.' },
  ],
};
const FILES = {
  'frontend/index.html': '<!doctype html><html lang="en"><title>Brake</title><h1>Brake</h1></html>',
  'workload/main.mjs':
    "process.getBuiltinModule('node:http').createServer((_, response) => response.end()).listen(process.env.PORT);",
};

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;

before(async () => {
  place = await platformPlace({ PLATFORM_RUNTIME_DRIVER: 'process' });
  platform = await startPlatform(place);
  await publishTestApp(await registerAccount(platform, 'publisher'), 'brake', MANIFEST, FILES);
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

async function granted(account: TestAccount): Promise<string[]> {
  const { permissions } = await account.browser.take<PermissionsView>('/v1/apps/brake/permissions');
  return permissions.map(({ id }) => id).toSorted();
}

for (const [device, viewport] of BOTH_DEVICES) {
  test(`on a ${device} a critical permission is off, and what reaches far is said and on`, async (t) => {
    const account = await registerAccount(platform, `${device}-user`);
    const context = await signedInContext({ browser, platform, account }, viewport);
    t.after(() => context.close());
    const page = await context.newPage();
    await page.goto(`${platform.origin}/#/app/store`);
    const store = page.frameLocator('iframe[title="Store"]');
    await store.getByRole('button', { name: 'Brake', exact: true }).click();
    const asked = store.getByRole('listitem').filter({ hasText: 'Ask to stop all your apps' });
    await asked.getByText('Powerful').waitFor();
    const open = store.getByRole('listitem').filter({ hasText: 'Connect to any address' });
    assert.equal(await open.getByText('Powerful').count(), 0);
    await store.getByText('Powerful ones are off until you turn them on.').waitFor();
    await look(page, device, 'critical-store');
    await store.getByRole('button', { name: 'Install Brake' }).click();

    const review = page.getByRole('dialog', { name: 'Install Brake?' });
    const box = (name: string) => review.getByRole('checkbox', { name });
    await box('Ask to stop all your apps').waitFor();
    assert.equal(await box('Ask to stop all your apps').isChecked(), false);
    for (const name of [
      'Connect to any address on the internet',
      'Use a network tunnel device',
      'Send you notifications',
    ])
      assert.equal(await box(name).isChecked(), true, name);
    await review.getByText('It can send what it knows to any address.').waitFor();
    await review.getByText('Security 2 of 5.').waitFor();
    await review.getByText('It is less isolated than other apps').waitFor();
    assert.match((await review.locator('.permission').first().textContent()) ?? '', /^Ask to stop all your apps/);
    await look(page, device, 'critical-review', [review.getByRole('heading').nth(1)]);
    await pressInPrompt(
      review.getByRole('button', { name: 'Install', exact: true }),
      page.getByRole('heading', { name: 'Brake is installed' }),
    );
    await page.getByRole('button', { name: 'Done' }).click();
    const reviewed = ['network.public', 'notifications.publish', 'runtime.network-tunnel'];
    assert.deepEqual(await granted(account), reviewed);

    await account.browser.fetch('/v1/apps/brake', { method: 'DELETE' });
    await account.browser.take('/v1/apps', { body: { appId: 'brake' } });
    assert.deepEqual(await granted(account), reviewed, 'what core grants where nothing is chosen');

    await page.goto(`${platform.origin}/#/settings/apps/brake`);
    const pause = page.getByRole('checkbox', { name: 'Ask to stop all your apps' });
    await pause.check();
    await page.getByText('Saved. Changes apply').waitFor();
    assert.ok((await granted(account)).includes('runtime.pause'));
    await page.getByRole('definition').filter({ hasText: 'no notifications' }).waitFor();
    await look(page, device, 'critical-settings', [page.getByRole('heading', { name: 'What it may do' })]);
    await page.getByRole('button', { name: 'Reset to what the app requested' }).click();
    assert.equal(await pause.isChecked(), false);
  });
}
