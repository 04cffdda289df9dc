// The example Shopping List as two people use it, each in their own browser: together, offline, and when both changed the same item.
// Pictures go to SCREENSHOT_DIR.
import { strict as assert } from 'node:assert';
import { after, before, test } from 'node:test';
import type { Browser, BrowserContext, FrameLocator, Page } from 'playwright-core';
import { registerAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { DEVICES, launchBrowser } from './browser.ts';
import { look } from './look.ts';
import { signedInContext } from './signed-in.ts';

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

async function open(context: BrowserContext): Promise<{ page: Page; list: FrameLocator }> {
  const page = await context.newPage();
  await page.goto(`${platform.origin}/#/app/shopping-list`);
  return { page, list: page.frameLocator('iframe[title="Shopping List"]') };
}

const toBuy = (list: FrameLocator, text: string) =>
  list.getByRole('list', { name: 'To buy' }).getByLabel(`Change ${text}`, { exact: true });
const inBasket = (list: FrameLocator, text: string) =>
  list.getByRole('list', { name: 'In the basket' }).getByLabel(`Change ${text}`, { exact: true });

async function add(list: FrameLocator, text: string): Promise<void> {
  await list.getByLabel('New item').fill(text);
  await list.getByRole('button', { name: 'Add', exact: true }).click();
  await toBuy(list, text).waitFor();
}

async function rewrite(list: FrameLocator, former: string, text: string): Promise<void> {
  await toBuy(list, former).fill(text);
  await list.getByLabel(`Change ${former}`, { exact: true }).press('Enter');
  await toBuy(list, text).waitFor();
}

for (const [device, viewport] of DEVICES) {
  test(`on a ${device} two people change one list, and neither loses anything`, async (t) => {
    const [ada, ben] = [
      await registerAccount(platform, `ada-${device}`),
      await registerAccount(platform, `ben-${device}`),
    ];
    for (const account of [ada, ben]) await account.browser.take('/v1/apps', { body: { appId: 'shopping-list' } });
    const hers = await signedInContext({ browser, platform, account: ada }, viewport);
    const his = await signedInContext({ browser, platform, account: ben }, viewport);
    t.after(() => Promise.all([hers.close(), his.close()]));

    let { page: herPage, list: her } = await open(hers);
    await her.getByText('No lists yet').waitFor();
    await look(herPage, device, 'shopping-list-none');
    await her.getByRole('button', { name: 'New list' }).click();
    await her.getByLabel('Name', { exact: true }).fill('Groceries');
    await her.getByRole('button', { name: 'Make list' }).click();
    for (const item of ['Milk', 'Bread']) await add(her, item);
    await her.getByRole('button', { name: 'Share' }).click();
    await her.getByLabel('Invite somebody').fill(ben.name);
    await her.getByRole('button', { name: 'Invite', exact: true }).click();
    await her.getByText(`${ben.name} is invited`).waitFor();
    await look(herPage, device, 'shopping-list-people');
    await her.getByRole('button', { name: 'Close' }).click();

    const sharing = await his.newPage();
    await sharing.goto(`${platform.origin}/#/settings/sharing`);
    await sharing.getByRole('button', { name: 'Accept', exact: true }).click();
    await sharing.getByText('No invitations').waitFor();
    await sharing.close();
    const { page: hisPage, list: him } = await open(his);
    await him.getByRole('heading', { name: 'Groceries' }).waitFor();
    await toBuy(him, 'Milk').waitFor();

    // Together: each sees what the other does, without asking again.
    await add(him, 'Eggs');
    await toBuy(her, 'Eggs').waitFor();
    await her.getByLabel('Bread: in the basket').check();
    await inBasket(him, 'Bread').waitFor();
    await look(herPage, device, 'shopping-list');

    // She is offline, and leaves. What she changed waits on her device.
    await hers.setOffline(true);
    await her.getByText('Offline.').waitFor();
    await rewrite(her, 'Milk', 'Milk, 2 litres');
    await add(her, 'Butter');
    await her.getByText('Offline. 2 changes kept on this device, to be sent later.').waitFor();
    await look(herPage, device, 'shopping-list-offline');
    await herPage.close();
    await rewrite(him, 'Milk', 'Oat milk');
    await hers.setOffline(false);
    ({ page: herPage, list: her } = await open(hers));
    await toBuy(him, 'Butter').waitFor();

    // Both changed the milk: she sees both, and until she chose nothing is written.
    await her.getByText('Choose what becomes of one item.').waitFor();
    await her.getByText('Theirs: Oat milk').waitFor();
    await look(herPage, device, 'shopping-list-conflict');
    await rewrite(him, 'Oat milk', 'Oat milk, 1 litre');
    await her.getByText('Theirs: Oat milk, 1 litre').waitFor();
    await her.getByRole('button', { name: 'Keep mine' }).click();
    await toBuy(him, 'Milk, 2 litres').waitFor();
    await toBuy(her, 'Milk, 2 litres').waitFor();

    // He removed what she changed meanwhile.
    await his.setOffline(true);
    await him.getByText('Offline.').waitFor();
    await him.getByRole('button', { name: 'Remove Eggs' }).click();
    await rewrite(her, 'Eggs', '10 eggs');
    await his.setOffline(false);
    await him.getByText('Yours: removed').waitFor();
    await him.getByRole('button', { name: 'Keep theirs' }).click();
    await toBuy(him, '10 eggs').waitFor();

    // She takes the list away from him while he is offline: he learns what was not sent.
    await his.setOffline(true);
    await him.getByText('Offline.').waitFor();
    await add(him, 'Crisps');
    await her.getByRole('button', { name: 'Share' }).click();
    await her.getByRole('button', { name: `Remove ${ben.name}` }).click();
    await her.getByRole('button', { name: `Remove ${ben.name}` }).waitFor({ state: 'detached' });
    await his.setOffline(false);
    await him.getByText(/^This list can’t be read any more\..* Not sent: Crisps\.$/).waitFor();
    await look(hisPage, device, 'shopping-list-lost');
    await hisPage.reload();
    await him.getByText('Not sent: Crisps.').waitFor();
    await look(hisPage, device, 'shopping-list-unsent');
    await him.getByRole('button', { name: 'Discard them' }).click();
    await him.getByText('Not sent: Crisps.').waitFor({ state: 'hidden' });
    assert.deepEqual(
      await hisPage
        .frames()
        .at(-1)
        ?.evaluate(() => Object.keys(localStorage)),
      [],
    );
  });
}
