// Two people share a list through one app; a person adds a file, hands it to an app and takes it back: on a desktop and on a phone.
// Pictures go to SCREENSHOT_DIR.
import { strict as assert } from 'node:assert';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import type { App } from '@platform/sdk/browser';
import { buildSdk } from '@platform/sdk/build';
import type { Browser, Frame, Page } from 'playwright-core';
import { registerAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { BOTH_DEVICES, checkInPrompt, launchBrowser, noDialog, pressInPrompt } from './browser.ts';
import { look, settingsFit } from './look.ts';
import { signedInContext } from './signed-in.ts';

declare const pages: { readonly app: App };

const APP = 'pantry';
const PAGE =
  '<!doctype html><html lang="en"><title>Pantry</title><h1>Pantry</h1><script type="module" src="page.js"></script></html>';
const PAGE_SCRIPT = "import { App } from './platform-sdk.js'; globalThis.pages = { app: await App.connect() };";

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;

before(async () => {
  place = await platformPlace();
  platform = await startPlatform(place);
  const { browser: sdk } = await buildSdk();
  const files = {
    'frontend/index.html': PAGE,
    'frontend/page.js': PAGE_SCRIPT,
    'frontend/platform-sdk.js': await readFile(sdk),
  };
  const permissions = [{ id: 'content.collections.manage', resources: ['list:*'], reason: 'Keeps your lists.' }];
  const publisher = await registerAccount(platform, 'publisher');
  await publishTestApp(publisher, APP, { name: 'Pantry', permissions }, files);
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

async function pantry(page: Page): Promise<Frame> {
  await page.goto(`${platform.origin}/#/app/${APP}`);
  const frame = await (await page.waitForSelector('iframe[title="Pantry"]')).contentFrame();
  assert.ok(frame !== null);
  await frame.waitForFunction(() => 'pages' in globalThis);
  return frame;
}

for (const [device, viewport] of BOTH_DEVICES) {
  test(`on a ${device} two people share a list`, async (t) => {
    const [ada, ben] = [
      await registerAccount(platform, `ada-${device}`),
      await registerAccount(platform, `ben-${device}`),
    ];
    for (const account of [ada, ben]) await account.browser.take('/v1/apps', { body: { appId: APP } });
    const hers = await signedInContext({ browser, platform, account: ada }, viewport);
    const his = await signedInContext({ browser, platform, account: ben }, viewport);
    t.after(() => Promise.all([hers.close(), his.close()]));
    const herApp = await pantry(await hers.newPage());
    const id = await herApp.evaluate(async (to) => {
      const content = pages.app.content();
      const list = await content.create({ kind: 'list', name: 'Groceries for the weekend' });
      await content.put(list.id, 'milk', '2 litres');
      await content.invite(list.id, { to, role: 'editor' });
      return list.id;
    }, ben.name);

    const page = await his.newPage();
    await page.goto(`${platform.origin}/#/settings/sharing`);
    await page.getByText('Groceries for the weekend', { exact: true }).waitFor();
    await look(page, device, 'sharing-invitation');
    await settingsFit(page);
    await page.getByRole('button', { name: 'Accept', exact: true }).click();
    await page.getByText('No invitations').waitFor();
    await page.getByRole('heading', { name: 'Shared with you' }).waitFor();

    await herApp.evaluate(async (account) => {
      const own = pages.app.files();
      for (const name of ['Recipe for lentil soup, from grandmother.txt', 'shopping.csv', 'weekend.txt']) {
        await own.put(name, 'Stir.');
        await own.open(name, [{ principal: { account }, access: name === 'weekend.txt' ? 'write' : 'read' }]);
      }
    }, ben.name);
    await page.reload();
    await page.getByRole('heading', { name: 'Files from others' }).scrollIntoViewIfNeeded();
    await look(page, device, 'sharing-from-others');
    await settingsFit(page);
    await page.getByRole('button', { name: 'Remove shopping.csv from' }).click();
    await page.getByText('shopping.csv', { exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Remove all files from' }).click();
    await page.getByRole('heading', { name: 'Files from others' }).waitFor({ state: 'detached' });

    const hisApp = await pantry(page);
    const etag = await hisApp.evaluate(async (list) => {
      const { etag: held } = await pages.app.content().get(list, 'milk');
      await pages.app.content().put(list, 'milk', '3 litres', { ifMatch: held });
      return held;
    }, id);
    // She was offline meanwhile, and what she changed builds on what was there before.
    const outcome = await herApp.evaluate(
      async ({ list, held }) => {
        const content = pages.app.content();
        const refused = await content.put(list, 'milk', '1 litre', { ifMatch: held }).catch((error) => error.code);
        const now = await content.get(list, 'milk');
        await content.put(list, 'milk', '4 litres', { ifMatch: now.etag });
        return [refused, new TextDecoder().decode(now.bytes)];
      },
      { list: id, held: etag },
    );
    assert.deepEqual(outcome, ['precondition_failed', '3 litres']);

    const sees = await hers.newPage();
    await sees.goto(`${platform.origin}/#/settings/sharing`);
    await sees.getByText('Who has it: Groceries for the weekend').click();
    await sees.getByRole('button', { name: `Remove ${ben.name}@` }).waitFor();
    await look(sees, device, 'sharing-members');
    await settingsFit(sees);
    await sees.getByRole('button', { name: 'Delete Groceries for the weekend' }).click();
    await sees.getByLabel('Type delete to confirm').waitFor();
    await look(sees, device, 'sharing-delete');
    await sees.getByRole('button', { name: 'Cancel' }).click();

    await page.goto(`${platform.origin}/#/settings/sharing`);
    await page.getByRole('button', { name: 'Leave Groceries for the weekend' }).click();
    await look(page, device, 'sharing-leave');
    await settingsFit(page);
    await page.getByRole('button', { name: 'Leave', exact: true }).click();
    await page.getByText('No collections').waitFor();
    const left = await pantry(page);
    const lost = await left.evaluate(
      (list) =>
        pages.app
          .content()
          .get(list, 'milk')
          .then(
            () => 'read',
            (error) => error.code,
          ),
      id,
    );
    assert.equal(lost, 'not_found');
    await sees.getByRole('button', { name: 'Delete Groceries for the weekend' }).click();
    await sees.getByLabel('Type delete to confirm').fill('delete');
    await sees.getByRole('button', { name: 'Delete collection' }).click();
    await sees.getByText('No collections').waitFor();
  });

  test(`on a ${device} a file is added, handed to an app, read by it, and taken back`, async (t) => {
    const account = await registerAccount(platform, `cleo-${device}`);
    await account.browser.take('/v1/apps', { body: { appId: APP } });
    const context = await signedInContext({ browser, platform, account }, viewport);
    t.after(() => context.close());
    const page = await context.newPage();
    await page.goto(`${platform.origin}/#/app/files`);
    const files = page.frameLocator('iframe[title="Files"]');
    await files.getByText('No files yet.').waitFor();
    await look(page, device, 'files-empty');
    await files.locator('input[type=file]').setInputFiles([
      { name: 'insurance.txt', mimeType: 'text/plain', buffer: Buffer.from('Policy 4711') },
      { name: 'holiday.png', mimeType: 'image/png', buffer: PIXEL },
    ]);
    await files.getByRole('heading', { name: 'holiday.png' }).waitFor();
    await files.getByRole('button', { name: 'Preview insurance.txt' }).click();
    await files.getByText('Policy 4711').or(files.getByLabel('Text of insurance.txt')).first().waitFor();
    await look(page, device, 'files');

    const app = await pantry(page);
    await app.evaluate(() => {
      Object.assign(globalThis, { picked: pages.app.pickFile() });
    });
    const prompt = page.getByRole('dialog', { name: 'Choose a file' });
    await checkInPrompt(prompt.getByRole('radio', { name: /insurance\.txt/ }));
    await look(page, device, 'file-pick');
    await pressInPrompt(prompt.getByRole('button', { name: 'Hand over this file' }), noDialog(page));
    const { id, text } = await app.evaluate(async () => {
      const file = await (globalThis as unknown as { picked: ReturnType<App['pickFile']> }).picked;
      if (file === null) throw new Error('none was picked');
      const { bytes } = await pages.app.files().getShared(file.id);
      return { id: file.id, text: new TextDecoder().decode(bytes) };
    });
    assert.equal(text, 'Policy 4711');

    await app.evaluate(async () => {
      await pages.app.files().put('recipe.txt', 'Stir.');
      Object.assign(globalThis, { kept: pages.app.offerFile('recipe.txt') });
    });
    const keep = page.getByRole('dialog', { name: 'Keep “recipe.txt”?' });
    await keep.waitFor();
    await look(page, device, 'file-keep');
    await pressInPrompt(keep.getByRole('button', { name: 'Keep file' }), noDialog(page));
    assert.equal(
      await app.evaluate(() => (globalThis as unknown as { kept: Promise<string | null> }).kept),
      'recipe.txt',
    );

    await app.evaluate(async () => {
      const entries = [{ account: 'publisher' }, { app: 'files' }].map((principal) => ({
        principal,
        access: 'read' as const,
      }));
      await pages.app.files().open('recipe.txt', entries as Parameters<ReturnType<App['files']>['open']>[1]);
    });
    await page.goto(`${platform.origin}/#/settings/sharing`);
    await page.getByText('insurance.txt', { exact: true }).waitFor();
    await look(page, device, 'sharing-files', [page.getByRole('heading', { name: 'Files that others have' })]);
    await settingsFit(page);
    await page.getByRole('button', { name: 'Take back insurance.txt from Pantry' }).click();
    await page.getByText('insurance.txt', { exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: /^Take back recipe\.txt from publisher@/ }).click();
    await page.getByRole('button', { name: 'Take back recipe.txt from Files' }).click();
    await page.getByText('No files shared').waitFor();
    const again = await pantry(page);
    const code = await again.evaluate(
      (file) =>
        pages.app
          .files()
          .getShared(file)
          .then(
            () => 'read',
            (error) => error.code,
          ),
      id,
    );
    assert.equal(code, 'not_found');
  });
}

/** One pixel. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
