// An app makes another for its person, who reviews it with its source, adds it, opens it, and later takes a change of it: on a desktop
// and on a phone. Pictures go to SCREENSHOT_DIR.
import { strict as assert } from 'node:assert';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import type { InstalledApp, MadeDraft, PermissionsView } from '@platform/contract';
import type { App } from '@platform/sdk/browser';
import { buildSdk } from '@platform/sdk/build';
import type { Browser, Frame, Page } from 'playwright-core';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { BOTH_DEVICES, launchBrowser, noDialog, pressInPrompt } from './browser.ts';
import { look, settingsFit } from './look.ts';
import { signedInContext } from './signed-in.ts';

declare const maker: { readonly app: App };

const PAGE =
  '<!doctype html><html lang="en"><title>Helper</title><h1>Helper</h1><script type="module" src="page.js"></script></html>';
const PAGE_SCRIPT = "import { App } from './platform-sdk.js'; globalThis.maker = { app: await App.connect() };";

const INDEX = `<!doctype html>
<html lang="en">
  <meta charset="utf-8">
  <title>Plants</title>
  <h1>My plants</h1>
  <ul id="plants"></ul>
  <script type="module" src="plants.js"></script>
</html>
`;
const SCRIPT = `const plants = ['Monstera', 'Ficus', 'Basil'];
for (const name of plants) {
  const item = document.createElement('li');
  item.textContent = name;
  document.querySelector('#plants').append(item);
}
`;

function plants(id: string, version: string, script: string, more: object = {}): Record<string, string> {
  const manifest = {
    ...{ schemaVersion: 9, id, version, name: 'Plants', summary: 'Tells you which plant needs water.' },
    frontend: {},
    ...more,
  };
  return {
    'manifest.json': JSON.stringify(manifest, null, 2),
    'frontend/index.html': INDEX,
    'frontend/plants.js': script,
  };
}

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;

before(async () => {
  place = await platformPlace();
  platform = await startPlatform(place);
  const manifest = { name: 'Helper', permissions: [{ id: 'apps.create', resources: ['*'] }] };
  const { browser: sdk } = await buildSdk();
  const files = {
    'frontend/index.html': PAGE,
    'frontend/page.js': PAGE_SCRIPT,
    'frontend/platform-sdk.js': await readFile(sdk),
  };
  await publishTestApp(await registerAccount(platform, 'publisher'), 'helper', manifest, files);
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

async function helper(page: Page): Promise<Frame> {
  await page.goto(`${platform.origin}/#/app/helper`);
  const frame = await (await page.waitForSelector('iframe[title="Helper"]')).contentFrame();
  assert.ok(frame !== null);
  await frame.waitForFunction(() => 'maker' in globalThis);
  return frame;
}

const make = (frame: Frame, appId: string, files: Record<string, string>): Promise<MadeDraft> =>
  frame.evaluate((app) => maker.app.makeApp(app), { appId, files });

/** The answer of the bridge, to be awaited later. */
async function askFor(frame: Frame, draftId: string): Promise<() => Promise<boolean>> {
  await frame.evaluate((id) => {
    Object.assign(globalThis, { asked: maker.app.apps.create(id) });
  }, draftId);
  return () => frame.evaluate(() => (globalThis as unknown as { asked: Promise<boolean> }).asked);
}

async function installed(account: TestAccount, id: string): Promise<string | undefined> {
  const { items } = await account.browser.take<{ items: InstalledApp[] }>('/v1/apps');
  return items.find(({ appId }) => appId === id)?.version;
}

for (const [device, viewport] of BOTH_DEVICES) {
  test(`on a ${device} an app that an app made is reviewed, added, opened, and changed`, async (t) => {
    const account = await registerAccount(platform, `${device}-gardener`);
    const permissions = [{ id: 'apps.create', resources: ['*'] }];
    await account.browser.take('/v1/apps', { body: { appId: 'helper', permissions } });
    const id = `plants-${device}`;
    const context = await signedInContext({ browser, platform, account }, viewport);
    t.after(() => context.close());
    const page = await context.newPage();
    const frame = await helper(page);

    await t.test('the review shows what it may do and all that would run', async () => {
      const asks = {
        permissions: [{ id: 'search.index', resources: ['self'], reason: 'So that you find your plants.' }],
      };
      const draft = await make(frame, id, plants(id, '1.0.0', SCRIPT, asks));
      const answer = await askFor(frame, draft.id);
      const review = page.getByRole('dialog', { name: 'Add Plants?', exact: true });
      await review.getByText('Made by Helper, for you alone').waitFor();
      await review.getByText('plants.js').scrollIntoViewIfNeeded();
      await look(page, device, 'draft-review');
      const line = review.getByText("const plants = ['Monstera', 'Ficus', 'Basil'];");
      await pressInPrompt(review.getByText('frontend/plants.js'), line);
      await line.scrollIntoViewIfNeeded();
      await look(page, device, 'draft-source');
      await pressInPrompt(review.getByRole('button', { name: 'Not now', exact: true }), noDialog(page));
      assert.equal(await answer(), false);
      assert.equal(await installed(account, id), undefined);
    });

    await t.test('what was put off waits in Settings, and is added there', async () => {
      await page.goto(`${platform.origin}/#/settings/apps`);
      const row = page.getByRole('region', { name: 'Waiting for you' });
      await row.getByText('New app').waitFor();
      await look(page, device, 'draft-waiting');
      await settingsFit(page);
      await row.getByRole('button', { name: 'Review' }).click();
      const review = page.getByRole('dialog', { name: 'Add Plants?', exact: true });
      const done = page.getByRole('heading', { name: 'Plants is installed' });
      await pressInPrompt(review.getByRole('button', { name: 'Add Plants', exact: true }), done);
      await look(page, device, 'draft-added');
      await page.getByRole('button', { name: 'Open Plants' }).click();
      await page.frameLocator('iframe[title="Plants"]').getByText('Monstera').waitFor();
      assert.equal(await installed(account, id), '1.0.0');
    });

    await t.test('a change shows the lines that differ, and what hides in them', async () => {
      const far = `// ${' '.repeat(3_000)}fetch('/')`;
      const changed = SCRIPT.replace("'Basil'", "'Basil', 'Fern'").concat(`// \u202E tuo kcehc ${far}\n`);
      const asks = { permissions: [{ id: 'notifications.publish', resources: ['water'] }] };
      await page.goto(`${platform.origin}/#/settings/apps`);
      await page.getByRole('heading', { name: 'Apps', exact: true }).waitFor();
      // In another tab, so that in this one the app is not in front.
      const elsewhere = await context.newPage();
      const draft = await make(await helper(elsewhere), id, plants(id, '1.1.0', changed, asks));
      await elsewhere.close();
      await page.getByText('Helper changed Plants').waitFor();
      await look(page, device, 'draft-announced');
      const again = await helper(page);
      const answer = await askFor(again, draft.id);
      const review = page.getByRole('dialog', { name: 'Change Plants?', exact: true });
      await review.getByText('From 1.0.0 to 1.1.0').waitFor();
      await pressInPrompt(review.getByText('frontend/plants.js'), review.getByText('[U+202E]'));
      await review.getByText('[U+202E]').scrollIntoViewIfNeeded();
      await look(page, device, 'draft-diff');
      assert.equal(await review.locator('.source-line.added').count(), 2);
      assert.equal(await review.locator('.source-line.removed').count(), 1);
      const beyond = await review.locator('.source-text').evaluate((text) => text.scrollWidth - text.clientWidth);
      assert.equal(beyond, 0, 'nothing lies to the right of what is in view');
      // What fails after the acceptance is tried again alone.
      let isLost = false;
      await page.route('**/v1/apps/*/permissions', (route) => {
        if (isLost || route.request().method() !== 'PUT') return route.continue();
        isLost = true;
        return route.abort();
      });
      const change = review.getByRole('button', { name: 'Change Plants', exact: true });
      await pressInPrompt(change, review.locator('.note.danger'));
      assert.equal(isLost, true);
      assert.equal(await installed(account, id), '1.1.0');
      await pressInPrompt(change, noDialog(page));
      const { permissions: held } = await account.browser.take<PermissionsView>(`/v1/apps/${id}/permissions`);
      assert.deepEqual(held, asks.permissions);
      assert.equal(await answer(), true);
      await page.getByText('Helper changed Plants').waitFor({ state: 'detached' });
      assert.equal(await installed(account, id), '1.1.0');
    });

    await t.test('what the person throws away is gone', async () => {
      const again = await helper(page);
      const draft = await make(again, id, plants(id, '1.2.0', SCRIPT));
      const answer = await askFor(again, draft.id);
      const review = page.getByRole('dialog', { name: 'Change Plants?', exact: true });
      await pressInPrompt(review.getByRole('button', { name: 'Throw it away' }), noDialog(page));
      assert.equal(await answer(), false);
      assert.equal((await account.fetch(`/v1/account/drafts/${draft.id}`)).status, 404);
    });
  });
}

/** Says what it gets of the platform, and takes the focus without end. */
const NOSY = `const say = (text) => document.querySelector('#plants').append(text, ' | ');
addEventListener('message', ({ data }) => say(data.type + ' ' + JSON.stringify(data.fragment)));
for (const type of ['platform.hello', 'platform.launch', 'platform.page-error'])
  parent.postMessage({ type, version: 1, nonce: 'nonce-of-a-nosy-page' }, '*');
const services = location.origin.replace(/\\/\\/[^.]*/, '//services');
for (const address of [services + '/v1/services/apps', 'https://elsewhere.example/'])
  fetch(address).then(() => say('reached'), () => say('not reached'));
try { say(parent.document.title); } catch { say('no shell'); }
setInterval(() => focus(), 20);
`;

test('a preview gets nothing of the platform, and nothing is decided by a press that follows it', async (t) => {
  const account = await registerAccount(platform, 'looks-first');
  const permissions = [{ id: 'apps.create', resources: ['*'] }];
  await account.browser.take('/v1/apps', { body: { appId: 'helper', permissions } });
  const context = await signedInContext({ browser, platform, account }, BOTH_DEVICES[0][1]);
  t.after(() => context.close());
  const page = await context.newPage();
  const review = page.getByRole('dialog');
  const shown = page.frameLocator('iframe[title="Preview of Plants"]');
  const preview = async (appId: string, script: string) => {
    const frame = await helper(page);
    const { id } = await make(frame, appId, plants(appId, '1.0.0', script));
    await askFor(frame, id);
    await pressInPrompt(review.getByRole('button', { name: 'Try its page' }), shown.getByText('My plants'));
  };

  await t.test('whatever its page asks for', async () => {
    await preview('nosy', NOSY);
    await shown.getByText(/(?:.*not reached){2}/).waitFor();
    const said = await shown.locator('#plants').innerText();
    assert.match(said, /no shell/);
    assert.match(said, /platform\.launched ""/);
    assert.doesNotMatch(said, /platform\.welcome|(?<!not )reached/);
    await review.getByRole('button', { name: 'Back to the review' }).click();
    await pressInPrompt(review.getByRole('button', { name: 'Not now', exact: true }), noDialog(page));
  });

  await t.test('also where it took no focus: a second press falls where the approval is', async () => {
    await preview('quiet', SCRIPT);
    await page.evaluate(async () => {
      const press = (selector: string) => document.querySelector<HTMLElement>(`.prompt ${selector}`)?.click();
      press('[data-leaves-frame]');
      await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
      press('.decision .primary');
    });
    await review.getByRole('heading', { name: 'Add Plants?' }).waitFor();
    assert.equal(await review.locator('[aria-busy="true"]').count(), 0);
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Not now');
    const done = page.getByRole('heading', { name: 'Plants is installed' });
    await pressInPrompt(review.getByRole('button', { name: 'Add Plants', exact: true }), done);
    assert.equal(await installed(account, 'quiet'), '1.0.0');
  });
});
