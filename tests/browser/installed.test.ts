// The shell as an installed app: Chromium finds nothing that keeps it from being installed, and while the platform cannot be reached a
// page says so and goes on by itself. Pictures go to SCREENSHOT_DIR.
import { strict as assert } from 'node:assert';
import { after, before, test } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { registerAccount, signIn, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { until } from '../support/wait.ts';
import { BOTH_DEVICES, launchBrowser } from './browser.ts';
import { look } from './look.ts';
import { signedInContext } from './signed-in.ts';

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;
let account: TestAccount;

before(async () => {
  place = await platformPlace();
  platform = await startPlatform(place);
  account = await registerAccount(platform, 'installer');
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

async function desk(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${platform.origin}/#/settings/account`);
  await page.getByRole('heading', { name: 'Download your data' }).waitFor();
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  return page;
}

test('Chromium would install it, with icons of every size that it wants', async (t) => {
  const session = await signIn(platform, account.authenticator);
  const context = await signedInContext({ browser, platform, account: session }, { width: 1280, height: 800 });
  t.after(() => context.close());
  const page = await desk(context);
  const cdp = await context.newCDPSession(page);
  const { errors, data, url } = await cdp.send('Page.getAppManifest');
  assert.deepEqual(errors, []);
  assert.equal(url, `${platform.origin}/platform.webmanifest`);
  const { installabilityErrors } = await cdp.send('Page.getInstallabilityErrors');
  // A context of a test is a private window.
  assert.deepEqual(
    installabilityErrors.filter(({ errorId }) => errorId !== 'in-incognito'),
    [],
  );
  interface Manifest {
    readonly id: string;
    readonly icons: readonly { src: string; sizes: string; type: string; purpose: string }[];
  }
  const { id, icons } = JSON.parse(data ?? '') as Manifest;
  assert.equal(id, '/');
  for (const wanted of ['192x192 any', '512x512 any', '512x512 maskable'])
    assert.ok(
      icons.some(({ sizes, purpose }) => `${sizes} ${purpose}` === wanted),
      wanted,
    );
  for (const { src, sizes, type } of icons.filter((icon) => icon.type === 'image/png')) {
    const answer = await account.fetch(src);
    assert.deepEqual([answer.status, answer.headers['content-type']], [200, type], src);
    const size = await page.evaluate(
      (address) =>
        new Promise<string>((resolve, reject) => {
          const image = new Image();
          image.onload = () => resolve(`${image.naturalWidth}x${image.naturalHeight}`);
          image.onerror = () => reject(new Error(address));
          image.src = address;
        }),
      src,
    );
    assert.equal(size, sizes, src);
  }
  const colours = await page
    .locator('meta[name="theme-color"]')
    .evaluateAll((all) => all.map((meta) => meta.getAttribute('media')));
  assert.deepEqual(colours, ['(prefers-color-scheme: light)', '(prefers-color-scheme: dark)']);
});

const OFFLINE = 'Platform can’t be reached';

for (const [device, viewport] of BOTH_DEVICES)
  test(`on a ${device} a page says that it is offline, and goes on by itself to where it was`, async (t) => {
    const session = await signIn(platform, account.authenticator);
    const context = await signedInContext({ browser, platform, account: session }, viewport);
    t.after(() => context.close());
    const page = await desk(context);
    await context.setOffline(true);
    await page.reload();
    await page.getByRole('heading', { name: OFFLINE }).waitFor();
    await page.getByRole('status').getByText('This device is offline.').waitFor();
    assert.equal(await page.title(), OFFLINE);
    await look(page, device, 'offline');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Try again');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: OFFLINE }).waitFor();
    await context.setOffline(false);
    await page.getByRole('heading', { name: 'Download your data' }).waitFor();
    assert.equal(page.url(), `${platform.origin}/#/settings/account`);
  });

test('the worker stores nothing, answers no other request, and is gone with the session', async (t) => {
  const session = await signIn(platform, account.authenticator);
  const context = await signedInContext({ browser, platform, account: session }, { width: 1280, height: 800 });
  t.after(() => context.close());
  const page = await desk(context);
  await page.reload();
  await page.getByRole('heading', { name: 'Download your data' }).waitFor();
  assert.equal(await page.evaluate(() => navigator.serviceWorker.controller !== null), true);
  assert.deepEqual(await page.evaluate(() => caches.keys()), []);
  const policy = await page.evaluate(async () => (await fetch('/')).headers.get('content-security-policy'));
  assert.match(String(policy), /default-src 'none'; script-src 'self'/, 'online, the page is the platform’s');
  await context.setOffline(true);
  const failed = await page.evaluate(() =>
    Promise.all(
      ['/', '/v1/health', '/v1/auth/session', '/mark.svg?fresh'].map((path) =>
        fetch(path, { cache: 'no-store' }).then(
          ({ status }) => status,
          () => 'failed',
        ),
      ),
    ),
  );
  assert.deepEqual(failed, ['failed', 'failed', 'failed', 'failed']);
  const elsewhere = await context.newPage();
  await assert.rejects(elsewhere.goto(`${platform.origin}/v1/health`), /ERR_INTERNET_DISCONNECTED/);
  await context.setOffline(false);
  await page.getByRole('button', { name: 'Account installer' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: /^Sign in/ }).waitFor();
  const registrations = () => page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length);
  await until('the end of the worker', async () => (await registrations()) === 0);
});

test('the page’s own policy lets its one script and style be, and nothing else', async (t) => {
  const session = await signIn(platform, account.authenticator);
  const context = await signedInContext({ browser, platform, account: session }, { width: 1280, height: 800 });
  t.after(() => context.close());
  const page = await desk(context);
  const violations: string[] = [];
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) violations.push(message.text());
  });
  await context.setOffline(true);
  const answer = await page.reload();
  await page.getByRole('heading', { name: OFFLINE }).waitFor();
  assert.equal(answer?.status(), 503);
  assert.equal(answer?.fromServiceWorker(), true);
  assert.deepEqual(violations, []);
  const injected = await page.evaluate(() => {
    const script = document.createElement('script');
    try {
      script.textContent = 'globalThis.injected = true';
    } catch (error) {
      return String(error);
    }
    document.head.append(script);
    return 'injected' in globalThis;
  });
  assert.notEqual(injected, true);
});
