// The examples Reading List and Tool Bench as a person meets them, in real Chromium against a whole platform: one app calls the tools of the
// other from its page and from its backend, and a page of an author connects with the official client.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { rolldown } from 'rolldown';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { publishExample } from '../support/publish.ts';
import { type DESKTOP, DEVICES, launchBrowser, type PHONE } from './browser.ts';
import { look } from './look.ts';
import { signedInContext } from './signed-in.ts';

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;
let account: TestAccount;

/** As the page of an author who bundles the official client. */
const CONNECTED = `
  import { App } from './platform-sdk.js';
  const app = await App.connect();
  const tools = await app.mcp(import('./client.js'));
  const { content } = await tools.callTool({ name: 'reading-list.add', arguments: { title: 'By the official client' } });
  const refused = await app.mcp(import('./client.js'), { app: 'nobody' }).catch(({ code }) => code);
  document.body.textContent = content[0].text + refused;
`;

async function officialClient(): Promise<string> {
  const input = '@modelcontextprotocol/client';
  const bundle = await rolldown({ input, platform: 'browser', logLevel: 'silent', cwd: import.meta.dirname });
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false, minify: true });
  await bundle.close();
  return output[0].code;
}

before(async () => {
  place = await platformPlace({ PLATFORM_RUNTIME_DRIVER: 'process' });
  [platform, browser] = await Promise.all([startPlatform(place), launchBrowser()]);
  account = await registerAccount(platform, 'reader');
  await publishExample(account, 'connected', {
    example: 'tool-bench',
    change: () => ({ name: 'Connected', workload: undefined, frontend: { entry: 'connected.html' } }),
    more: {
      'frontend/connected.html':
        '<!doctype html><title>Connected</title><script type="module" src="connected.js"></script>',
      'frontend/connected.js': CONNECTED,
      'frontend/client.js': await officialClient(),
    },
  });
  for (const appId of ['tool-bench', 'connected']) await account.browser.take('/v1/apps', { body: { appId } });
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

async function open(viewport: typeof PHONE | typeof DESKTOP, appId: string, name: string) {
  const context = await signedInContext({ browser, platform, account }, viewport);
  const page = await context.newPage();
  await page.goto(`${platform.origin}/#/app/${appId}`);
  return { context, page, app: page.frameLocator(`iframe[title="${name}"]`) };
}

test('before there are tools, Tool Bench says what to install', async (t) => {
  const [[device, viewport] = assert.fail()] = DEVICES;
  const { context, page, app } = await open(viewport, 'tool-bench', 'Tool Bench');
  t.after(() => context.close());
  await app.getByText('Install Reading List').waitFor();
  await look(page, device, 'tool-bench-none');
  await account.browser.take('/v1/apps', { body: { appId: 'reading-list' } });
});

for (const [device, viewport] of DEVICES)
  test(`on a ${device} the tools of an app are called from the page and the backend of another`, async (t) => {
    const { context, page, app } = await open(viewport, 'tool-bench', 'Tool Bench');
    t.after(() => context.close());
    await app.getByLabel('Tool', { exact: true }).selectOption({ label: 'Add to the reading list' });
    await app.getByText('[reading-list says:] Adds something to read').waitFor();
    const given = app.getByLabel('Arguments, as JSON');
    assert.equal(await given.inputValue(), '{\n  "title": ""\n}');
    await given.fill(JSON.stringify({ title: `From a page on a ${device}`, url: 'https://example.org/' }));
    await app.getByRole('button', { name: 'Call it from this page' }).click();
    await app.getByText('Done.').waitFor();
    await app.getByText(`"title": "From a page on a ${device}"`).waitFor();
    await look(page, device, 'tool-bench');
    await given.fill(JSON.stringify({ title: `<b>From a backend</b> of a ${device}` }));
    await app.getByRole('button', { name: 'Call it from the backend' }).focus();
    await page.keyboard.press('Enter');
    await app.getByText(`"title": "<b>From a backend</b> of a ${device}"`).waitFor();
    await given.fill('{ "title": 3 }');
    for (const from of ['this page', 'the backend']) {
      await app.getByRole('button', { name: `Call it from ${from}` }).click();
      await app.getByText(/Invalid arguments/).waitFor();
    }
    await given.fill('{');
    await app.getByRole('button', { name: 'Call it from this page' }).click();
    await app.getByText('The arguments are not JSON.').waitFor();

    await page.goto(`${platform.origin}/#/app/reading-list`);
    const list = page.frameLocator('iframe[title="Reading List"]');
    const [newest, before] = [list.locator('li').nth(0), list.locator('li').nth(1)];
    await newest.getByText(`<b>From a backend</b> of a ${device}`).waitFor();
    await newest.getByText(/added by tool-bench/).waitFor();
    await before.getByRole('link', { name: `From a page on a ${device}` }).waitFor();
    await list.getByLabel('What to read').fill('By hand');
    await list.getByRole('button', { name: 'Add', exact: true }).click();
    await newest.getByText('By hand').waitFor();
    await look(page, device, 'reading-list');
    await newest.getByRole('button', { name: 'Remove By hand' }).click();
    await newest.getByText('From a backend').waitFor();
  });

test('a page connects with the official client, across origins', async (t) => {
  const [[, viewport] = assert.fail()] = DEVICES;
  const { context, app } = await open(viewport, 'connected', 'Connected');
  t.after(() => context.close());
  await app.getByText(/"title":"By the official client".*"addedBy":"connected".*not_found$/).waitFor();
});
