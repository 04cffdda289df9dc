// What a hostile app, and a hostile page elsewhere, try against the page of the shell as a whole: what is dropped on it, its
// history, its end, its window. The shell stays where it is, asks nothing twice and opens nothing that nobody agreed to.
import { strict as assert } from 'node:assert';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import type { Browser, BrowserContext, Frame, Page } from 'playwright-core';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { DESKTOP, launchBrowser } from './browser.ts';
import { publishHostileApp, showApp } from './hostile-app.ts';
import { signedInContext } from './signed-in.ts';

const ELSEWHERE = 'https://elsewhere.invalid/';

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;
let account: TestAccount;
let context: BrowserContext;
let page: Page;
let frame: Frame;

before(async () => {
  place = await platformPlace();
  platform = await startPlatform(place);
  account = await registerAccount(platform, 'visitor');
  await publishHostileApp(account, 'hostile', []);
  await account.browser.take('/v1/apps', { body: { appId: 'hostile' } });
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

beforeEach(async () => {
  context = await signedInContext({ browser, platform, account }, DESKTOP);
  page = await context.newPage();
  await page.goto(platform.origin);
  await page.getByRole('button', { name: 'Home' }).waitFor();
  frame = await showApp(page, 'hostile');
});
afterEach(() => context.close());

const address = () => page.evaluate(() => location.href);

/** What the browser does of itself has been begun by then. */
async function afterFrames(count: number): Promise<void> {
  await page.evaluate(async (frames) => {
    for (let left = frames; left > 0; left -= 1) await new Promise((drawn) => requestAnimationFrame(drawn));
  }, count);
}

const dropped = {
  'an address': { items: [{ mimeType: 'text/uri-list', data: ELSEWHERE }], dragOperationsMask: 1 },
  'a file': { items: [], files: ['/etc/hostname'], dragOperationsMask: 1 },
};

for (const [what, data] of Object.entries(dropped)) {
  test(`${what} that is dropped on the shell is opened nowhere`, async () => {
    const devtools = await context.newCDPSession(page);
    const before = await address();
    const windows: string[] = [];
    context.on('page', (opened) => windows.push(opened.url()));
    for (const where of [page.getByRole('button', { name: 'Home' }), page.getByRole('banner')]) {
      const box = await where.boundingBox();
      assert.ok(box);
      const at = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
      for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
        await devtools.send('Input.dispatchDragEvent', { type, ...at, data });
    }
    await afterFrames(60);
    assert.deepEqual({ address: await address(), windows }, { address: before, windows: [] });
  });
}

test('an app does not move the shell through its history', async () => {
  const before = await address();
  await page.evaluate(() => {
    location.hash = '#/settings/passkeys';
  });
  frame = await showApp(page, 'hostile');
  await frame.evaluate(() => {
    for (const steps of [-1, -2, -5]) history.go(steps);
  });
  await afterFrames(60);
  assert.equal(await address(), before);
});

test('an app keeps nobody from leaving it or the page: neither by a question of the browser nor by work that does not end', async () => {
  await frame.getByLabel('Trap').click();
  await frame.evaluate(() => {
    addEventListener('beforeunload', (event) => {
      event.preventDefault();
      event.returnValue = 'Stay';
    });
    for (const type of ['pagehide', 'unload', 'visibilitychange'])
      addEventListener(type, () => {
        for (;;);
      });
  });
  const dialogs: string[] = [];
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.type());
    void dialog.accept();
  });
  await page.evaluate(() => {
    location.hash = '#/settings/passkeys';
  });
  await page.getByText('Passkey 1').waitFor();
  await page.reload();
  await page.getByText('Passkey 1').waitFor();
  assert.deepEqual(dialogs, []);
});

test('a page that opens the shell or an app in a window has no hold of it, and an app in a tab is the shell', async () => {
  const appAt = new URL(frame.url()).origin;
  const stranger = await context.newPage();
  await stranger.goto(`${appAt}/attack.js`);
  assert.equal(new URL(stranger.url()).origin, platform.origin);
  await stranger.goto('about:blank');
  for (const at of [platform.origin, `${appAt}/index.html`]) {
    const opening = context.waitForEvent('page');
    const held = await stranger.evaluateHandle((target) => window.open(target, '_blank'), at);
    const opened = await opening;
    await opened.getByRole('button', { name: 'Home' }).waitFor();
    assert.equal(new URL(opened.url()).origin, platform.origin);
    const seen = await held.evaluate((other) => ({ closed: other?.closed, frames: other?.length }));
    assert.deepEqual(seen, { closed: true, frames: 0 });
    assert.equal(await opened.evaluate(() => window.opener), null);
    await opened.close();
  }
});
