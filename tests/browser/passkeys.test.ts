// Passkeys as a person keeps them, in real Chromium: a second one at once after the registration; later another passkey confirms
// what is added and removed, and who cancels changes nothing. After a recovery the person decides what else gets in. Pictures go to SCREENSHOT_DIR, by default screenshots/.
import { strict as assert } from 'node:assert';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import {
  type PlatformPlace,
  type PlatformProcess,
  platformPlace,
  runCommand,
  startPlatform,
} from '../support/platform-process.ts';
import { DEVICES, launchBrowser, newPerson, pressInPrompt } from './browser.ts';
import { look } from './look.ts';

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

const rows = (page: Page) => page.getByRole('listitem').filter({ hasText: /^Passkey \d/ });

for (const [device, viewport] of DEVICES) {
  test(`on a ${device}, a passkey is added and removed with another one`, async (t) => {
    const { page, context, complaints, plugInKey, verifies } = await newPerson(browser, viewport);
    t.after(() => context.close());
    await page.goto(platform.origin);
    await page.getByLabel('Account name').fill(`keeper-${device}`);
    await page.getByRole('button', { name: /^Create account/ }).click();
    await page.getByRole('button', { name: 'Home', exact: true }).waitFor();

    await page.goto(`${platform.origin}/#/settings/passkeys`);
    await page.getByText('You have one passkey.').waitFor();
    await plugInKey();
    await page.getByRole('button', { name: 'Add a passkey', exact: true }).click();
    await rows(page).nth(1).waitFor();

    // Signed in again, with the newer of the two.
    await context.clearCookies();
    await page.goto(platform.origin);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('button', { name: 'Home', exact: true }).waitFor();
    await page.goto(`${platform.origin}/#/settings/passkeys`);
    await page.getByRole('button', { name: 'Add a passkey', exact: true }).click();
    await page.getByText('Confirmed. Now create the new passkey').waitFor();
    await look(page, device, 'passkeys-confirmed');
    const create = page.getByRole('button', { name: 'Create the passkey', exact: true });
    await plugInKey();
    await create.click();
    await rows(page).nth(2).waitFor();

    // What another session did is shown above whatever is open, what this one did is not.
    const notice = page.getByRole('region', { name: 'Important notifications' });
    await notice.getByText('A passkey was added to your account').waitFor();
    await notice.getByText('“Passkey 2” can sign in').waitFor();
    await look(page, device, 'passkeys-notice');
    await page.goto(`${platform.origin}/#/`);
    await pressInPrompt(notice.getByRole('button', { name: 'Review passkeys' }), rows(page).nth(2));
    await notice.getByText('A passkey was added').waitFor({ state: 'detached' });

    const removal = (name: string) => page.getByRole('region', { name: `Remove ${name}?` });
    const remove = (name: string) => removal(name).getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByRole('button', { name: 'Remove Passkey 1', exact: true }).click();
    await look(page, device, 'passkeys-removing');
    await remove('Passkey 1');
    await removal('Passkey 1').waitFor({ state: 'detached' });
    assert.equal(await rows(page).count(), 2);

    await page.getByRole('button', { name: 'Remove Passkey 2', exact: true }).click();
    await verifies(false);
    await remove('Passkey 2');
    await page.getByText(/cancelled or timed out/).waitFor();
    assert.equal(await rows(page).count(), 2);
    // Its cookie was taken away once.
    const expected = /directive 'webrtc'|401 \(Unauthorized\) \S+\/v1\/auth\/session$/;
    assert.deepEqual(
      complaints.filter((complaint) => !expected.test(complaint)),
      [],
    );
  });

  test(`on a ${device}, whoever was let in by the operator decides what else gets in`, async (t) => {
    const name = `lost-${device}`;
    const before = await newPerson(browser, viewport);
    t.after(() => before.context.close());
    await before.page.goto(platform.origin);
    await before.page.getByLabel('Account name').fill(name);
    await before.page.getByRole('button', { name: /^Create account/ }).click();
    await before.page.getByRole('button', { name: 'Home', exact: true }).waitFor();

    const printed = await runCommand(['recover', name], place.environment);
    const link = /http:\S+#enrol=\S+/.exec(printed)?.[0];
    assert.ok(link, printed);
    const { page, context } = await newPerson(browser, viewport);
    t.after(() => context.close());
    await page.goto(link);
    await page.getByRole('button', { name: 'Create the passkey' }).click();
    await page.getByRole('heading', { name: 'What else gets in' }).waitFor();
    await rows(page).nth(0).waitFor();
    assert.deepEqual(await rows(page).count(), 1, 'the new one is not in question');
    await look(page, device, 'recovered');
    await page.getByRole('button', { name: 'Remove Passkey 1', exact: true }).click();
    await page
      .getByRole('region', { name: 'Remove Passkey 1?' })
      .getByRole('button', { name: 'Remove', exact: true })
      .click();
    // With it went the session that it had opened.
    await page.getByText('Nothing else gets in').waitFor();
    await before.page.getByText('Your session has ended. Sign in again.').waitFor();
    await look(page, device, 'recovered-alone');
    await page.getByRole('button', { name: /^Notifications, \d unread$/ }).click();
    await look(page, device, 'recovered-notices');
    const title = 'Your account was recovered with a link from the operator';
    await page.getByRole('button', { name: title, exact: true }).click();
    await page.getByText('Nothing else gets in').waitFor();
  });
}
