// The Store as a publisher and a person who installs meet it: an app's page with its screenshots, an update with what is new
// and what it asks for beyond, the way back, links to unlisted apps, and deleting a version. Pictures go to SCREENSHOT_DIR,
// by default screenshots/.
import { strict as assert } from 'node:assert';
import { after, before, test } from 'node:test';
import type { InstalledApp, PermissionsView } from '@platform/contract';
import type { Browser, FrameLocator, Page } from 'playwright-core';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { DESKTOP, DEVICES, FIRST_DEVICE, launchBrowser, noDialog, pressInPrompt } from './browser.ts';
import { look } from './look.ts';
import { signedInContext } from './signed-in.ts';

const PAGE = '<!doctype html><html lang="en"><title>Garden</title><main><h1>Garden</h1></main></html>';
const SERVER = `
  const http = process.getBuiltinModule('node:http');
  http.createServer((request, response) => response.end('here')).listen(Number(process.env.PORT));
`;

const first = {
  name: 'Garden',
  summary: 'Knows when each plant wants water.',
  workload: { runtime: 'node', entry: 'main.mjs', volume: true, resources: { memoryMiB: 128, diskMiB: 64 } },
  permissions: [{ id: 'notifications.publish', resources: ['watering'], reason: 'Reminds you to water.' }],
  screenshots: ['beds.png', 'plant.png'],
};
const second = {
  ...first,
  version: '2.0.0',
  changes: 'A calendar for the whole year.\n\n- Frost warnings\n- Beds may be shared',
  permissions: [
    ...first.permissions,
    { id: 'search.index', resources: ['self'], reason: 'Finds plants from the home screen.' },
  ],
};

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;
let publisher: TestAccount;
let files: Readonly<Record<string, string | Buffer>>;

/** Pictures of a made-up app, by the browser itself. */
async function screenshots(): Promise<Record<string, Buffer>> {
  const page = await browser.newPage({ viewport: { width: 960, height: 600 } });
  const draw = async (title: string, colour: string) => {
    await page.setContent(`<body style="margin:0;font:600 56px sans-serif;background:${colour};color:#fff;padding:48px">
      ${title}<div style="margin-top:40px;height:300px;border-radius:24px;background:#fff4"></div></body>`);
    return page.screenshot();
  };
  const pictures = {
    'frontend/beds.png': await draw('Beds', '#31603d'),
    'frontend/plant.png': await draw('Tomato', '#8c3a2b'),
  };
  await page.close();
  return pictures;
}

before(async () => {
  place = await platformPlace({ PLATFORM_RUNTIME_DRIVER: 'process' });
  platform = await startPlatform(place);
  publisher = await registerAccount(platform, 'gardener');
  browser = await launchBrowser();
  files = { 'frontend/index.html': PAGE, 'workload/main.mjs': SERVER, ...(await screenshots()) };
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

const storeOf = (page: Page): FrameLocator => page.frameLocator('iframe[title="Store"]');

for (const [device, viewport] of DEVICES) {
  test(`an app is found, looked at, installed, updated and taken back, on a ${device}`, async (t) => {
    const appId = `garden-${device}`;
    const name = `Garden ${device}`;
    const account = await registerAccount(platform, `${device}-user`);
    const context = await signedInContext({ browser, platform, account }, viewport);
    t.after(() => context.close());
    const page = await context.newPage();
    const store = storeOf(page);
    await publishTestApp(publisher, appId, { ...first, name }, files);
    await page.goto(`${platform.origin}/#/app/store`);

    // Nothing matches, and the way on.
    await store.getByLabel('Find an app').fill('no-such-app');
    await store.getByText('No app matches “no-such-app”.').waitFor();
    await look(page, device, 'store-no-match');
    await store.getByRole('button', { name: 'Look up the app id' }).click();
    await store.getByRole('heading', { name: 'No such app' }).waitFor();
    await look(page, device, 'store-no-such-app');
    // Not `goBack`, which waits for the page around the Store to go somewhere.
    await page.evaluate(() => history.back());
    await store.getByLabel('Find an app').fill(name);

    // The page of the app. Its way back and the browser's are one.
    await store.getByRole('button', { name, exact: true }).click();
    await store.getByRole('button', { name: 'All apps' }).click();
    await store.getByLabel('Find an app').waitFor();
    await page.evaluate(() => history.forward());
    await store.getByRole('heading', { name, exact: true }).waitFor();
    const shots = store.getByRole('button', { name: /^Screenshot \d of 2/ });
    await shots.nth(1).waitFor();
    for (const words of ['Send you notifications', 'Topic: watering', '“Reminds you to water.”', 'gardener', '1.0.0'])
      await store.getByText(words).first().waitFor();
    assert.equal(
      await shots
        .first()
        .locator('img')
        .evaluate((image: HTMLImageElement) => image.naturalWidth),
      960,
    );
    await look(page, device, 'store-page', [
      store.getByRole('heading', { name, exact: true }),
      store.getByRole('heading', { name: 'About' }),
    ]);

    // The gallery by keyboard alone.
    await shots.first().focus();
    await page.keyboard.press('Enter');
    const gallery = store.getByRole('dialog', { name: 'Screenshots' });
    await gallery.getByRole('img', { name: `Screenshot 1 of 2 of ${name}` }).waitFor();
    await page.keyboard.press('ArrowRight');
    await gallery.getByRole('img', { name: `Screenshot 2 of 2 of ${name}` }).waitFor();
    await look(page, device, 'store-gallery');
    await page.keyboard.press('Escape');
    await gallery.waitFor({ state: 'hidden' });

    // Installed, with a backend that runs.
    await store.getByRole('button', { name: `Install ${name}` }).click();
    const review = page.getByRole('dialog', { name: `Install ${name}?` });
    await pressInPrompt(
      review.getByRole('button', { name: 'Install', exact: true }),
      page.getByRole('heading', { name: `${name} is installed` }),
    );
    await page.getByRole('button', { name: 'Done' }).click();
    await account.browser.take(`/v1/apps/${appId}/start`, { body: {} });

    // An update is published: the Store and the home screen say so without a reload.
    await publishTestApp(publisher, appId, { ...second, name }, files);
    await page.goto(`${platform.origin}/#/`);
    const home = page.frameLocator('iframe[title="Launcher"]');
    await home.getByRole('button', { name: new RegExp(`${name}.*Update available`) }).waitFor();
    await look(page, device, 'home-update');
    await page.goto(`${platform.origin}/#/app/store`);
    // The Store is where it was left.
    await store.getByText('Frost warnings').waitFor();
    await store.getByRole('button', { name: 'All apps' }).click();
    await store.getByLabel('Find an app').fill('');
    await store.getByRole('heading', { name: 'Updates 1' }).waitFor();
    await look(page, device, 'store-updates');

    // The review lists what it asks for beyond before what is new.
    await store.getByRole('button', { name: `Update ${name} to 2.0.0` }).click();
    const update = page.getByRole('dialog', { name: `Update ${name}?` });
    await update.getByText('Frost warnings').waitFor();
    const headings = await update.getByRole('heading', { level: 3 }).allInnerTexts();
    assert.deepEqual(headings, [`New: ${name} also wants to`, 'What’s new in 2.0.0']);
    await look(page, device, 'store-update-review');
    await pressInPrompt(update.getByRole('button', { name: 'Update', exact: true }), noDialog(page));
    await store.getByRole('heading', { name: 'Updates' }).waitFor({ state: 'detached' });
    await store.getByRole('button', { name, exact: true }).click();
    await store.getByRole('button', { name: 'Go back to 1.0.0' }).waitFor();
    await look(page, device, 'store-updated');

    // Settings, open all the time, shows each change at once.
    await page.goto(`${platform.origin}/#/settings/apps/${appId}`);
    await page.getByText('Version 2.0.0').waitFor();
    await page.getByText('A calendar for the whole year.').waitFor();
    await page.getByRole('checkbox', { name: 'Add its items to your search' }).waitFor();
    await look(page, device, 'settings-version');
    const back = page.getByRole('dialog', { name: `Go back to ${name} 1.0.0?` });
    await pressInPrompt(page.getByRole('button', { name: 'Go back to 1.0.0' }), back);
    await back.getByText('1.0.0 may not be able to read data that 2.0.0 wrote.').waitFor();
    await look(page, device, 'settings-going-back');
    await pressInPrompt(back.getByRole('button', { name: 'Go back to 1.0.0' }), noDialog(page));
    await page.getByText('Version 1.0.0').waitFor();
    await page.getByRole('button', { name: 'Update to 2.0.0' }).waitFor();
    await page.getByRole('checkbox', { name: 'Add its items to your search' }).waitFor({ state: 'detached' });
    const { permissions } = await account.browser.take<PermissionsView>(`/v1/apps/${appId}/permissions`);
    assert.deepEqual(
      permissions.map(({ id }) => id),
      ['notifications.publish'],
    );

    // An update from elsewhere, while the page is open.
    await account.browser.take(`/v1/apps/${appId}/upgrade`, { body: { version: '2.0.0' } });
    await page.getByText('Version 2.0.0').waitFor();
    // It was granted to this version before; no change of version takes that away.
    await page.getByRole('checkbox', { name: 'Add its items to your search', checked: true }).waitFor();
    await page.getByRole('button', { name: 'Go back to 1.0.0' }).waitFor();
  });
}

test('pictures are read as they come into view, into places that have their size', async (t) => {
  const many = Array.from({ length: 40 }, (_, at) => `pictured-${String(at).padStart(2, '0')}`);
  const square = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9v9H0z"/></svg>';
  for (const appId of many)
    await publishTestApp(
      publisher,
      appId,
      { icon: 'a.svg' },
      { 'frontend/index.html': PAGE, 'frontend/a.svg': square },
    );
  const account = await registerAccount(platform, 'looks-around');
  const context = await signedInContext({ browser, platform, account }, { width: 390, height: 700 });
  t.after(() => context.close());
  const page = await context.newPage();
  const asked = new Set<string>();
  page.on('request', (request) => {
    const [, appId] = /catalog\/(pictured-\d+)\/.*icon$/.exec(request.url()) ?? [];
    if (appId !== undefined) asked.add(appId);
  });
  await page.goto(`${platform.origin}/#/app/store`);
  const store = storeOf(page);
  await store.getByLabel('Find an app').fill('pictured');
  const iconOf = (appId: string) =>
    store.getByRole('listitem').filter({ hasText: appId }).first().locator('.icon-place');
  const shown = (appId: string) => iconOf(appId).locator('img[src^="data:image/png"]').waitFor();
  const [first, last] = ['pictured-00', 'pictured-39'];
  await shown(first);
  assert.ok(!asked.has(last), 'nobody has seen it');
  assert.ok(asked.size < 20, `${asked.size} of 40 were read`);
  const size = async (appId: string) => {
    const { width, height } = (await iconOf(appId).locator('> *').boundingBox()) ?? {};
    return [width, height];
  };
  const before = await size(last);
  assert.deepEqual(before, await size(first));
  await iconOf(last).scrollIntoViewIfNeeded();
  await shown(last);
  assert.deepEqual(await size(last), before);
  assert.ok(asked.size < 40, 'those between were passed by');
});

test('an unlisted app opens by its link, and a private one to its publisher alone', async (t) => {
  await publishTestApp(publisher, 'quiet-garden', { ...first, name: 'Quiet garden', visibility: 'unlisted' }, files);
  await publishTestApp(publisher, 'own-garden', { ...first, name: 'Own garden', visibility: 'private' }, files);
  const guest = await registerAccount(platform, 'guest');
  const context = await signedInContext({ browser, platform, account: guest }, DESKTOP);
  t.after(() => context.close());
  const page = await context.newPage();
  await page.goto(`${platform.origin}/#/store/quiet-garden`);
  await storeOf(page).getByRole('heading', { name: 'Quiet garden', exact: true }).waitFor();
  await storeOf(page).getByText('Unlisted').waitFor();
  await page.evaluate(() => {
    location.hash = '#/store/own-garden';
  });
  await storeOf(page).getByRole('heading', { name: 'No such app' }).waitFor();
  await storeOf(page).getByRole('button', { name: 'All apps' }).click();
  await storeOf(page).getByLabel('Find an app').fill('garden');
  await storeOf(page)
    .getByRole('button', { name: `Install Garden ${FIRST_DEVICE}` })
    .waitFor();
  for (const hidden of ['Quiet garden', 'Own garden'])
    assert.equal(await storeOf(page).getByText(hidden).count(), 0, hidden);
});

for (const [device, viewport] of DEVICES) {
  test(`a publisher sees whom the app is for, and deletes a version nobody uses, on a ${device}`, async (t) => {
    const appId = `shed-${device}`;
    const context = await signedInContext({ browser, platform, account: publisher }, viewport);
    t.after(() => context.close());
    const page = await context.newPage();
    const store = storeOf(page);
    const user = await registerAccount(platform, `${device}-shed-user`);
    for (const version of ['1.0.0', '2.0.0', '3.0.0'])
      await publishTestApp(publisher, appId, { ...first, name: 'Shed', version, visibility: 'unlisted' }, files);
    await user.browser.take('/v1/apps', { body: { appId, version: '1.0.0' } });
    await user.browser.take(`/v1/apps/${appId}/upgrade`, { body: { version: '3.0.0' } });
    await page.goto(`${platform.origin}/#/store/${appId}`);
    await store.getByText(`${platform.origin}/#/store/${appId}`).waitFor();
    const row = (version: string) => store.getByRole('button', { name: `Delete version ${version} of Shed` });
    await look(page, device, 'store-own', [store.getByRole('heading', { name: 'Versions' })]);
    const question = (version: string) => page.getByRole('dialog', { name: `Delete Shed ${version}?` });

    // Somebody updated from it a moment ago.
    await row('1.0.0').click();
    await pressInPrompt(
      question('1.0.0').getByRole('button', { name: 'Delete 1.0.0' }),
      question('1.0.0').getByText('can go back to it until'),
    );
    await look(page, device, 'store-delete-refused');
    await pressInPrompt(question('1.0.0').getByRole('button', { name: 'Keep it' }), noDialog(page));

    await row('2.0.0').click();
    await pressInPrompt(question('2.0.0').getByRole('button', { name: 'Delete 2.0.0' }), noDialog(page));
    await row('2.0.0').waitFor({ state: 'detached' });
    await row('1.0.0').waitFor();
    const { items } = await user.browser.take<{ items: InstalledApp[] }>('/v1/apps?limit=200');
    assert.equal(items.find((app) => app.appId === appId)?.former, '1.0.0');
  });
}
