// The bar with many open apps, and the search from inside every app: with the keyboard, on a desktop and on a phone. Pictures
// go to SCREENSHOT_DIR, by default screenshots/.
import { strict as assert } from 'node:assert';
import { after, before, type TestContext, test } from 'node:test';
import type { Browser, Locator, Page } from 'playwright-core';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { until } from '../support/wait.ts';
import { DESKTOP, DEVICES, launchBrowser, PHONE, tileOf } from './browser.ts';
import { look } from './look.ts';
import { signedInContext } from './signed-in.ts';

const NAMES = ['Garden', 'Recipes', 'Reading List', 'Budget', 'Habits', 'Weather', 'Travel Plans', 'Music', 'Chess'];
const BUILT_IN = ['Store', 'Notifications', 'Schedules', 'Wallet', 'Contacts', 'Personal Agent'];
const IDS: Readonly<Record<string, string>> = { 'Personal Agent': 'agent' };
/** Speaks the bridge as the SDK does, without a press of anybody, and says how it was answered. */
const PUSHY = `
  const nonce = crypto.randomUUID();
  addEventListener('message', ({ data, ports: [port] }) => {
    if (data?.type !== 'platform.welcome') return;
    port.onmessage = ({ data: answer }) => { document.title = answer.error?.code ?? 'opened'; document.body.dataset.answer = document.title; };
    port.postMessage({ id: 1, method: 'search.open' });
  });
  parent.postMessage({ type: 'platform.hello', version: 1, nonce }, document.referrer || '*');
`;

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;
let account: TestAccount;

before(async () => {
  place = await platformPlace();
  platform = await startPlatform(place);
  account = await registerAccount(platform, 'juggler');
  for (const [index, name] of NAMES.entries()) await install(`many-${index}`, name, '');
  await install('pushy', 'Pushy', `<script src="pushy.js"></script>`);
  await publishTestApp(
    account,
    'tuba-tuner',
    { name: 'Tuba Tuner' },
    { 'frontend/index.html': page('Tuba Tuner', '') },
  );
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

const page = (name: string, more: string) =>
  `<!doctype html><html lang="en"><title>${name}</title><main><h1>${name}</h1></main>${more}</html>`;

async function install(appId: string, name: string, more: string): Promise<void> {
  await publishTestApp(
    account,
    appId,
    { name },
    { 'frontend/index.html': page(name, more), 'frontend/pushy.js': PUSHY },
  );
  await account.browser.take('/v1/apps', { body: { appId } });
}

async function openShell(t: TestContext, viewport: { readonly width: number; readonly height: number }): Promise<Page> {
  const context = await signedInContext({ browser, platform, account }, viewport);
  t.after(() => context.close());
  const shell = await context.newPage();
  await shell.goto(platform.origin);
  await tileOf(shell, 'Garden').waitFor();
  return shell;
}

async function openAll(shell: Page): Promise<void> {
  for (const [index, name] of NAMES.entries()) {
    await shell.goto(`${platform.origin}/#/app/many-${index}`);
    await shell.locator(`iframe[title="${name}"]`).waitFor();
  }
}

const fieldOf = (shell: Page) => shell.getByRole('combobox', { name: 'Search your apps' });
const tabs = (shell: Page) => shell.getByRole('navigation', { name: 'Open apps', exact: true });
const allOpen = (shell: Page) => shell.getByRole('navigation', { name: 'All open apps' });

/** Whether all of it is within what its list shows. */
function inSight(element: Locator): Promise<boolean> {
  return element.evaluate((tab) => {
    const { left, right, top, bottom } = tab.getBoundingClientRect();
    const around = (tab.closest('ul') ?? document.body).getBoundingClientRect();
    const panel = (tab.closest('[popover]') ?? document.documentElement).getBoundingClientRect();
    return left >= around.left && right <= around.right && top >= panel.top && bottom <= panel.bottom;
  });
}

test('on a desktop the tab in front is always in sight, and one button lists all open apps', async (t) => {
  const shell = await openShell(t, DESKTOP);
  await openAll(shell);
  const front = tabs(shell).locator('.tab.front');
  await front.getByRole('button', { name: 'Chess', exact: true }).waitFor();
  assert.equal(await inSight(front), true);
  await look(shell, 'desktop', 'many-open-apps');
  const all = shell.getByRole('button', { name: `Open apps, ${NAMES.length}` });
  await all.press('Enter');
  const chosen = allOpen(shell).getByRole('button', { name: 'Chess', exact: true });
  await until('the app in front to have the focus', () =>
    chosen.evaluate((button) => button === document.activeElement),
  );
  await look(shell, 'desktop', 'many-open-apps-listed');
  // Up and down, and to both ends; Enter chooses.
  await shell.keyboard.press('ArrowUp');
  await shell.keyboard.press('Home');
  await shell.keyboard.press('ArrowDown');
  await shell.keyboard.press('Enter');
  await shell.locator('iframe[title="Recipes"]').waitFor();
  await until('its tab to be in sight', () => inSight(tabs(shell).locator('.tab.front')));

  // Delete closes, and the next one has the focus; so has it after its button was pressed.
  const tab = (name: string) => tabs(shell).getByRole('button', { name, exact: true });
  await tab('Reading List').focus();
  await shell.keyboard.press('Delete');
  await tab('Reading List').waitFor({ state: 'detached' });
  assert.equal(await tab('Budget').evaluate((button) => button === document.activeElement), true);
  await tab('Close Budget').press('Enter');
  await tab('Budget').waitFor({ state: 'detached' });
  assert.equal(await tab('Habits').evaluate((button) => button === document.activeElement), true);
  await shell.setViewportSize({ width: 900, height: 800 });
  await until('the tab in front to be in sight', () => inSight(tabs(shell).locator('.tab.front')));
});

test('on a phone the dock shows the app in front, and its list begins there', async (t) => {
  const shell = await openShell(t, PHONE);
  await openAll(shell);
  const all = shell.getByRole('button', { name: `Open apps, ${NAMES.length}` });
  const picture = shell.locator('.front-picture');
  await picture.waitFor();
  assert.equal(await picture.innerText(), 'C');
  await all.click();
  await until('the app in front to be in sight', () => inSight(allOpen(shell).locator('.tab.front')));
  await look(shell, 'phone', 'many-open-apps');
});

for (const [device, viewport] of DEVICES) {
  test(`Ctrl-K opens the search from inside every app of the platform, and Escape leads back, on a ${device}`, async (t) => {
    const shell = await openShell(t, viewport);
    for (const name of ['Launcher', ...BUILT_IN]) {
      const appId = IDS[name] ?? name.toLowerCase();
      await shell.goto(`${platform.origin}/#/${name === 'Launcher' ? '' : `app/${appId}`}`);
      const frame = shell.frameLocator(`iframe[title="${name}"]`);
      const heading = frame.getByRole('heading', { level: 1 });
      await heading.waitFor();
      await until(`${name} to be connected and take presses`, async () => {
        await heading.click({ timeout: 2_000 }).catch(() => undefined);
        return frame.locator(':root').evaluate(() => document.hasFocus());
      });
      await shell.keyboard.press('Control+k');
      await until(`the search over ${name}`, () =>
        fieldOf(shell).evaluate((field) => field === document.activeElement),
      );
      await shell.keyboard.press('Escape');
      await until(`the focus in ${name} again`, () => frame.locator(':root').evaluate(() => document.hasFocus()));
    }
  });

  test(`the search finds apps of the Store that are not installed, and leads to their page, on a ${device}`, async (t) => {
    const shell = await openShell(t, viewport);
    await shell.getByRole('button', { name: 'Home', exact: true }).focus();
    await shell.keyboard.press('Control+k');
    await shell.keyboard.type('tub');
    const offer = shell.getByRole('group', { name: 'In the Store, not installed' }).getByRole('option');
    await offer.waitFor();
    assert.equal(await offer.innerText().then((text) => text.replaceAll('\n', ' ')), 'T Tuba Tuner Not installed');
    await look(shell, device, 'search-store');
    await shell.keyboard.press('Enter');
    const store = shell.frameLocator('iframe[title="Store"]');
    await store.getByRole('heading', { name: 'Tuba Tuner', level: 1 }).waitFor();
  });
}

test('an app opens the search only for a press in it', async (t) => {
  const shell = await openShell(t, DESKTOP);
  // A document of its own, in which nobody has pressed anything.
  const context = shell.context();
  const fresh = await context.newPage();
  await fresh.goto(`${platform.origin}/#/app/pushy`);
  const body = fresh.frameLocator('iframe[title="Pushy"]').locator('body');
  await fresh.frameLocator('iframe[title="Pushy"]').locator('body[data-answer]').waitFor();
  assert.equal(await body.getAttribute('data-answer'), 'not_authorized');
  assert.equal(await fieldOf(fresh).evaluate((field) => field === document.activeElement), false);
});
