// What a person changes or types is not lost in silence: permissions apply when they are changed, and what is typed in a form
// is there again after another page, Back, a reload and the end of the session.
import { strict as assert } from 'node:assert';
import { after, before, type TestContext, test } from 'node:test';
import type { PermissionsView } from '@platform/contract';
import type { Browser, Page } from 'playwright-core';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { until } from '../support/wait.ts';
import { DESKTOP, DEVICES, launchBrowser, noDialog, pressInPrompt } from './browser.ts';
import { look } from './look.ts';
import { signedInContext } from './signed-in.ts';

const PERMISSIONS = [
  { id: 'notifications.publish', resources: ['news', 'offers'] },
  { id: 'search.index', resources: ['self'] },
];

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

async function newOwner(name: string): Promise<TestAccount> {
  const account = await registerAccount(platform, name);
  await publishTestApp(account, `diary-${name}`, { name: 'Diary', permissions: PERMISSIONS });
  await account.browser.take('/v1/apps', { body: { appId: `diary-${name}`, permissions: PERMISSIONS } });
  return account;
}

async function openPage(
  t: TestContext,
  account: TestAccount,
  view: string,
  viewport: { readonly width: number; readonly height: number } = DESKTOP,
): Promise<Page> {
  const context = await signedInContext({ browser, platform, account }, viewport);
  t.after(() => context.close());
  const page = await context.newPage();
  await page.goto(`${platform.origin}/#/settings/${view}`);
  return page;
}

for (const [device, viewport] of DEVICES) {
  test(`a permission changes as it is pressed, keeps the focus, and the change is undone, on a ${device}`, async (t) => {
    const account = await newOwner(`owner-${device}`);
    const appId = `diary-owner-${device}`;
    const granted = async () => {
      const { permissions } = await account.browser.take<PermissionsView>(`/v1/apps/${appId}/permissions`);
      return permissions.map(({ id, resources }) => `${id} ${resources.toSorted().join(' ')}`).sort();
    };
    const page = await openPage(t, account, `apps/${appId}`, viewport);
    const search = page.getByLabel('Add its items to your search');
    await search.focus();
    await page.keyboard.press('Space');
    await page.getByText('Saved. Changes apply').waitFor();
    assert.deepEqual(await granted(), ['notifications.publish news offers']);
    assert.equal(await search.evaluate((box) => box === document.activeElement), true);
    await page.getByLabel('offers', { exact: true }).uncheck();
    await until('the second change', async () => (await granted()).join() === 'notifications.publish news');
    await look(page, device, 'permission-changed');
    // Gone at once, and back with everything as it was saved.
    await page.goto(`${platform.origin}/#/settings/apps`);
    await page.goBack();
    assert.equal(await page.getByLabel('offers', { exact: true }).isChecked(), false);
    await page.getByLabel('offers', { exact: true }).check();
    await page.getByRole('button', { name: 'Undo', exact: true }).click();
    await until('the change to be undone', async () => (await granted()).join() === 'notifications.publish news');
    await page.getByRole('button', { name: 'Undo', exact: true }).waitFor({ state: 'detached' });
  });
}

test('a change that core refuses is said, and shown as it is saved', async (t) => {
  const account = await newOwner('refused');
  const page = await openPage(t, account, 'apps/diary-refused');
  const box = page.getByLabel('Add its items to your search');
  await page.route('**/permissions', (route) =>
    route.request().method() === 'PUT' ? route.abort() : route.continue(),
  );
  await box.uncheck({ noWaitAfter: true }).catch(() => undefined);
  await page.getByText('Your last change was not saved.').waitFor();
  assert.equal(await box.isChecked(), true);
});

test('a secret that is typed is there after other pages and Back; leaving the page and signing out ask', async (t) => {
  const account = await newOwner('typist');
  const page = await openPage(t, account, 'secrets');
  await page.getByRole('button', { name: 'Add a secret' }).click();
  await page.getByLabel('Name').fill('Weather Service');
  await page.getByText('It will be called “weather-service”.').waitFor();
  await page.getByLabel('Key or token').fill('sk-typed');
  // Escape would be pressed in haste.
  await page.keyboard.press('Escape');
  await page.goto(`${platform.origin}/#/settings/storage`);
  await page.getByRole('heading', { name: 'Storage', level: 2 }).waitFor();
  await page.goBack();
  assert.equal(await page.getByLabel('Key or token').inputValue(), 'sk-typed');

  const asked = page.waitForEvent('dialog');
  const reloaded = page.reload({ timeout: 5_000 }).catch(() => undefined);
  const dialog = await asked;
  assert.equal(dialog.type(), 'beforeunload');
  await dialog.dismiss();
  await reloaded;
  assert.equal(await page.getByLabel('Key or token').inputValue(), 'sk-typed');
  const stored = await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]));
  assert.equal(stored.includes('sk-typed'), false, 'a secret is never written down');

  await page.getByRole('button', { name: 'Account typist' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  const question = page.getByRole('dialog', { name: 'Sign out without saving?' });
  await question.waitFor();
  await look(page, 'desktop', 'sign-out-unsaved');
  await pressInPrompt(question.getByRole('button', { name: 'Stay signed in' }), noDialog(page));
  assert.equal(await page.getByLabel('Key or token').inputValue(), 'sk-typed');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Account typist' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: /^Sign in/ }).waitFor();
});

test('what is typed outlives a reload and a session that ended, for the same account alone', async (t) => {
  const account = await newOwner('renamer');
  const page = await openPage(t, account, 'passkeys');
  await page.getByRole('button', { name: /^Rename/ }).click();
  const field = page.getByLabel('Name of the passkey');
  await field.fill('Kitchen tablet');
  await page.reload();
  assert.equal(await field.inputValue(), 'Kitchen tablet');
  await account.browser.take('/v1/auth/logout', { body: {} });
  await page.getByRole('button', { name: /^Sign in/ }).waitFor();
  const kept = () => page.evaluate(() => sessionStorage.getItem('platform.drafts') ?? '');
  assert.match(await kept(), /Kitchen tablet/);

  // Another account in the same window finds nothing of it.
  const other = await registerAccount(platform, 'stranger');
  const [name = '', value = ''] = other.cookie.split('=', 2);
  await page.context().addCookies([{ name, value, url: platform.origin, httpOnly: true, sameSite: 'Lax' }]);
  await page.evaluate((id) => localStorage.setItem('platform.session', id), other.sessionId);
  await page.goto(`${platform.origin}/#/settings/passkeys`);
  await page.reload();
  await page.getByRole('button', { name: 'Account stranger' }).waitFor();
  assert.equal(await field.count(), 0);
  assert.equal(await kept(), '');
});

test('Back leads from “Lost your passkey?” to the form before, and a name is kept with what becomes of it', async (t) => {
  const context = await browser.newContext({ viewport: DESKTOP, reducedMotion: 'reduce' });
  t.after(() => context.close());
  const page = await context.newPage();
  await page.goto(platform.origin);
  await page.getByLabel('Account name').fill('Müller');
  assert.equal(await page.getByText('Your name will be').count(), 0, 'nobody can have that name');
  await page.getByLabel('Account name').fill('Ada Lovelace');
  await page.getByText('Your name will be “ada-lovelace”. You can’t change it later.').waitFor();
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: 'Lost your passkey?' }).click();
  await page.getByRole('heading', { name: 'Lost your passkey?' }).waitFor();
  await page.goBack();
  await page.getByRole('button', { name: /^Sign in with/ }).waitFor();
  await page.goBack();
  assert.equal(await page.getByLabel('Account name').inputValue(), 'Ada Lovelace');
});
