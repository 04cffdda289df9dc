// The first account on a laptop: told how to become the operator, it does so with one command, and goes on with the guide in
// Fleet. Others see nothing of it. Pictures go to SCREENSHOT_DIR, by default screenshots/.
import { strict as assert } from 'node:assert';
import { after, before, test } from 'node:test';
import type { Browser, Locator } from 'playwright-core';
import { registerAccount } from '../support/client.ts';
import {
  type PlatformPlace,
  type PlatformProcess,
  platformPlace,
  runCommand,
  startPlatform,
} from '../support/platform-process.ts';
import { DESKTOP, DEVICES, launchBrowser, newPerson, type Person } from './browser.ts';
import { look } from './look.ts';
import { signedInContext } from './signed-in.ts';

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;
let person: Person;

before(async () => {
  place = await platformPlace();
  platform = await startPlatform(place);
  browser = await launchBrowser();
  person = await newPerson(browser, DESKTOP);
  await person.context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: platform.origin });
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

const card = (title: string) => person.page.getByRole('region', { name: title, exact: true });

async function lookOnBoth(name: string, parts: readonly Locator[] = []): Promise<void> {
  for (const [device, viewport] of DEVICES) {
    await person.page.setViewportSize(viewport);
    await look(person.page, device, name, parts);
  }
  await person.page.setViewportSize(DESKTOP);
}

test('the first account is told with which command it becomes the operator', async () => {
  const { page } = person;
  await page.goto(platform.origin);
  await page.getByLabel('Account name').fill('ada');
  await page.getByRole('button', { name: 'Create account', exact: true }).click();
  const told = card('Is this your platform?');
  await told.getByText('./platform account operator ada', { exact: true }).waitFor();
  await page.frameLocator('iframe[title="Launcher"]').getByRole('heading', { name: 'Welcome, ada' }).waitFor();
  await told.getByRole('button', { name: 'Copy the command', exact: true }).click();
  await told.getByText('Copied the command.', { exact: true }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), './platform account operator ada');
  await lookOnBoth('guide-first');
});

test('whoever comes second sees nothing of it', async () => {
  const second = await registerAccount(platform, 'ben');
  const context = await signedInContext({ browser, platform, account: second }, DESKTOP);
  const page = await context.newPage();
  const read = page.waitForResponse((answer) => answer.url().endsWith('/v1/operator/guide'));
  await page.goto(platform.origin);
  await (await read).finished();
  await page.frameLocator('iframe[title="Launcher"]').getByRole('heading', { name: 'Welcome, ben' }).waitFor();
  assert.equal(await page.getByRole('region', { name: 'Is this your platform?' }).count(), 0);
  await context.close();
});

test('once the command ran, the open page says so and leads to the guide in Fleet', async () => {
  const [, ...line] = './platform account operator ada'.split(' ');
  assert.match(await runCommand(line, place.environment), /ada, registered .*, is the operator/);
  const told = card('You are the operator');
  await told.waitFor();
  await lookOnBoth('guide-operator');
  await told.getByRole('button', { name: 'Set up the platform', exact: true }).click();
  const fleet = person.page.frameLocator('iframe[title="Fleet"]');
  const steps = fleet.getByRole('list', { name: 'Setup', exact: true }).getByRole('listitem');
  await steps.first().waitFor();
  assert.deepEqual(await steps.getByRole('heading').allInnerTexts(), [
    'AI models',
    'Object storage',
    'Address',
    'People',
    'Machines',
    'Backup',
  ]);
  const stateOf = (title: string) =>
    steps
      .filter({ has: fleet.getByRole('heading', { name: title, exact: true }) })
      .locator('.badge')
      .innerText();
  assert.equal(await stateOf('AI models'), 'not set up');
  assert.equal(await stateOf('Machines'), 'set up');
  assert.equal(await stateOf('Backup'), 'by hand');
  await fleet.getByText(`Only this machine reaches the platform, at ${platform.origin}.`, { exact: true }).waitFor();
  await fleet.getByText(/There are 2 accounts\./).waitFor();
  await lookOnBoth('guide-fleet');
  for (const [device, viewport] of DEVICES) {
    await person.page.setViewportSize(viewport);
    await look(person.page, device, 'guide-fleet-end', [steps.last()]);
  }
  await person.page.setViewportSize(DESKTOP);
  await fleet.getByRole('button', { name: 'Open Invitations', exact: true }).click();
  await fleet.getByText('No invitations wait to be used.', { exact: true }).waitFor();
});

test('where others are sent to the operator, the operator reads what to do', async () => {
  const { page } = person;
  const settings = page.getByRole('main', { name: 'Settings, shown by the platform' });
  await page.goto(`${platform.origin}/#/settings/notifications`);
  await settings.getByText('Set PLATFORM_VAPID_SUBJECT and restart the platform', { exact: false }).waitFor();
  await page.goto(`${platform.origin}/#/settings/passkeys`);
  await settings.getByText('./platform recover', { exact: true }).waitFor();
  await page.goto(`${platform.origin}/#/settings/ai`);
  const link = settings.getByRole('link', { name: 'settings of the platform', exact: true });
  await link.waitFor();
  await lookOnBoth('operator-ai');
  await link.click();
  await settings.getByRole('button', { name: /^Add a provider/ }).waitFor();
});

test('the card stays away once it is hidden, and the guide stays in Fleet', async () => {
  const { page } = person;
  await page.goto(`${platform.origin}/#/`);
  await card('You are the operator').getByRole('button', { name: 'Hide', exact: true }).press('Enter');
  await card('You are the operator').waitFor({ state: 'detached' });
  const read = page.waitForResponse((answer) => answer.url().endsWith('/v1/operator/guide'));
  await page.reload();
  await (await read).finished();
  await page.frameLocator('iframe[title="Launcher"]').getByRole('heading', { name: 'Welcome, ada' }).waitFor();
  assert.equal(await card('You are the operator').count(), 0);
  await page.goto(`${platform.origin}/#/app/fleet`);
  const fleet = page.frameLocator('iframe[title="Fleet"]');
  await fleet.getByRole('button', { name: 'Setup', exact: true }).click();
  await fleet.getByRole('heading', { name: 'Backup', exact: true }).waitFor();
});
