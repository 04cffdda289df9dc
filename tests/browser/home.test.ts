// Home and what stands in its place: removing what every account needs, and the way back; an app whose backend waits for
// a person. On a desktop and on a phone, with the mouse where only a mouse finds what covers a button.
import { strict as assert } from 'node:assert';
import { after, before, type TestContext, test } from 'node:test';
import type { WorkloadDetail } from '@platform/contract';
import type { Browser, Locator, Page } from 'playwright-core';
import { registerAccount, type TestAccount } from '../support/client.ts';
import {
  type PlatformPlace,
  type PlatformProcess,
  platformPlace,
  runCommand,
  startPlatform,
} from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { until } from '../support/wait.ts';
import { DESKTOP, DEVICES, launchBrowser, pressInPrompt, tileOf } from './browser.ts';
import { look } from './look.ts';
import { signedInContext } from './signed-in.ts';

const SERVER = `
  const http = process.getBuiltinModule('node:http');
  http.createServer((request, response) => response.end('here')).listen(Number(process.env.PORT));
`;
const BROKEN = `console.log('Reading recipes.db'); console.error('recipes.db is not a database'); process.exit(3);`;

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

async function install(account: TestAccount, appId: string, name: string, server?: string): Promise<void> {
  const page = `<!doctype html><html lang="en"><title>${name}</title><main><h1>${name} at work</h1></main></html>`;
  const workload = server === undefined ? {} : { workload: { runtime: 'node', entry: 'main.mjs' } };
  const files = {
    'frontend/index.html': page,
    ...(server === undefined ? {} : { 'workload/main.mjs': server }),
  };
  await publishTestApp(account, appId, { name, ...workload }, files);
  await account.browser.take('/v1/apps', { body: { appId } });
}

async function openShell(
  t: TestContext,
  account: TestAccount,
  viewport: { readonly width: number; readonly height: number },
  view = '',
): Promise<Page> {
  const context = await signedInContext({ browser, platform, account }, viewport);
  t.after(() => context.close());
  const page = await context.newPage();
  await page.goto(`${platform.origin}/${view}`);
  return page;
}

/** As a hand does it: on whatever is on top there. */
async function pressWithMouse(page: Page, target: Locator): Promise<void> {
  await target.scrollIntoViewIfNeeded();
  const box = await target.boundingBox();
  assert.ok(box !== null);
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
}

for (const [device, viewport] of DEVICES) {
  test(`what every account needs is not removed by accident, and the mouse finds the way back, on a ${device}`, async (t) => {
    const account = await registerAccount(platform, `remover-${device}`);
    const page = await openShell(t, account, viewport, '#/settings/apps/launcher');
    await page.getByRole('button', { name: 'Remove Launcher' }).click();
    const question = page.getByRole('dialog', { name: 'Remove Launcher?' });
    await question.getByText('Without Launcher, Home is a plain list of your apps.').waitFor();
    const remove = question.getByRole('button', { name: 'Remove Launcher' });
    assert.equal(await remove.getAttribute('aria-disabled'), 'true');
    await look(page, device, 'remove-launcher');
    const anyway = question.getByLabel('Remove this part of the platform anyway');
    await pressInPrompt(anyway, question.locator('input:checked'));
    await pressInPrompt(remove, page.getByText('Launcher is removed'));

    await page.getByRole('button', { name: 'Home', exact: true }).click();
    await page.getByText('Launcher, your home screen, was removed.').waitFor();
    await page.getByRole('button', { name: 'Dismiss' }).first().click();
    await look(page, device, 'plain-home');
    const plain = page.locator('.plain-home');
    await pressWithMouse(page, plain.getByRole('button', { name: 'Contacts' }));
    await page.frameLocator('iframe[title="Contacts"]').getByRole('heading', { name: 'Contacts', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Home', exact: true }).click();
    await pressWithMouse(page, plain.getByRole('button', { name: 'Install Launcher again' }));
    const review = page.getByRole('dialog', { name: /Launcher/ });
    await pressInPrompt(review.getByRole('button', { name: 'Install', exact: true }), tileOf(page, 'Store'));
  });

  test(`a removed Store comes back from where it would be, on a ${device}`, async (t) => {
    const account = await registerAccount(platform, `storeless-${device}`);
    await account.browser.take('/v1/apps/store', { method: 'DELETE' });
    const page = await openShell(t, account, viewport, '#/app/store');
    const again = page.getByRole('button', { name: 'Install Store again' });
    await again.waitFor();
    await look(page, device, 'store-removed');
    await pressWithMouse(page, again);
    const review = page.getByRole('dialog', { name: /Store/ });
    await pressInPrompt(
      review.getByRole('button', { name: 'Install', exact: true }),
      page.frameLocator('iframe[title="Store"]').getByRole('heading', { name: 'Store', level: 1 }),
    );
  });

  test(`an app that was stopped says by whom, and starts where it would be, on a ${device}`, async (t) => {
    const account = await registerAccount(platform, `stopper-${device}`);
    await install(account, `idler-${device}`, 'Idler', SERVER);
    const status = () => account.browser.take<{ state: string }>(`/v1/apps/idler-${device}/status`);
    await account.browser.take(`/v1/apps/idler-${device}/stop`, { body: {} });
    const page = await openShell(t, account, viewport, `#/app/idler-${device}`);
    const work = page.frameLocator('iframe[title="Idler"]').getByRole('heading', { name: 'Idler at work' });
    await page.getByRole('heading', { name: 'Idler is stopped' }).waitFor();
    await page.getByText('Stopped by you, just now. It stays stopped until you start it.').waitFor();
    assert.equal(await work.count(), 0);
    await look(page, device, 'stopped-app');
    await pressWithMouse(page, page.getByRole('button', { name: 'Start', exact: true }));
    await work.waitFor();
    assert.equal((await status()).state, 'running');

    await runCommand(['stop', `stopper-${device}/idler-${device}`], place.environment);
    await page.goto(`${platform.origin}/#/settings/apps/idler-${device}`);
    await page.getByText('Stopped by the operator').waitFor();
    await look(page, device, 'stopped-in-settings');
    await page.goto(`${platform.origin}/#/app/idler-${device}`);
    await page.getByText('Stopped by the operator, ').waitFor();
    // Its page may be of use without its backend.
    await page.getByRole('button', { name: 'Open it anyway' }).click();
    await work.waitFor();
    assert.equal((await status()).state, 'stopped');

    // What was started elsewhere opens by itself.
    await page.getByRole('button', { name: 'Home', exact: true }).click();
    await page.goto(`${platform.origin}/#/app/idler-${device}`);
    await page.getByRole('heading', { name: 'Idler is stopped' }).waitFor();
    await account.browser.take(`/v1/apps/idler-${device}/start`, { body: {} });
    await work.waitFor();
  });

  test(`an app that failed gives its reason and the end of its log, on a ${device}`, async (t) => {
    const account = await registerAccount(platform, `breaker-${device}`);
    const appId = `broken-${device}`;
    await install(account, appId, 'Recipes', BROKEN);
    const started = account.fetch(`/v1/apps/${appId}/start`, { body: {} });
    await until('its first start', async () => {
      const { state, restarts } = await account.browser.take<WorkloadDetail>(`/v1/apps/${appId}/status`);
      return state === 'starting' || restarts > 0;
    });
    // Opened while it is still tried: the shell follows it until it is given up.
    const page = await openShell(t, account, viewport, `#/app/${appId}`);
    await page.getByRole('heading', { name: 'Recipes failed' }).waitFor();
    await started;
    await page.getByRole('region', { name: 'End of the log of Recipes' }).getByText('is not a database').waitFor();
    await look(page, device, 'failed-app');
    await pressWithMouse(page, page.getByRole('button', { name: 'See its log' }));
    await page.getByRole('log', { name: 'Log of Recipes' }).waitFor();
  });
}

test('a stopped app stays closed where core says late that nothing is paused, and open where it says late that it is stopped', async (t) => {
  const account = await registerAccount(platform, 'late');
  await install(account, 'idler-late', 'Idler', SERVER);
  await account.browser.take('/v1/apps/idler-late/stop', { body: {} });
  const page = await openShell(t, account, DESKTOP, 'mark.svg');
  const stopped = page.getByRole('heading', { name: 'Idler is stopped', exact: true });
  const frame = page.locator('iframe[title="Idler"]');

  const status = page.waitForResponse((response) => response.url().endsWith('/v1/apps/idler-late/status'));
  await page.route('**/v1/runtime', async (route) => {
    await (await status).finished();
    await route.continue();
  });
  const launches: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/idler-late/launch')) launches.push(request.url());
  });
  await page.goto(`${platform.origin}/#/app/idler-late`);
  await stopped.waitFor();
  assert.deepEqual(launches, []);

  // A look that began before the person opened it all the same changes nothing any more.
  const asked = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  await page.route('**/v1/apps/idler-late/status', async (route) => {
    asked.resolve();
    await opened.promise;
    await route.continue();
  });
  await asked.promise;
  await page.getByRole('button', { name: 'Open it anyway', exact: true }).click();
  await frame.waitFor();
  const answered = page.waitForResponse((response) => response.url().endsWith('/v1/apps/idler-late/status'));
  opened.resolve();
  await (await answered).finished();
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  assert.equal(await frame.count(), 1);
});
