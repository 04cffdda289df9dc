// What apps encrypt for a person opens with their passkeys, in real Chromium: after a sign-in, on a further device, with a further
// passkey, after the older salt, in two tabs at once, and not without PRF; and nothing that opens it reaches the platform. Pictures go to
// SCREENSHOT_DIR, by default screenshots/.
import { strict as assert } from 'node:assert';
import { after, before, type TestContext, test } from 'node:test';
import type { Browser, BrowserContext, Frame, Page } from 'playwright-core';
import { newAuthenticator, registerAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { STORY_MS, until } from '../support/wait.ts';
import { DESKTOP, DEVICES, launchBrowser, newPerson } from './browser.ts';
import { call, connect, publishHostileApp, showApp } from './hostile-app.ts';
import { look } from './look.ts';
import { type SoftPasskeys, softPasskeys, useSoftPasskeys } from './soft-passkeys.ts';

const OLDER = Buffer.alloc(32, 7).toString('base64url');
const SECRET = Buffer.from('Dear diary, nobody else reads this.').toString('base64url');

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;

before(async () => {
  place = await platformPlace({ PLATFORM_PRF_LEGACY_SALT: OLDER });
  platform = await startPlatform(place);
  const author = await registerAccount(platform, 'author');
  for (const appId of ['journal', 'nosy']) await publishHostileApp(author, appId, []);
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

/** What an app has of the bridge. */
interface JournalApp {
  status(): Promise<string>;
  /** The sealed text, or the code of the refusal. */
  seal(plaintext?: string): Promise<string>;
  open(sealed: string): Promise<string>;
}

async function appIn(page: Page, appId = 'journal'): Promise<JournalApp> {
  await page.evaluate(async (id) => {
    const headers = { 'content-type': 'application/json' };
    await fetch('/v1/apps', { method: 'POST', headers, body: JSON.stringify({ appId: id }) });
  }, appId);
  const frame: Frame = await showApp(page, appId);
  const port = await connect(frame);
  const of = async (method: string, params: object, member: string) => {
    const answered = await call(frame, port, method, params);
    return typeof answered === 'string' ? answered : String((answered as Record<string, unknown>)[member]);
  };
  return {
    status: () => of('recipient.status', {}, 'state'),
    seal: (plaintext = SECRET) => of('recipient.seal', { plaintext }, 'sealed'),
    open: (sealed) => of('recipient.open', { sealed }, 'plaintext'),
  };
}

async function registers(page: Page, name: string): Promise<void> {
  await page.goto(platform.origin);
  await page.getByLabel('Account name').fill(name);
  await page.getByRole('button', { name: /^Create account/ }).click();
  await page.getByRole('button', { name: 'Home', exact: true }).waitFor();
}

async function signsOut(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: `Account ${name}` }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You are signed out.').waitFor();
}

async function signsIn(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.getByRole('button', { name: 'Home', exact: true }).waitFor();
}

/** A browser of its own, with the passkeys of the person. */
async function deviceWith(t: TestContext, passkeys: SoftPasskeys): Promise<{ page: Page; context: BrowserContext }> {
  const context = await browser.newContext({ viewport: DESKTOP, reducedMotion: 'reduce' });
  context.setDefaultTimeout(60_000);
  t.after(() => context.close());
  await useSoftPasskeys(context, passkeys);
  return { context, page: await context.newPage() };
}

async function signsInAt(page: Page): Promise<void> {
  await page.goto(platform.origin);
  const already = page.getByRole('button', { name: 'Sign in', exact: true });
  await already.click();
  await signsIn(page);
}

async function passkeysPage(page: Page): Promise<void> {
  await page.evaluate(() => {
    location.hash = '#/settings/passkeys';
  });
  await page.getByRole('heading', { name: 'What apps encrypt for you' }).waitFor();
}

for (const [device, viewport] of DEVICES)
  test(`on a ${device}, an app seals and opens after a sign-in, and with a second passkey`, {
    timeout: STORY_MS,
  }, async (t) => {
    const { page, context, plugInKey, complaints } = await newPerson(browser, viewport);
    t.after(() => context.close());
    const name = `writer-${device}`;
    await registers(page, name);
    const atFirst = await (await appIn(page)).status();
    console.log('at registration', atFirst);
    await passkeysPage(page);
    await look(page, device, `recipient-${atFirst}`);
    await signsOut(page, name);
    await signsIn(page);
    const journal = await appIn(page);
    assert.equal(await journal.status(), 'ready');
    const sealed = await journal.seal();
    assert.match(sealed, /^[\w-]{100,}$/);
    assert.equal(await journal.open(sealed), SECRET);
    assert.equal(await (await appIn(page, 'nosy')).open(sealed), 'invalid_request');
    await page.reload();
    assert.equal(await (await appIn(page)).open(sealed), SECRET);

    await passkeysPage(page);
    await page.getByText('It opens in this browser').waitFor();
    await page.getByRole('button', { name: 'Add a passkey', exact: true }).click();
    await page.getByText('Confirmed. Now create the new passkey').waitFor();
    await plugInKey();
    await page.getByRole('button', { name: 'Create the passkey', exact: true }).click();
    const use = page.getByRole('button', { name: 'Use Passkey 2' });
    const opens = page.getByText('· opens what apps encrypt for you');
    await Promise.race([use.waitFor(), opens.nth(1).waitFor()]);
    await look(page, device, 'recipient-second-passkey');
    if (await use.isVisible()) await use.click();
    await opens.nth(1).waitFor();
    await look(page, device, 'recipient-ready');
    void complaints;
  });

test('on another device it opens after a sign-in with the same passkey, and in no tab before', async (t) => {
  const passkeys = softPasskeys(newAuthenticator(platform), 'at once');
  const first = await deviceWith(t, passkeys);
  await registers(first.page, 'traveller');
  const journal = await appIn(first.page);
  assert.equal(await journal.status(), 'ready');
  const sealed = await journal.seal();
  const second = await deviceWith(t, passkeys);
  await signsInAt(second.page);
  const { ceremonies } = passkeys;
  assert.equal(await (await appIn(second.page)).open(sealed), SECRET);
  assert.equal(passkeys.ceremonies, ceremonies, 'no app makes the shell ask');
});
void until;
