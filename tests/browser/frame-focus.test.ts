// A hostile app takes the focus by every means a page has, while the person types elsewhere: into another app, into a page
// of the shell, into the search of the shell above that very app. It hears none of it.
import { strict as assert } from 'node:assert';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import type { Browser, BrowserContext, Frame, Page } from 'playwright-core';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { until } from '../support/wait.ts';
import { DESKTOP, launchBrowser, PHONE } from './browser.ts';
import { type Attack, connect, publishHostileApp, showApp } from './hostile-app.ts';
import { look } from './look.ts';
import { signedInContext } from './signed-in.ts';

/** In the frames of the apps below. */
declare const attack: Attack;

const SECRET = 'correct horse battery staple';

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;
let account: TestAccount;
let context: BrowserContext;
let page: Page;
/** What apps heard, as `app event key`. */
let heard: string[];

before(async () => {
  place = await platformPlace();
  platform = await startPlatform(place);
  account = await registerAccount(platform, 'typist');
  for (const appId of ['hostile', 'bystander']) {
    await publishHostileApp(account, appId, []);
    await account.browser.take('/v1/apps', { body: { appId } });
  }
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

beforeEach(async () => {
  heard = [];
  await openDesk(DESKTOP);
});
afterEach(() => context.close());

async function openDesk(viewport: { width: number; height: number }): Promise<void> {
  context = await signedInContext({ browser, platform, account }, viewport);
  await context.exposeBinding('hear', (_source, ...what: string[]) => {
    heard.push(what.join(' '));
  });
  page = await context.newPage();
  await page.goto(platform.origin);
  await page.getByRole('button', { name: 'Home' }).waitFor();
}

const search = () => page.getByRole('combobox', { name: 'Search your apps' });
const ofHostile = () => heard.filter((line) => line.startsWith('hostile '));
const withheld = () => page.getByRole('heading', { name: 'hostile is closed while you type' });

/** The hostile app in front, at its work. */
async function hostileApp(): Promise<Frame> {
  const frame = await showApp(page, 'hostile');
  await frame.evaluate(() => attack.takeEverything());
  return frame;
}

test('it can hear: what is typed into the app itself reaches it', async () => {
  const frame = await showApp(page, 'hostile');
  await frame.getByLabel('Trap').click();
  await page.keyboard.type('abc');
  await until('the keys', () => ofHostile().includes('hostile keydown c'));
});

test('an app that was left has no document any more, and hears nothing of what is typed into the next', async () => {
  await hostileApp();
  const bystander = await showApp(page, 'bystander');
  assert.equal(await page.locator('iframe').count(), 1);
  await until('the end of its documents', () => page.frames().length === 2);
  const trap = bystander.getByLabel('Trap');
  await trap.click();
  await page.keyboard.type(SECRET, { delay: 10 });
  assert.equal(await trap.inputValue(), SECRET);
  await look(page, 'desktop', 'frames-second-app');
  assert.deepEqual(ofHostile(), []);
});

test('it hears nothing of what is typed into the settings of the shell', async () => {
  await hostileApp();
  await page.evaluate(() => {
    location.hash = '#/settings/passkeys';
  });
  assert.equal(await page.locator('iframe').count(), 0);
  await page.getByRole('button', { name: /^Rename/ }).click();
  const field = page.getByLabel('Name of the passkey');
  await field.fill('');
  await page.keyboard.type(SECRET, { delay: 10 });
  assert.equal(await field.inputValue(), SECRET);
  await look(page, 'desktop', 'frames-settings');
  assert.deepEqual(ofHostile(), []);
});

test('it hears nothing of what is typed into the search above it, and is back when that is done', async () => {
  await hostileApp();
  await search().click();
  await page.keyboard.type(SECRET, { delay: 10 });
  await withheld().waitFor();
  assert.deepEqual(ofHostile(), []);
  assert.equal(await page.locator('iframe').count(), 0);
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('role')), 'combobox');
  assert.equal(await search().inputValue(), SECRET);
  await look(page, 'desktop', 'frames-withheld');
  await page.keyboard.press('Escape');
  const back = await (await page.locator('iframe[title="hostile"]').elementHandle())?.contentFrame();
  await back?.waitForFunction(() => 'attack' in globalThis);
  assert.deepEqual(ofHostile(), []);
});

test('the same on a phone', async () => {
  await context.close();
  await openDesk(PHONE);
  await hostileApp();
  await page.getByRole('button', { name: 'Search' }).click();
  await page.keyboard.type(SECRET, { delay: 10 });
  await until('the typed text', async () => (await search().inputValue()) === SECRET);
  assert.equal(await page.locator('iframe').count(), 0);
  assert.deepEqual(ofHostile(), []);
  await look(page, 'phone', 'frames-withheld');
});

test('not even when the person has just pressed something in it, nor when it tries again', async () => {
  for (let round = 0; round < 3; round += 1) {
    const frame = await showApp(page, 'hostile');
    await frame.getByRole('heading').click();
    if (round < 2) await frame.evaluate(() => attack.takeEverything());
    await search().click();
    // What took the focus once has no document from the first moment on, even before it tries.
    await withheld().waitFor();
    await page.keyboard.type(SECRET);
    assert.equal(await search().inputValue(), SECRET);
    assert.deepEqual(ofHostile(), [], `round ${round}`);
    await page.keyboard.press('Escape');
    await page.locator('iframe[title="hostile"]').waitFor();
    await showApp(page, 'bystander');
  }
});

test('nor of what is typed to find the contact that it asks for, once it took the focus from the question', async () => {
  await registerAccount(platform, 'friend');
  await account.browser.take('/v1/account/contacts', { body: { address: 'friend' } });
  const frame = await showApp(page, 'hostile');
  const port = await connect(frame);
  await frame.evaluate((number) => void attack.call(number, 'contacts.pick'), port);
  const field = page.getByRole('dialog').getByLabel('Search');
  await field.waitFor();
  await frame.evaluate(() => attack.stealOnce());
  await frame.waitForFunction(() => attack.thefts > 0 && !document.hasFocus());
  await page.waitForFunction(() => document.activeElement?.textContent === 'Choose nobody');
  // It took the focus once, and has no document from the first moment on, even before it tries again.
  await field.focus();
  assert.equal(await page.locator('iframe').count(), 0);
  await page.keyboard.type(SECRET);
  assert.equal(await field.inputValue(), SECRET);
  assert.deepEqual(ofHostile(), []);
  await page.keyboard.press('Escape');
  await page.locator('iframe[title="hostile"]').waitFor();
});

test('an app that leaves the focus alone stays as it is while the person searches', async () => {
  const frame = await showApp(page, 'hostile');
  await frame.evaluate(() => {
    document.body.dataset.mark = 'same';
  });
  await search().click();
  await page.keyboard.type('nothing', { delay: 10 });
  await page.keyboard.press('Escape');
  assert.equal(await frame.evaluate(() => document.body.dataset.mark), 'same');
  // A press on the app ends the search, and only the next one is for the app. Chromium sends presses to the frame until it
  // has drawn what lies over it, which takes no person by surprise.
  await search().click();
  await page.locator('.frame-shield').waitFor();
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  await page.mouse.click(640, 600);
  await page.waitForFunction(() => document.activeElement === document.body);
  await frame.getByLabel('Trap').click();
  await page.keyboard.type('x');
  await until('the key', () => ofHostile().includes('hostile keydown x'));
});

test('the focus of an app that is in front stays its own while the shell is only looked at', async () => {
  const frame = await showApp(page, 'hostile');
  await connect(frame);
  await frame.getByLabel('Trap').click();
  await page.keyboard.type('abc');
  assert.equal(await frame.getByLabel('Trap').inputValue(), 'abc');
});
