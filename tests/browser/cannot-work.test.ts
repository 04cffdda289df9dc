// An app that cannot work here says so in the Store and in the review, before it is installed: to an ordinary account with whom
// to ask, to the operator with what to do. And what a backend takes is seen without scrolling. Pictures go to
// SCREENSHOT_DIR, by default screenshots/.
import { strict as assert } from 'node:assert';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { DESKTOP, DEVICES, launchBrowser } from './browser.ts';
import { look } from './look.ts';
import { signedInContext } from './signed-in.ts';

const FILES = { 'frontend/index.html': '<!doctype html><title>t</title>', 'workload/main.mjs': '' };
const NODE = { runtime: 'node', entry: 'main.mjs' };

const greedy = {
  name: 'Cloud Atlas',
  summary: 'Maps of everything, drawn by a model.',
  workload: { ...NODE, mode: 'always', volume: true, resources: { memoryMiB: 256, diskMiB: 512 } },
  permissions: [
    { id: 'intelligence.use', resources: ['openai:*'], reason: 'Draws the maps.' },
    { id: 'object-storage.raw', resources: ['self'], reason: 'Keeps the maps.' },
    { id: 'runtime.network-tunnel', resources: ['*'], reason: 'Joins your network.' },
    { id: 'notifications.publish', resources: ['maps'], reason: 'Says when a map is done.' },
    { id: 'search.index', resources: ['self'], reason: 'Finds your maps.' },
  ],
};
const huge = {
  name: 'Whale',
  summary: 'Needs more memory than any machine of a test has.',
  workload: { ...NODE, resources: { memoryMiB: 65_536 } },
};

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;
let operator: TestAccount;
let guest: TestAccount;

before(async () => {
  place = await platformPlace({ PLATFORM_MASTER_ACCOUNT: 'captain', PLATFORM_NODE_MEMORY_MIB: '1024' });
  platform = await startPlatform(place);
  operator = await registerAccount(platform, 'captain');
  guest = await registerAccount(platform, 'guest');
  await publishTestApp(operator, 'cloud-atlas', greedy, FILES);
  await publishTestApp(operator, 'whale', huge, FILES);
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

async function openInStore(
  account: TestAccount,
  appId: string,
  viewport: typeof DESKTOP | (typeof DEVICES)[number][1],
) {
  const context = await signedInContext({ browser, platform, account }, viewport);
  const page = await context.newPage();
  await page.goto(`${platform.origin}/#/store/${appId}`);
  return { page, store: page.frameLocator('iframe[title="Store"]') };
}

/** What is drawn within the window and the box that scrolls. */
async function isSeen(page: Page, text: RegExp): Promise<boolean> {
  const box = await page.getByRole('dialog').getByText(text).first().boundingBox();
  const height = page.viewportSize()?.height ?? 0;
  const answers = await page.locator('dialog .decision').boundingBox();
  return box !== null && box.y >= 0 && box.y + box.height <= Math.min(height, answers?.y ?? height);
}

for (const [device, viewport] of DEVICES) {
  test(`on a ${device}, the Store and the review say what will not work, and what a backend takes`, async (t) => {
    const { page, store } = await openInStore(guest, 'cloud-atlas', viewport);
    t.after(() => page.context().close());
    const lacks = store.getByRole('region', { name: 'Not everything will work here' });
    for (const text of [/no AI provider yet/, /object storage, and this platform has none/, /tunnel device/])
      await lacks.getByText(text).waitFor();
    assert.equal(await lacks.getByText('PLATFORM_').count(), 0, 'settings are the operator’s');
    await look(page, device, 'cannot-work-store', [lacks]);

    await store.getByRole('button', { name: 'Install Cloud Atlas' }).click();
    const prompt = page.getByRole('dialog');
    await prompt.getByText('Not everything will work here').waitFor();
    for (const text of [/^Runs all the time$/, /256 MiB of memory/, /512 MiB of disk/, /Not everything will work/])
      assert.ok(await isSeen(page, text), `${text} is seen at once`);
    await look(page, device, 'cannot-work-review', [prompt]);

    // There is more below, for eyes and for the keyboard.
    const region = prompt.getByRole('region', { name: 'What Cloud Atlas asks for' });
    const more = prompt.locator('.more-below');
    await more.waitFor();
    assert.equal(await region.getAttribute('tabindex'), '0');
    await region.focus();
    await page.keyboard.press('End');
    await more.waitFor({ state: 'detached' });
    await prompt.getByText('isolated from your other apps').waitFor();
    assert.ok(await isSeen(page, /isolated from your other apps/));
    await look(page, device, 'cannot-work-review-end', [prompt]);
    await page.keyboard.press('Home');
    await more.waitFor();
    await page.keyboard.press('Escape');
  });
}

test('the operator is told what to do', async (t) => {
  const { page, store } = await openInStore(operator, 'cloud-atlas', DESKTOP);
  t.after(() => page.context().close());
  const lacks = store.getByRole('region', { name: 'Not everything will work here' });
  for (const command of [
    'PLATFORM_INTELLIGENCE_FILE',
    'PLATFORM_OBJECT_STORE_ENDPOINT',
    'PLATFORM_RUNTIME_DRIVER=docker',
  ])
    await lacks.getByText(command).waitFor();
  await look(page, 'desktop', 'cannot-work-operator', [lacks]);
});

test('what no machine can run is not installed', async (t) => {
  const { page, store } = await openInStore(guest, 'whale', DESKTOP);
  t.after(() => page.context().close());
  await store.getByText('Whale can’t be installed here').waitFor();
  await store.getByRole('button', { name: 'Install Whale' }).click();
  const prompt = page.getByRole('dialog');
  await prompt.getByText(/needs 64 GiB of memory, and the largest machine gives backends 1 GiB/).waitFor();
  const install = prompt.getByRole('button', { name: 'Install', exact: true });
  assert.equal(await install.getAttribute('aria-disabled'), 'true');
  await look(page, 'desktop', 'cannot-work-blocked', [prompt]);
  // Core would refuse it too.
  const answer = await guest.fetch('/v1/apps', { body: { appId: 'whale' } });
  assert.equal(answer.status, 503, answer.text);
});
