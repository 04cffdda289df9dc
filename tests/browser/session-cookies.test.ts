// An app that plants cookies against its owner's session, in real Chromium: of its author's session beside the owner's and
// in its place, and so many and large ones that nobody could read a request. The owner stays signed in or is told, and
// never acts in the account of the author. Pictures of what they are told go to SCREENSHOT_DIR.
import { strict as assert } from 'node:assert';
import { after, before, type TestContext, test } from 'node:test';
import type { Browser, BrowserContext, Frame, Page } from 'playwright-core';
import { registerAccount, signIn, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { until } from '../support/wait.ts';
import { DESKTOP, DEVICES, launchBrowser, newPerson } from './browser.ts';
import { publishHostileApp, showApp } from './hostile-app.ts';
import { look } from './look.ts';
import { openInOwnTab } from './own-tab.ts';

const APP = 'cookie-thief';
const PARENT = 'platform.localhost';

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;
/** Who made the app. */
let author: TestAccount;
let owners = 0;

before(async () => {
  place = await platformPlace();
  platform = await startPlatform(place);
  author = await registerAccount(platform, 'the-author');
  await publishHostileApp(author, APP, []);
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

interface Scene {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly owner: string;
  /** The frame of the app. */
  readonly app: Frame;
  /** The cookie of a session of the author's. */
  readonly planted: string;
}

/** An owner who signed in with a passkey of their own, installed the app and looks at it. */
async function openScene(t: TestContext): Promise<Scene> {
  const { context, page } = await newPerson(browser, DESKTOP);
  t.after(() => context.close());
  owners += 1;
  const owner = `the-owner-${owners}`;
  await page.goto(platform.origin);
  await page.getByLabel('Account name').fill(owner);
  await page.getByRole('button', { name: 'Create account' }).click();
  await signedInAs(page, owner);
  const installed = await page.evaluate(async (appId) => {
    const headers = { 'content-type': 'application/json' };
    return (await fetch('/v1/apps', { method: 'POST', headers, body: JSON.stringify({ appId }) })).status;
  }, APP);
  assert.equal(installed, 201);
  const { cookie } = await signIn(platform, author.authenticator);
  const app = await showApp(page, APP);
  return { context, page, owner, app, planted: cookie };
}

const signedInAs = (page: Page, owner: string) => page.getByRole('button', { name: `Account ${owner}` }).waitFor();

/** The app sets a cookie for the parent domain, as its script can. */
function plant(app: Page | Frame, cookie: string): Promise<void> {
  return app.evaluate(
    ([text, domain]) => {
      // biome-ignore lint/suspicious/noDocumentCookie: what is tried here
      document.cookie = `${text}; Domain=${domain}`;
    },
    [cookie, PARENT] as const,
  );
}

/**
 * 400 cookies of this size, of which the browser keeps so many that it throws the owner's away. With `andReload` the page
 * of the app asks for itself afterwards.
 */
async function flood(app: Page | Frame, bytes: number, andReload = false): Promise<void> {
  await app.evaluate(
    ([length, domain, reload]) => {
      for (let count = 1; count <= 400; count += 1) {
        // biome-ignore lint/suspicious/noDocumentCookie: what is tried here
        document.cookie = `flood-${count}=${'x'.repeat(length)}; Domain=${domain}; Path=/`;
      }
      // Reading waits until the browser, which the script is ahead of, has done all that.
      if (document.cookie.length > 0 && reload) location.reload();
    },
    [bytes, PARENT, andReload] as const,
  );
}

/** The app in a window of its own. */
async function alone({ context, app }: Scene): Promise<Page> {
  const window = await context.newPage();
  await openInOwnTab(window, `${new URL(app.url()).origin}/index.html`);
  return window;
}

/** Evicts the owner's cookie and plants others in its place while no window of the shell is open. */
async function takesThePlace(scene: Scene, cookies: readonly string[]): Promise<void> {
  const app = await alone(scene);
  await scene.page.goto('about:blank');
  await flood(app, 10);
  for (const cookie of cookies) await plant(app, cookie);
  await app.close();
  assert.deepEqual(await ownCookies(scene.context), [], 'the owner’s was evicted');
}

async function sessionCookies(context: BrowserContext) {
  return (await context.cookies(platform.origin)).filter(({ name }) => name === 'platform_session');
}

/** Only the owner's is out of reach of scripts. */
async function ownCookies(context: BrowserContext) {
  return (await sessionCookies(context)).filter(({ httpOnly }) => httpOnly);
}

async function signsInAgain(page: Page, owner: string): Promise<void> {
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await signedInAs(page, owner);
}

/** Opens a page of the shell that asks core, unless the shell has left it already. */
async function asksCore(page: Page): Promise<void> {
  await page
    .evaluate(() => {
      location.hash = '#/settings/sessions';
    })
    .catch(() => undefined);
}

async function isPaused(account: TestAccount): Promise<boolean> {
  return (await account.browser.take<{ pausedAt: string | null }>('/v1/runtime')).pausedAt !== null;
}

async function pausesEverything(page: Page, owner: string): Promise<void> {
  await page.getByRole('button', { name: `Account ${owner}` }).click();
  await page.getByRole('button', { name: 'Pause everything' }).click();
  const decide = page.getByRole('dialog').getByRole('button', { name: /^Pause/ });
  const paused = page.getByRole('heading', { name: 'Everything is paused' });
  // No press counts in the first half second of a prompt.
  const press = async () => {
    await decide.click({ timeout: 1_000 }).catch(() => undefined);
    return paused.isVisible();
  };
  await until('a press that counts', press, 60_000);
}

/** What the person is told where the sign-in page is, in pictures of a phone and a desktop. */
async function told(page: Page, text: string | RegExp, picture: string): Promise<void> {
  await page.getByText(text).waitFor();
  assert.equal(await page.locator('iframe').count(), 0, 'no app is left on the page');
  for (const [device, size] of DEVICES) {
    await page.setViewportSize(size);
    await look(page, device, picture);
  }
  await page.setViewportSize(DESKTOP);
}

test('the cookie of another session beside the owner’s changes nothing, on whichever path', async (t) => {
  const { context, page, owner, app, planted } = await openScene(t);
  for (const where of ['/', '/v1', '/v1/auth', '/v1/runtime']) await plant(app, `${planted}; Path=${where}`);
  assert.equal((await sessionCookies(context)).length, 2, 'the browser took the planted cookie for the shell’s host');
  await page.reload();
  await signedInAs(page, owner);
  await pausesEverything(page, owner);
  assert.equal(await isPaused(author), false);
});

test('a session cookie in the place of the evicted one is never used: the owner is told, and signs in again', async (t) => {
  const scene = await openScene(t);
  const { context, page, owner, planted } = scene;
  await takesThePlace(scene, [`${planted}; Path=/`]);
  await page.goto(platform.origin);
  await told(page, 'Another page replaced your sign-in. Sign in again.', 'session-replaced');

  // Neither a window that was there nor a new one takes the session that the browser holds.
  const second = await context.newPage();
  await second.goto(platform.origin);
  await second.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
  await page.reload();
  await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();

  await signsInAgain(page, owner);
  await signedInAs(second, owner);
  await second.close();
  await page.reload();
  await signedInAs(page, owner);
  await pausesEverything(page, owner);
  assert.equal(await isPaused(author), false);
});

test('of several planted cookies none is left once the owner has signed in again', async (t) => {
  const scene = await openScene(t);
  const { context, page, owner, planted } = scene;
  await takesThePlace(
    scene,
    ['/', '/v1', '/v1/auth'].map((where) => `${planted}; Path=${where}`),
  );
  await page.goto(platform.origin);
  await page.getByText('Another page replaced your sign-in. Sign in again.').waitFor();
  await signsInAgain(page, owner);
  const left = await context.cookies([platform.origin, `${platform.origin}/v1/auth/session`]);
  assert.deepEqual(
    left.map(({ name, httpOnly, domain }) => [name, httpOnly, domain]).toSorted(),
    // And that somebody signed in here before, which opens nothing.
    ['platform_session', 'platform_session-browser'].map((name) => [name, true, new URL(platform.origin).hostname]),
  );
});

test('an owner whose cookie was evicted reads that the session is over', async (t) => {
  const scene = await openScene(t);
  const { page, owner } = scene;
  await takesThePlace(scene, []);
  await page.goto(platform.origin);
  await page.getByText('Your session has ended. Sign in again.').waitFor();
  await signsInAgain(page, owner);
});

test('cookies that make every request too large end with one page that says so; a reload leads on', async (t) => {
  const scene = await openScene(t);
  const { context, page, owner } = scene;
  const app = await alone(scene);
  await page.goto('about:blank');
  await flood(app, 4_000);
  await app.close();
  const answer = await page.goto(platform.origin);
  // It came by way of the service worker, which shows no `Clear-Site-Data`: that the browser obeyed it is seen below.
  assert.equal(answer?.status(), 431);
  await told(page, 'Your browser sent too many cookies', 'too-many-cookies');
  assert.deepEqual(await context.cookies(platform.origin), [], 'the browser deleted them');
  await page.getByRole('link', { name: 'Reload this page' }).click();
  await page.getByText('Your session has ended. Sign in again.').waitFor();
  await signsInAgain(page, owner);
});

test('a shell that is open while its session is replaced tells it with its next request', async (t) => {
  const scene = await openScene(t);
  const { page, owner, planted } = scene;
  const app = await alone(scene);
  await flood(app, 10);
  await plant(app, `${planted}; Path=/`);
  await app.close();
  await asksCore(page);
  // A request that happened to go out between the two met no cookie at all.
  await page.getByText(/Another page replaced your sign-in|Your session has ended/).waitFor();
  assert.equal(await page.locator('iframe').count(), 0, 'no app is left on the page');
  await signsInAgain(page, owner);
});

test('a shell that is open while the cookies grow too large tells it by itself', async (t) => {
  const scene = await openScene(t);
  const { context, page, owner } = scene;
  const app = await alone(scene);
  await flood(app, 4_000);
  await app.close();
  await asksCore(page);
  // Another window of the browser may have had the first refusal, which deletes the cookies: then the session is over.
  const notice = page.getByText(/filled this browser with cookies|Your session has ended/);
  // The page that it leads to is too large to ask for as well, if its request went out before the last cookies came.
  const link = page.getByRole('link', { name: 'Reload this page' });
  const shown = async () => `the page: ${await page.locator('body').innerText()}`;
  await notice
    .or(link)
    .waitFor()
    .catch(async (error) => assert.fail(`${error}\n${await shown()}`));
  if (await link.isVisible()) await link.click();
  await told(page, /filled this browser with cookies|Your session has ended/, 'cookies-deleted');
  assert.deepEqual(await context.cookies(platform.origin), [], 'the browser deleted them');
  await signsInAgain(page, owner);
});

test('the host of an app tells it too, and the browser deletes the cookies there', async (t) => {
  const scene = await openScene(t);
  const app = await alone(scene);
  await scene.page.goto('about:blank');
  await flood(app, 4_000, true);
  await app.getByText('Your browser sent too many cookies').waitFor();
  await until('the deletion', async () => (await scene.context.cookies(platform.origin)).length === 0);
});

test('windows of one browser follow each other: out and in', async (t) => {
  const { context, page, owner } = await openScene(t);
  const second = await context.newPage();
  await second.goto(platform.origin);
  await signedInAs(second, owner);
  await page.getByRole('button', { name: `Account ${owner}` }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You are signed out.').waitFor();
  await second.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
  assert.equal(await second.locator('iframe').count(), 0);
  await signsInAgain(page, owner);
  await signedInAs(second, owner);
});
