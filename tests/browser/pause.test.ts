// Everything of an account is paused and goes on again: asked for by an app, decided by the person, ended by nobody else.
// On a desktop and on a phone, by day and by night; pictures go to SCREENSHOT_DIR, by default screenshots/.
import { strict as assert } from 'node:assert';
import { after, before, beforeEach, test } from 'node:test';
import type { Grant } from '@platform/contract';
import type { Browser, BrowserContext, Frame, Page } from 'playwright-core';
import { type AskBackend, openBackend } from '../support/backend.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { problemCode } from '../support/raw-http.ts';
import { DESKTOP, DEVICES, launchBrowser } from './browser.ts';
import { call, connect, publishHostileApp, showApp } from './hostile-app.ts';
import { look } from './look.ts';
import { signedInContext } from './signed-in.ts';

const SERVER = `
  const http = process.getBuiltinModule('node:http');
  http.createServer((request, response) => response.end('here')).listen(Number(process.env.PORT));
`;

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;
let account: TestAccount;
let askBackend: AskBackend;

before(async () => {
  place = await platformPlace();
  platform = await startPlatform(place);
  account = await registerAccount(platform, 'resting');
  const braking: Grant[] = [
    { id: 'runtime.pause', resources: ['*'] },
    { id: 'apps.lifecycle', resources: ['*'] },
  ];
  await publishHostileApp(account, 'brake', braking);
  await publishHostileApp(account, 'powerless', []);
  await publishBackend('worker');
  await account.browser.take('/v1/apps', { body: { appId: 'brake', permissions: braking } });
  for (const appId of ['powerless', 'worker']) await account.browser.take('/v1/apps', { body: { appId } });
  askBackend = await openBackend(platform, account, 'worker');
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});
beforeEach(() => account.browser.take('/v1/runtime/resume', { body: {} }));

function publishBackend(appId: string): Promise<void> {
  const files = { 'frontend/index.html': '<!doctype html><title>t</title>', 'workload/main.mjs': SERVER };
  return publishTestApp(account, appId, { workload: { runtime: 'node', entry: 'main.mjs' } }, files);
}

const signedIn = (viewport: { width: number; height: number }) =>
  signedInContext({ browser, platform, account }, viewport);

async function openDesk(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  await page.goto(platform.origin);
  await page.getByRole('button', { name: 'Home' }).waitFor();
  return page;
}

const ask = async (frame: Frame) => call(frame, await connect(frame), 'runtime.pause');

const question = (page: Page) => page.getByRole('dialog', { name: 'Pause everything?' });
const pausedHeading = (page: Page) => page.getByRole('heading', { name: 'Everything is paused' });

/** Presses do not count in the first half second, so a press may need to be repeated. */
async function pressUntil(press: () => Promise<void>, done: () => Promise<boolean>): Promise<void> {
  const deadline = AbortSignal.timeout(60_000);
  while (!deadline.aborted) {
    await press().catch(() => undefined);
    if (await done()) return;
  }
  assert.fail('the press had no effect');
}

async function pausesWith(page: Page): Promise<void> {
  await pressUntil(
    () => question(page).getByRole('button', { name: 'Pause everything' }).click({ timeout: 1_000 }),
    () => appears(pausedHeading(page)),
  );
}

function appears(what: ReturnType<Page['getByRole']>): Promise<boolean> {
  return what.waitFor({ timeout: 2_000 }).then(
    () => true,
    () => false,
  );
}

for (const [device, viewport] of DEVICES) {
  test(`an app asks, the person agrees, everything stops, and the person resumes, on a ${device}`, async (t) => {
    const context = await signedIn(viewport);
    t.after(() => context.close());
    const page = await openDesk(context);
    const elsewhere = await signedIn(DESKTOP);
    t.after(() => elsewhere.close());
    const other = await openDesk(elsewhere);
    assert.equal((await askBackend('/')).text, 'here');
    const frame = await showApp(page, 'brake');
    // The port of the app ends with its frame, so this answer never comes.
    void ask(frame).catch(() => undefined);
    await question(page).waitFor();
    const asked = await question(page).innerText();
    assert.match(asked, /brake wants to stop all your apps:[\s\S]*Address of brake here: http:\/\/brake--/);
    await look(page, device, 'pause-prompt');
    await pausesWith(page);

    assert.equal(await page.locator('iframe').count(), 0);
    assert.equal(await page.getByRole('banner').count(), 0, 'nothing of the desk is left to press');
    assert.equal(await page.title(), 'Paused · Platform');
    const refused = await askBackend('/');
    assert.deepEqual([refused.status, problemCode(refused)], [503, 'runtime_paused']);
    await pausedHeading(other).waitFor();
    assert.equal(await other.locator('iframe').count(), 0, 'every browser of the account hears of it');
    await look(page, device, 'paused');

    await page.reload();
    await pausedHeading(page).waitFor();
    assert.equal(await page.locator('iframe').count(), 0);

    // With the keyboard alone: reading begins at the heading, and what is next is the way on.
    await page.waitForFunction(() => document.activeElement?.textContent === 'Everything is paused');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Resume everything');
    await pressUntil(
      () => page.keyboard.press('Enter'),
      () => appears(page.getByRole('button', { name: 'Home' })),
    );
    await page.locator('iframe[title="brake"]').waitFor();
    await other.getByRole('button', { name: 'Home' }).waitFor();
    await other.locator('iframe').first().waitFor();
    assert.equal((await askBackend('/')).text, 'here');
  });
}

test('an app without the grant cannot ask, and a person who says no keeps everything running', async (t) => {
  const context = await signedIn(DESKTOP);
  t.after(() => context.close());
  const page = await openDesk(context);
  assert.equal(await ask(await showApp(page, 'powerless')), 'grant_missing');
  const answer = ask(await showApp(page, 'brake'));
  await question(page).waitFor();
  await page.waitForFunction(() => document.activeElement?.textContent === 'Keep them running');
  await page.keyboard.press('Escape');
  assert.deepEqual(await answer, { paused: false });
  assert.deepEqual(await account.browser.take('/v1/runtime'), { pausedAt: null });
});

test('the person pauses without any app, from the account menu, and the press that pauses does not resume', async (t) => {
  const context = await signedIn(DESKTOP);
  t.after(() => context.close());
  const page = await openDesk(context);
  await page.getByRole('button', { name: 'Account resting' }).click();
  await page.getByRole('button', { name: 'Pause everything' }).click();
  await page.evaluate(() => {
    const observer = new MutationObserver(() => {
      const resume = [...document.querySelectorAll('button')].find(({ textContent }) =>
        textContent.includes('Resume everything'),
      );
      if (resume === undefined) return;
      observer.disconnect();
      resume.click();
      document.body.dataset.pressed = 'yes';
    });
    observer.observe(document.body, { childList: true, subtree: true });
  });
  await question(page).waitFor();
  await pausesWith(page);
  await page.locator('body[data-pressed]').waitFor();
  const { pausedAt } = await account.browser.take<{ pausedAt: string | null }>('/v1/runtime');
  assert.notEqual(pausedAt, null);
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
});
