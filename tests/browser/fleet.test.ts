// What the master account sees of the whole platform, in its app Fleet: on a desktop and on a phone, by day and by
// night, with the keyboard. Pictures go to SCREENSHOT_DIR, by default screenshots/.
import { strict as assert } from 'node:assert';
import { after, before, test } from 'node:test';
import type { Browser, FrameLocator, Locator, Page } from 'playwright-core';
import { openBackend } from '../support/backend.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { DESKTOP, DEVICES, launchBrowser } from './browser.ts';
import { look } from './look.ts';
import { signedInContext } from './signed-in.ts';

const SERVER = `
  const http = process.getBuiltinModule('node:http');
  http.createServer((request, response) => response.end('here')).listen(Number(process.env.PORT));
`;

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;
let master: TestAccount;

before(async () => {
  // A node that would be lost soon reports often.
  place = await platformPlace({ PLATFORM_MASTER_ACCOUNT: 'landlord', PLATFORM_NODE_LOST_SECONDS: '20' });
  platform = await startPlatform(place);
  master = await registerAccount(platform, 'landlord');
  const tenant = await registerAccount(platform, 'tenant');
  const manifest = { name: 'Arena', workload: { runtime: 'node', entry: 'main.mjs' } };
  const files = { 'frontend/index.html': '<!doctype html><title>t</title>', 'workload/main.mjs': SERVER };
  await publishTestApp(tenant, 'arena', manifest, files);
  await tenant.browser.take('/v1/apps', { body: { appId: 'arena' } });
  const ask = await openBackend(platform, tenant, 'arena');
  for (let count = 0; count < 3; count += 1) assert.equal((await ask('/')).status, 200);
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

/** The page of Fleet in a browser where the master account is signed in. */
async function openFleet(viewport: { width: number; height: number }): Promise<{ page: Page; fleet: FrameLocator }> {
  const context = await signedInContext({ browser, platform, account: master }, viewport);
  const page = await context.newPage();
  await page.goto(`${platform.origin}/#/app/fleet`);
  return { page, fleet: page.frameLocator('iframe[title="Fleet"]') };
}

/** The person comes back to the page until it shows something, instead of waiting until it looks again by itself. */
async function lookedAtAgain(fleet: FrameLocator, something: Locator): Promise<void> {
  for (let tries = 0; tries < 100 && !(await something.isVisible()); tries += 1) {
    await fleet.locator('body').evaluate(() => window.dispatchEvent(new Event('focus')));
    await something.waitFor({ timeout: 250 }).catch(() => undefined);
  }
  await something.waitFor();
}

for (const [device, viewport] of DEVICES) {
  test(`the master account sees machines, capacity, traffic and use on a ${device}`, async (t) => {
    const { page, fleet } = await openFleet(viewport);
    t.after(() => page.context().close());
    const nodes = fleet.getByRole('region', { name: 'Nodes (1)' });
    await nodes.getByText('ready').waitFor();
    await lookedAtAgain(fleet, nodes.getByText('1 of 1'));
    await lookedAtAgain(fleet, fleet.getByText(/^3 requests, /));
    const apps = fleet.getByRole('region', { name: /^Apps with the most/ });
    assert.match(
      await apps.getByRole('row', { name: /Arena/ }).innerText(),
      /Arena\s+(?:Installations\s+)?1\s+(?:Running\s+)?1\s+(?:Failed\s+)?0/,
    );
    const accounts = fleet.getByRole('region', { name: 'Accounts' });
    assert.match(await accounts.innerText(), /Accounts\s+2\s+Used in the last 30 days\s+2/);
    await accounts.getByRole('img', { name: 'New accounts of the last 30 days: 2, today 2' }).waitFor();

    // With the keyboard alone.
    await fleet.getByText('By the hour').focus();
    await page.keyboard.press('Enter');
    const hours = fleet.getByRole('region', { name: 'Traffic by the hour' });
    await hours.waitFor();
    assert.equal(await hours.getByRole('row').count(), 25);
    await page.keyboard.press('Tab');
    assert.ok(await hours.evaluate((table) => table === document.activeElement), 'what scrolls is reached');
    await fleet.getByText('By the hour').focus();
    await page.keyboard.press('Enter');
    const tabs = await fleet.getByRole('navigation', { name: 'Fleet' }).getByRole('button').all();
    const tops = await Promise.all(tabs.map(async (tab) => (await tab.boundingBox())?.y));
    assert.equal(new Set(tops).size, 1, 'the pages stand in one line');
    const headings = ['Fleet', 'Capacity', 'Topology'].map((name) => fleet.getByRole('heading', { name, exact: true }));
    await look(page, device, 'fleet', headings);
  });
}

test('without its grant it says what is missing', async (t) => {
  const { page, fleet } = await openFleet(DESKTOP);
  t.after(() => page.context().close());
  await fleet.getByRole('region', { name: 'Nodes (1)' }).waitFor();
  await master.browser.take('/v1/apps/fleet/permissions', { method: 'PUT', body: { permissions: [] } });
  await lookedAtAgain(fleet, fleet.getByRole('alert').getByText(/system\.inventory\.read/));
});
