// A person takes their data along, deletes the account, keeps it after all; and reads what helps without a passkey.
// On a desktop and on a phone, by day and by night; pictures go to SCREENSHOT_DIR, by default screenshots/.
import { strict as assert } from 'node:assert';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { DEVICES, launchBrowser, newPerson, pressInPrompt } from './browser.ts';
import { look, settingsFit } from './look.ts';

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;

before(async () => {
  place = await platformPlace({ PLATFORM_OPERATOR_CONTACT: 'Ada Operator, ada@example.com' });
  platform = await startPlatform(place);
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

async function register(page: Page, name: string): Promise<void> {
  await page.goto(platform.origin);
  await page.getByLabel('Account name').fill(name);
  await page.getByRole('button', { name: /^Create account/ }).click();
  await page.getByRole('button', { name: 'Home' }).waitFor();
}

async function download(page: Page): Promise<Buffer> {
  const begun = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download my data' }).click();
  const file = await begun;
  assert.match(file.suggestedFilename(), /^leaver-\w+-\d{4}-\d\d-\d\d\.tar\.gz$/);
  await page.getByText('Downloaded. README.txt in the archive explains its files.').waitFor();
  return gunzipSync(await readFile(await file.path()));
}

for (const [device, viewport] of DEVICES) {
  test(`on a ${device}, the account is downloaded, deleted and kept`, async () => {
    const { page, context } = await newPerson(browser, viewport);
    const name = `leaver-${device}`;
    await register(page, name);
    const installed = await page.evaluate(async () => {
      const body = JSON.stringify({ appId: 'notes' });
      const headers = { 'content-type': 'application/json' };
      return (await fetch('/v1/apps', { method: 'POST', headers, body })).status;
    });
    assert.equal(installed, 201);
    await page.goto(`${platform.origin}/#/settings/account`);
    await page.getByRole('heading', { name: 'Account', exact: true }).waitFor();
    await page.getByRole('checkbox', { name: /^Include the volumes of one app, up to 0 bytes\./ }).waitFor();
    await look(page, device, 'leaving-account');
    await settingsFit(page);

    const archive = await download(page);
    assert.ok(archive.includes('account.json') && archive.includes('passkeys.json'));

    const open = page.getByRole('button', { name: 'Delete my account …' });
    await open.click();
    const field = page.getByLabel(`Type ${name} to confirm`);
    const confirm = page.getByRole('button', { name: 'Delete my account', exact: true });
    assert.equal(await confirm.getAttribute('aria-disabled'), 'true');
    await field.fill('somebody-else');
    await field.press('Enter');
    assert.equal(await confirm.getAttribute('aria-disabled'), 'true');
    await look(page, device, 'leaving-typed');
    await field.press('Escape');
    await open.waitFor();
    await open.click();
    await field.fill(name);
    await field.press('Enter');

    const closing = page.getByRole('heading', { name: 'This account will be deleted' });
    await closing.waitFor();
    assert.equal(await page.locator('iframe').count(), 0);
    assert.ok(await closing.evaluate((heading) => heading === document.activeElement));
    await look(page, device, 'leaving-closing');
    assert.ok((await download(page)).includes('account.json'));

    // Nothing else of the shell is there, also by its address and after a reload.
    await page.goto(`${platform.origin}/#/settings/passkeys`);
    await page.reload();
    await closing.waitFor();
    assert.equal(await page.getByRole('button', { name: 'Home' }).count(), 0);

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await closing.waitFor();
    await pressInPrompt(
      page.getByRole('button', { name: 'Keep my account' }),
      page.getByRole('button', { name: `Account ${name}` }),
    );
    await context.close();
  });

  test(`on a ${device}, another window of the same session shows the same page`, async () => {
    const { page, context } = await newPerson(browser, viewport);
    const name = `leaver-two-${device}`;
    await register(page, name);
    const other = await context.newPage();
    await other.goto(`${platform.origin}/#/settings/storage`);
    await other.getByRole('heading', { name: 'Storage' }).waitFor();
    await page.goto(`${platform.origin}/#/settings/account`);
    await page.getByRole('button', { name: 'Delete my account …' }).click();
    await page.getByLabel(`Type ${name} to confirm`).fill(name);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'This account will be deleted' }).waitFor();
    await other.getByRole('heading', { name: 'This account will be deleted' }).waitFor();
    await context.close();
  });

  test(`on a ${device}, somebody without a passkey reads what helps`, async () => {
    const { page, context } = await newPerson(browser, viewport);
    await page.goto(platform.origin);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('button', { name: 'Lost your passkey?' }).click();
    const heading = page.getByRole('heading', { name: 'Lost your passkey?' });
    assert.ok(await heading.evaluate((element) => element === document.activeElement));
    for (const way of [
      'another device',
      'synced passkey',
      'another passkey of the account',
      'operator of this platform',
    ])
      await page.getByRole('listitem').filter({ hasText: way }).waitFor();
    await page.getByText('Ada Operator, ada@example.com').waitFor();
    await page.getByText('There is no password, e-mail or recovery code').waitFor();
    await look(page, device, 'lost-passkey');
    await page.getByRole('button', { name: 'Back to sign in' }).click();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
    await context.close();
  });
}
