// Links out of the platform in real Chromium: the shell asks, the person decides, and the new tab knows nothing of who
// opened it. Pictures of the prompt go to SCREENSHOT_DIR.
import { strict as assert } from 'node:assert';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import type { Browser, BrowserContext, Frame, Locator, Page } from 'playwright-core';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { DESKTOP, DEVICES, launchBrowser } from './browser.ts';
import { call, connect, publishHostileApp, showApp } from './hostile-app.ts';
import { look } from './look.ts';
import { signedInContext } from './signed-in.ts';

const OUTSIDE = 'https://outside.example/';

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
  account = await registerAccount(platform, 'reader');
  await publishHostileApp(account, 'hostile', []);
  await publishHostileApp(account, 'bystander', []);
  for (const appId of ['hostile', 'bystander']) await account.browser.take('/v1/apps', { body: { appId } });
  browser = await launchBrowser(['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE *.localhost, EXCLUDE 127.0.0.1']);
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

beforeEach(() => open(DESKTOP));
afterEach(() => context.close());

async function open(viewport: { readonly width: number; readonly height: number }): Promise<void> {
  context = await signedInContext({ browser, platform, account }, viewport);
  await context.route(`${OUTSIDE}**`, (route) => route.fulfill({ contentType: 'text/html', body: '<p>outside' }));
  page = await context.newPage();
  await page.goto(platform.origin);
  await page.getByRole('button', { name: 'Home' }).waitFor();
  frame = await showApp(page, 'hostile');
}

function openButton(): Locator {
  return page.getByRole('dialog').getByRole('button', { name: 'Open', exact: true });
}

/** Presses of the first half second do not count. */
async function pressOpen(): Promise<Page> {
  const opened = context.waitForEvent('page');
  const gone = page.getByRole('dialog').waitFor({ state: 'detached' });
  const pressing = (async () => {
    while (await openButton().isVisible())
      await openButton()
        .click({ timeout: 1_000 })
        .catch(() => {});
  })();
  await Promise.all([gone, pressing]);
  return opened;
}

test('a link opens after the person agreed, in a tab that knows nothing of the platform', async () => {
  const port = await connect(frame);
  const answer = call(frame, port, 'links.open', { url: `${OUTSIDE}page?x=1#part` });
  const dialog = page.getByRole('dialog', { name: 'Open outside.example?' });
  await dialog.waitFor();
  const text = await dialog.innerText();
  assert.ok(text.includes('hostile wants to open a link:'), text);
  assert.ok(text.includes(new URL(frame.url()).origin), 'the prompt names who asks');
  assert.ok((await dialog.getByLabel('Address').innerText()).includes(`${OUTSIDE}page?x=1#part`), text);
  assert.equal(context.pages().length, 1, 'nothing is open before the answer');
  const opened = await pressOpen();
  assert.deepEqual(await answer, { opened: true });
  await opened.waitForURL(`${OUTSIDE}page?x=1#part`);
  const known = await opened.evaluate(() => ({ opener: window.opener, referrer: document.referrer, frames: length }));
  assert.deepEqual(known, { opener: null, referrer: '', frames: 0 });
  assert.match(page.url(), /#\/app\/hostile$/);
});

test('a press in the first half second, and Escape, open nothing', async () => {
  const port = await connect(frame);
  await page.evaluate(() => {
    const observer = new MutationObserver(() => {
      const approve = [...document.querySelectorAll('dialog button')].find(({ textContent }) => textContent === 'Open');
      if (!(approve instanceof HTMLElement)) return;
      observer.disconnect();
      approve.click();
      document.body.dataset.pressed = 'yes';
    });
    observer.observe(document.body, { childList: true, subtree: true });
  });
  const answer = call(frame, port, 'links.open', { url: OUTSIDE });
  await page.locator('body[data-pressed]').waitFor();
  await openButton().waitFor();
  await page.keyboard.press('Escape');
  assert.deepEqual(await answer, { opened: false });
  assert.equal(context.pages().length, 1);
});

test('one question at a time, from the app in front of a page that is shown, and not for ever', async () => {
  let port = await connect(frame);
  const first = call(frame, port, 'links.open', { url: OUTSIDE });
  await openButton().waitFor();
  assert.equal(await call(frame, port, 'links.open', { url: OUTSIDE }), 'not_authorized');
  await page.keyboard.press('Escape');
  assert.deepEqual(await first, { opened: false });

  await page.evaluate(() => Object.defineProperty(document, 'hidden', { get: () => true, configurable: true }));
  assert.equal(await call(frame, port, 'links.open', { url: OUTSIDE }), 'not_authorized');
  await page.evaluate(() => Reflect.deleteProperty(document, 'hidden'));

  // An app that is left has no document to ask from.
  await showApp(page, 'bystander');
  await assert.rejects(call(frame, port, 'links.open', { url: OUTSIDE }));
  frame = await showApp(page, 'hostile');
  port = await connect(frame);

  for (let times = 0; times < 2; times += 1) {
    const answer = call(frame, port, 'links.open', { url: OUTSIDE });
    await openButton().waitFor();
    await page.keyboard.press('Escape');
    assert.deepEqual(await answer, { opened: false });
  }
  assert.equal(await call(frame, port, 'links.open', { url: OUTSIDE }), 'rate_limited');
  assert.equal(await page.getByRole('dialog').count(), 0);
});

test('only https addresses outside the platform are asked about', async () => {
  const port = await connect(frame);
  const { hostname } = new URL(frame.url());
  const refusals = [
    ['http://outside.example/', 'invalid_request'],
    ['javascript:alert(1)', 'invalid_request'],
    ['data:text/html,x', 'invalid_request'],
    ['mailto:ada@outside.example', 'invalid_request'],
    ['https://platform@outside.example/', 'invalid_request'],
    [`https://${hostname}/`, 'not_authorized'],
    [`https://${new URL(platform.origin).hostname}/`, 'not_authorized'],
  ] as const;
  for (const [url, code] of refusals) assert.equal(await call(frame, port, 'links.open', { url }), code, url);
  assert.equal(await page.getByRole('dialog').count(), 0);
});

for (const [device, viewport] of DEVICES) {
  test(`the question shows the whole address, however it is made, on a ${device}`, async () => {
    await context.close();
    await open(viewport);
    const port = await connect(frame);
    const long = `https://www.bank.example.${'account-'.repeat(6)}x.outside.example/?${'data='.repeat(380)}`;
    for (const [name, url] of [
      ['link', `${OUTSIDE}docs/guide?from=app`],
      // Cyrillic letters that look like Latin ones.
      ['link-punycode', 'https://\u0430\u0440\u0440l\u0435.example/login'],
      ['link-long', long],
    ] as const) {
      const answer = call(frame, port, 'links.open', { url });
      const { host, href } = new URL(url);
      // Of a long host the heading has the end, which says whose it is.
      const dialog = page.getByRole('dialog', { name: `${host.slice(-60)}?` });
      await dialog.waitFor();
      assert.equal(await dialog.getByLabel('Address').textContent(), href);
      const tooWide = await dialog.evaluate((element) => {
        const edge = element.getBoundingClientRect().right;
        return [...element.querySelectorAll('*')].filter((part) => part.getBoundingClientRect().right > edge).length;
      });
      assert.equal(tooWide, 0, 'nothing is beyond the edge of the prompt');
      await look(page, device, name);
      const box = await openButton().boundingBox();
      assert.ok(box !== null && box.y + box.height <= viewport.height, 'both answers stay in view');
      await page.keyboard.press('Escape');
      assert.deepEqual(await answer, { opened: false });
    }
  });
}

test('who asks and both answers stay in view in a low window, however long the address', async () => {
  const host = `accounts.bank.example.${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.outside.example`;
  for (const viewport of [
    { width: 844, height: 390 },
    { width: 320, height: 568 },
  ]) {
    await context.close();
    await open(viewport);
    const port = await connect(frame);
    const answer = call(frame, port, 'links.open', { url: `https://${host}/${'x'.repeat(1_500)}` });
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    const asker = dialog.getByText('wants to open a link:');
    for (const part of [dialog.getByText('Platform asks you'), asker, openButton()]) {
      const { centre, covered } = await part.evaluate((element) => {
        const { x, y, width, height } = element.getBoundingClientRect();
        const middle = { x: x + Math.min(width, 40) / 2, y: y + height / 2 };
        const top = document.elementFromPoint(middle.x, middle.y);
        return { centre: middle.y, covered: top === null || !(element.contains(top) || top.contains(element)) };
      });
      assert.ok(centre > 0 && centre < viewport.height && !covered, `${await part.textContent()} is in view`);
    }
    const heading = await dialog.getByRole('heading').textContent();
    assert.match(heading ?? '', /^Open …c+\.outside\.example\?$/, 'whose host it is');
    await page.keyboard.press('Escape');
    assert.deepEqual(await answer, { opened: false });
  }
});
