// Signing in at the trusted page, in real Chromium with a virtual authenticator: what leaves the browser, what people
// are told when it does not work, and how the page follows its session and its connection.
import { strict as assert } from 'node:assert';
import { execFile } from 'node:child_process';
import { after, before, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { DESKTOP, launchBrowser, newPerson, PHONE, pressAway, tileOf } from './browser.ts';
import { look } from './look.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;

before(async () => {
  place = await platformPlace();
  platform = await startPlatform(place);
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

async function visitor(t: TestContext): Promise<Page> {
  const { context, page } = await newPerson(browser, DESKTOP);
  t.after(() => context.close());
  return page;
}

async function registers(page: Page, name: string): Promise<void> {
  await page.goto(platform.origin);
  await page.getByLabel('Account name').fill(name);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('button', { name: `Account ${name}` }).waitFor();
}

async function signsOut(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: `Account ${name}` }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You are signed out.').waitFor();
}

test('a PRF result that the authenticator gives stays in the browser', async (t) => {
  const page = await visitor(t);
  await page.addInitScript(() => {
    const get = navigator.credentials.get.bind(navigator.credentials);
    navigator.credentials.get = async (options) => {
      const credential = await get(options);
      if (!(credential instanceof PublicKeyCredential)) return credential;
      const result = credential.getClientExtensionResults().prf?.results?.first;
      if (result !== undefined) {
        const bytes = ArrayBuffer.isView(result) ? result.buffer : result;
        const text = btoa(String.fromCharCode(...new Uint8Array(bytes)));
        document.documentElement.dataset.prf = text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
      }
      return credential;
    };
  });
  const bodies: string[] = [];
  page.on('request', (request) => bodies.push(`${request.url()} ${request.postData() ?? ''}`));
  await registers(page, 'prf-owner');
  await signsOut(page, 'prf-owner');
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.getByRole('button', { name: 'Account prf-owner' }).waitFor();
  const secret = await page.evaluate(() => document.documentElement.dataset.prf ?? '');
  assert.equal(secret.length, 43, 'the authenticator gave 32 bytes');
  assert.ok(bodies.some((body) => body.includes('/v1/auth/login/verify')));
  assert.deepEqual(
    bodies.filter((body) => body.includes(secret) || body.includes('"results"')),
    [],
  );
  const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  assert.ok(!kept.includes(secret), 'nothing of it is stored');
});

/** A browser session of its own for the authenticator of the page, which a test may make refuse. */
async function refusingAuthenticator(page: Page): Promise<CDPSession> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true },
  });
  await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
  return cdp;
}

test('somebody who cannot be verified is told so calmly, and may try again', async (t) => {
  const context = await browser.newContext({ viewport: DESKTOP });
  t.after(() => context.close());
  const page = await context.newPage();
  await refusingAuthenticator(page);
  await page.goto(platform.origin);
  await page.getByLabel('Account name').fill('never-made');
  const create = page.getByRole('button', { name: 'Create account' });
  await create.click();
  await page.getByText('No passkey was created: the request was cancelled or timed out.').waitFor();
  assert.equal(await create.getAttribute('aria-busy'), 'false');
});

test('a name that is taken or reserved is told at its field, which gets the focus back', async (t) => {
  await registers(await visitor(t), 'first-come');
  const page = await visitor(t);
  await page.goto(platform.origin);
  for (const [name, told] of [
    ['first-come', '“first-come” is taken. Choose another name.'],
    ['admin', '“admin” is reserved. Choose another name.'],
    ['a--b', 'No leading, trailing or double hyphens.'],
  ] as const) {
    await page.getByLabel('Account name').fill(name);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByText(told).waitFor();
    const focused = page.locator(':focus');
    assert.equal(await focused.getAttribute('aria-invalid'), 'true');
    assert.equal(await focused.inputValue(), name);
  }
});

test('a browser without passkeys is told what to use instead of a button that cannot work', async (t) => {
  const page = await visitor(t);
  await page.addInitScript(() => Reflect.deleteProperty(window, 'PublicKeyCredential'));
  await page.goto(platform.origin);
  await page.getByRole('alert').getByText('This browser cannot use passkeys here.').waitFor();
  assert.equal(await page.getByRole('button').count(), 0);
});

test('the link of the operator adds a passkey of another device, once, and leaves no trace in the address', async (t) => {
  await registers(await visitor(t), 'lost-keys');
  const { stdout } = await promisify(execFile)(process.execPath, ['packages/cli/src/main.ts', 'recover', 'lost-keys'], {
    cwd: ROOT,
    env: platform.environment,
  });
  const link = /http:\S+#enrol=\S+/.exec(stdout)?.[0];
  assert.ok(link, stdout);
  const page = await visitor(t);
  await page.goto(link);
  await page.getByRole('heading', { name: 'Add a passkey' }).waitFor();
  assert.equal(page.url(), `${platform.origin}/`);
  await page.getByRole('button', { name: 'Create the passkey' }).click();
  await page.getByRole('button', { name: 'Account lost-keys' }).waitFor();
  const again = await visitor(t);
  await again.goto(link);
  await again.getByRole('button', { name: 'Create the passkey' }).click();
  await again.getByRole('alert').waitFor();
});

test('a session that was ended elsewhere leads back to sign-in, with the reason', async (t) => {
  const page = await visitor(t);
  await registers(page, 'two-places');
  // Nobody waits for the answer: the page may have left before it comes.
  await page.evaluate(async () => {
    const list: { items: readonly { id: string }[] } = await (await fetch('/v1/auth/sessions')).json();
    void fetch(`/v1/auth/sessions/${list.items[0]?.id}`, { method: 'DELETE' });
  });
  // Its live events end with the session, so the page finds out by itself.
  await page.getByText('Your session has ended. Sign in again.').waitFor();
  assert.equal(await page.locator('iframe').count(), 0);
});

test('the page says when the platform does not answer, and one press goes on once it does', async (t) => {
  const page = await visitor(t);
  await registers(page, 'patient');
  await page.frameLocator('iframe[title="Launcher"]').getByRole('heading', { name: 'Welcome, patient' }).waitFor();
  await page.context().setOffline(true);
  await page.evaluate(() => {
    location.hash = '#/app/wallet';
  });
  await page.getByRole('heading', { name: 'Wallet did not open' }).waitFor();
  await page.getByRole('main').getByText('The platform does not answer.').waitFor();
  await page.context().setOffline(false);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.frameLocator('iframe[title="Wallet"]').getByRole('heading', { name: 'Wallet', exact: true }).waitFor();
});

test('what failed while the platform was away is there again by itself once it is back', async (t) => {
  const page = await visitor(t);
  await registers(page, 'steadfast');
  const second = await page.context().newPage();
  await second.goto(`${platform.origin}/#/settings/apps`);
  await second.getByRole('heading', { name: 'Apps' }).waitFor();
  assert.equal(await platform.stop(), 0);
  await Promise.all([page, second].map((one) => one.getByText('Reconnecting …').waitFor()));
  await page.evaluate(() => {
    location.hash = '#/app/wallet';
  });
  await page.getByRole('heading', { name: 'Wallet did not open' }).waitFor();
  await second.evaluate(() => {
    location.hash = '#/settings/storage';
  });
  // A message may say so beside the page.
  const silence = second.getByRole('main').getByText('The platform does not answer.');
  await silence.waitFor();
  platform = await startPlatform(place);
  await page.frameLocator('iframe[title="Wallet"]').getByRole('heading', { name: 'Wallet', exact: true }).waitFor();
  await second.getByRole('main').getByText('Nothing takes storage yet').waitFor();
  await silence.waitFor({ state: 'detached' });
});

test('when there is no list of apps, the page says why, in Settings too, and one press goes on', async (t) => {
  const page = await visitor(t);
  const list = (url: URL) => url.pathname === '/v1/apps';
  await page.route(list, (route) => route.abort());
  await registers(page, 'listless');
  const main = page.getByRole('main');
  await main.getByRole('heading', { name: 'Your apps could not be listed' }).waitFor();
  await main.getByText('The platform does not answer.').waitFor();
  await look(page, 'desktop', 'apps-not-listed');
  await page.setViewportSize(PHONE);
  await look(page, 'phone', 'apps-not-listed');
  await page.goto(`${platform.origin}/#/settings/apps`);
  await main.getByRole('heading', { name: 'Apps' }).waitFor();
  await main.getByText('The platform does not answer.').waitFor();
  await page.goBack();
  await main.getByRole('heading', { name: 'Your apps could not be listed' }).waitFor();
  await page.unroute(list);
  await main.getByRole('button', { name: 'Try again' }).click();
  await page.frameLocator('iframe[title="Launcher"]').getByRole('heading', { name: 'Welcome, listless' }).waitFor();
});

test('the address keeps the place: a reload shows the same app, Back the one before', async (t) => {
  const page = await visitor(t);
  await registers(page, 'returning');
  const schedules = page
    .frameLocator('iframe[title="Schedules"]')
    .getByRole('heading', { name: 'Schedules', exact: true });
  await pressAway(tileOf(page, 'Schedules'), schedules);
  await page.reload();
  await schedules.waitFor();
  await page.goBack();
  await page.frameLocator('iframe[title="Launcher"]').getByRole('heading', { name: 'Welcome, returning' }).waitFor();
});

test('everything of the bar is reached with the keyboard alone', async (t) => {
  const page = await visitor(t);
  await registers(page, 'keyboard');
  await page.getByRole('button', { name: 'Home' }).focus();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('wall');
  await page.getByRole('option', { name: /^Wallet Part/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.locator('iframe[title="Wallet"]').waitFor();
  await page.getByRole('button', { name: 'Account keyboard' }).focus();
  await page.keyboard.press('Enter');
  for (const next of ['Apps', 'AI', 'Notifications', 'Secrets', 'Passkeys']) {
    await page.keyboard.press('Tab');
    assert.equal(await page.locator(':focus').innerText(), next);
  }
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Passkeys' }).waitFor();
  await page.keyboard.press('Control+k');
  assert.equal(await page.locator(':focus').getAttribute('role'), 'combobox');
});
