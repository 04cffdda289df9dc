// The example Chat Room as strangers and its owner meet it, in real Chromium against a whole platform: two browsers chat at the
// public address, what is written is text whatever it looks like, and the owner deletes, removes and closes.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { ingressVariables, publicUrlOf } from '../support/public-address.ts';
import { DESKTOP, DEVICES, LAST_DEVICE, launchBrowser, newPerson, PHONE } from './browser.ts';
import { look } from './look.ts';
import { signedInContext } from './signed-in.ts';

const APP = 'chat-room';
const GRANTS = [{ id: 'endpoints.public', resources: ['GET:/', 'GET:/page/*', 'WS:/room'] }];
const EVIL = '<img src=x onerror="document.title=1"><script>document.title=2</script>';

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;
let account: TestAccount;
let address: URL;

before(async () => {
  place = await platformPlace({ PLATFORM_RUNTIME_DRIVER: 'process', ...(await ingressVariables()) });
  [platform, browser] = await Promise.all([startPlatform(place), launchBrowser()]);
  account = await registerAccount(platform, 'host');
  await account.browser.take('/v1/apps', { body: { appId: APP, permissions: GRANTS } });
  address = await publicUrlOf(account, APP);
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

test('two strangers chat, and the owner moderates', async (t) => {
  const [ada, ben] = [await newPerson(browser, DESKTOP), await newPerson(browser, PHONE)];
  t.after(() => Promise.all([ada, ben].map(({ context }) => context.close())));
  for (const { page } of [ada, ben]) await page.goto(address.href);
  await look(ada.page, 'desktop', 'chat-room-join');
  await look(ben.page, 'phone', 'chat-room-join');

  await ada.page.getByLabel('Your name in the room').fill('Ada');
  await ada.page.keyboard.press('Enter');
  await ada.page.getByText('You are in the room as Ada.').waitFor();
  await ben.page.getByLabel('Your name in the room').fill('ada');
  await ben.page.getByRole('button', { name: 'Join' }).click();
  await ben.page.getByText('Choose a name of 1 to 20 letters and digits that nobody here has.').waitFor();
  await ben.page.getByLabel('Your name in the room').fill('Ben');
  await ben.page.getByRole('button', { name: 'Join' }).click();
  await ada.page.getByText('Here: Ada, Ben').waitFor();

  const write = async (page: typeof ada.page, text: string) => {
    await page.getByLabel('Message', { exact: true }).fill(text);
    await page.keyboard.press('Enter');
  };
  await write(ada.page, 'Does anybody know when the market opens on Saturday?');
  await ben.page.getByText('Does anybody know').waitFor();
  await write(ben.page, 'At eight. The flowers go first, so come early.');
  await write(ben.page, EVIL);
  await ada.page.getByText(EVIL).waitFor();
  assert.equal(await ada.page.title(), 'Chat Room');
  assert.equal(await ada.page.locator('#messages img, #messages script').count(), 0);
  await look(ada.page, 'desktop', 'chat-room');
  await look(ben.page, 'phone', 'chat-room');

  for (const [device, viewport] of DEVICES) {
    const context = await signedInContext({ browser, platform, account }, viewport);
    t.after(() => context.close());
    const page = await context.newPage();
    await page.goto(`${platform.origin}/#/app/${APP}`);
    const app = page.frameLocator('iframe[title="Chat Room"]');
    await app.getByText('Does anybody know').waitFor();
    await look(page, device, 'chat-room-owner');
    if (device !== LAST_DEVICE) continue;
    await app.getByRole('button', { name: /^Delete the message of Ben: <img/ }).click();
    await ada.page.getByText(EVIL).waitFor({ state: 'detached' });
    await app.getByRole('button', { name: 'Close the room' }).click();
    await ada.page.getByText('The room is closed.').waitFor();
    await app.getByRole('button', { name: 'Open the room' }).click();
    await app.getByRole('button', { name: 'Close the room' }).waitFor();
    await ada.page.getByRole('button', { name: 'Join' }).click();
    await ada.page.getByText('You are in the room as Ada.').waitFor();
    await app.getByRole('button', { name: 'Remove Ada' }).click();
    await ada.page.getByText('The owner of the room removed you.').waitFor();
  }
  assert.deepEqual(
    ada.complaints.filter((complaint) => !complaint.includes('WebSocket')),
    [],
  );
});
