// A person gets credits, shows their address, pays somebody with their passkey, reads the receipt, limits what apps may propose, and declines
// what an app proposes. On a desktop and on a phone, by day and by night; pictures go to SCREENSHOT_DIR, by default screenshots/.
import { strict as assert } from 'node:assert';
import { after, before, test } from 'node:test';
import type { Browser, Download, Page } from 'playwright-core';
import { registerAccount } from '../support/client.ts';
import {
  type PlatformPlace,
  type PlatformProcess,
  platformPlace,
  runCommand,
  startPlatform,
} from '../support/platform-process.ts';
import { STORY_MS, until } from '../support/wait.ts';
import { DEVICES, launchBrowser, newPerson, noDialog, pressInPrompt, tileOf } from './browser.ts';
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

/** As an app's page would through the shell. */
async function propose(page: Page, to: string, value: string, reference: string): Promise<void> {
  const body = { to, amount: { currency: 'CREDIT', value }, reference, idempotencyKey: `${reference} ${value}` };
  const status = await page.evaluate(async (sent) => {
    const headers = { 'content-type': 'application/json' };
    const path = '/v1/apps/wallet/wallet/payments';
    return (await fetch(path, { method: 'POST', headers, body: JSON.stringify(sent) })).status;
  }, body);
  assert.equal(status, 201);
}

for (const [device, viewport] of DEVICES)
  test(`on a ${device}, money comes, is paid, limited and kept`, { timeout: STORY_MS }, async (t) => {
    const [name, friend] = [`ada-${device}`, `ben-${device}`];
    await registerAccount(platform, friend);
    const { page, context } = await newPerson(browser, viewport);
    t.after(() => context.close());
    await page.goto(platform.origin);
    await page.getByLabel('Account name').fill(name);
    await page.getByRole('button', { name: /^Create account/ }).click();
    await page.getByRole('button', { name: 'Home', exact: true }).waitFor();
    const said = await runCommand(['wallet', 'credit', name, '5000', '--reason', 'Welcome'], place.environment);
    assert.match(said, new RegExp(`${name} got 50\\.00 CREDIT and has 50\\.00 CREDIT`));

    const wallet = page.frameLocator('iframe[title="Wallet"]');
    await tileOf(page, 'Wallet').click();
    await wallet.getByText('50.00 CREDIT', { exact: true }).waitFor();
    await wallet.getByText('Welcome').waitFor();
    await wallet.getByRole('button', { name: 'Receive' }).click();
    await wallet.getByRole('img', { name: /QR code of your address/ }).waitFor();
    await look(page, device, 'wallet-address');
    await wallet.getByRole('button', { name: 'Receive' }).click();

    // A payment that the person enters.
    await wallet.getByRole('button', { name: 'Pay', exact: true }).click();
    await wallet.getByLabel('To', { exact: true }).fill(friend);
    await wallet.getByLabel('Amount in CREDIT').fill('12.505');
    await wallet.getByLabel('What for').fill('Lunch on Friday');
    await wallet.getByRole('button', { name: 'Review payment' }).click();
    await wallet.getByRole('alert').getByText('Write the amount as a number').waitFor();
    await look(page, device, 'wallet-pay');
    await wallet.getByLabel('Amount in CREDIT').fill('12.50');
    await wallet.getByRole('button', { name: 'Review payment' }).click();
    const review = page.getByRole('dialog', { name: 'Pay 12.50 CREDIT?' });
    await review.getByText('50.00 CREDIT, then 37.50 CREDIT').waitFor();
    await review.getByText('Lunch on Friday').waitFor();
    await review.getByText('Wallet (wallet)').waitFor();
    await look(page, device, 'wallet-review');
    await pressInPrompt(review.getByRole('button', { name: 'Pay', exact: true }), noDialog(page));
    await wallet.getByText('37.50 CREDIT', { exact: true }).waitFor();
    await wallet.getByText('−12.50 CREDIT').waitFor();
    await wallet.getByRole('button', { name: /^Receipt of −12\.50/ }).click();
    await wallet.getByText('None was needed').waitFor();
    await look(page, device, 'wallet-receipt');
    await wallet.getByLabel('Search the statement').fill('welc');
    await wallet.getByRole('paragraph').filter({ hasText: 'Lunch on Friday' }).waitFor({ state: 'detached' });
    await wallet.getByLabel('Search the statement').fill('');

    // A limit.
    await wallet.getByRole('button', { name: 'Policies' }).click();
    await wallet.getByText('There is none').waitFor();
    await wallet.getByRole('button', { name: 'New policy' }).click();
    await wallet.getByLabel('Name').fill('Friends');
    await wallet.getByLabel('Recipients').fill(friend);
    await wallet.getByLabel('At most, for one payment').fill('5');
    await wallet.getByLabel('At most within 24 hours').fill('8');
    await look(page, device, 'wallet-policy');
    await wallet.getByRole('button', { name: 'Review policy' }).click();
    const limit = page.getByRole('dialog', { name: 'Limit what apps may propose to pay?' });
    await limit.getByText('Any amount, to anyone').waitFor();
    await limit.getByText('at most 5.00 CREDIT a payment, 8.00 CREDIT in 24 hours, to one person').waitFor();
    await look(page, device, 'wallet-policy-review');
    await pressInPrompt(limit.getByRole('button', { name: 'Approve' }), noDialog(page));
    await wallet.getByText('At most 5.00 CREDIT a payment').waitFor();
    await look(page, device, 'wallet-policies');

    // What an app proposed, and the person does not want.
    await propose(page, friend, '400', 'A subscription');
    await page.reload();
    await wallet.getByRole('button', { name: 'Requests' }).click();
    await wallet.getByText('A subscription').waitFor();
    await look(page, device, 'wallet-requests');
    await wallet.getByRole('button', { name: /^Review 4\.00 CREDIT/ }).click();
    const unwanted = page.getByRole('dialog', { name: 'Pay 4.00 CREDIT?' });
    await unwanted.getByText('Admitted by “Friends”').waitFor();
    await pressInPrompt(unwanted.getByRole('button', { name: 'Decline' }), noDialog(page));
    await wallet.getByText('Declined').waitFor();

    // As a file, which anybody can verify.
    await wallet.getByRole('button', { name: 'Statement' }).click();
    const files: Download[] = [];
    page.on('download', (download) => files.push(download));
    await wallet.getByRole('button', { name: 'Save as JSON' }).click();
    // The shell asks where it was pressed itself a moment ago.
    const save = page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true });
    await until('the file', async () => {
      if (await save.isVisible()) await save.click({ timeout: 2_000 }).catch(() => undefined);
      return files.length > 0;
    });
    const file = (await files[0]?.path()) ?? '';
    const verified = await runCommand(['wallet', 'verify', '--export', file], place.environment);
    assert.match(verified, /is what was approved/);
    assert.match(verified, /not compared with any that were kept elsewhere/);
    const compared = await runCommand(['wallet', 'verify', '--export', file, '--keys', file], place.environment);
    assert.match(compared, /^\S+ The export .* is what was approved/);
    assert.match(await runCommand(['wallet', 'verify'], place.environment), /The ledger is what was approved/);
  });
