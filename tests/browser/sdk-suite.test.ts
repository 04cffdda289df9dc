// The suite of the SDK in Chromium, from the files of its package. A page that Chromium takes for the Gateway's own plays the
// backend, because a browser calls no Gateway otherwise; the part for pages runs in the frame of an app in sdk.test.ts.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { bundleSdk } from '@platform/sdk/pack';
import type { Browser, Page } from 'playwright-core';
import { allCases, type CaseResult, type Place } from '../sdk/suite/run.ts';
import { bundleSuite, type SuiteWorld, startSuiteWorld } from '../support/sdk-suite.ts';
import { launchBrowser } from './browser.ts';

let folder = '';
let world: SuiteWorld;
let browser: Browser;
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'sdk-chromium-'));
  await bundleSdk(folder);
  world = await startSuiteWorld();
  // Chromium does not know that the page, which the test answers itself, is as local as what it calls.
  browser = await launchBrowser(['--disable-features=LocalNetworkAccessChecks']);
});
after(async () => {
  await browser?.close();
  await world?.close();
  await rm(folder, { recursive: true, force: true });
});

const PAGE = `<!doctype html><html lang="en"><title>Suite</title>
<script type="importmap">{ "imports": { "@platform/sdk": "/suite/workload.js" } }</script>
<script type="module">globalThis.suite = await import('/suite/suite.js');</script>`;

/** Puts the page and its modules beside what the Gateway serves. */
async function openSuite(page: Page, origin: string): Promise<void> {
  const suite = await bundleSuite();
  await page.route(`${origin}/suite/**`, async (route) => {
    const name = path.basename(new URL(route.request().url()).pathname);
    if (name === 'page.html') return route.fulfill({ contentType: 'text/html', body: PAGE });
    const body = name === 'suite.js' ? suite : await readFile(path.join(folder, name), 'utf8');
    return route.fulfill({ contentType: 'text/javascript', body });
  });
  await page.goto(`${origin}/suite/page.html`);
  await page.waitForFunction(() => 'suite' in globalThis);
}

declare const suite: typeof import('../sdk/suite/run.ts');

test('in Chromium the SDK keeps every promise of its suite', async () => {
  const { environment, misbehaving } = await world.open();
  const page = await browser.newPage();
  await openSuite(page, environment.PLATFORM_API_URL);
  const place: Place = {
    apiUrl: environment.PLATFORM_API_URL,
    gatewayToken: environment.PLATFORM_GATEWAY_TOKEN,
    misbehaving,
  };
  const results: CaseResult[] = await page.evaluate((one) => suite.runSuite(one), place);
  assert.deepEqual(
    results.filter(({ failure }) => failure !== undefined),
    [],
  );
  assert.deepEqual(
    results.map(({ name }) => name),
    Object.keys(allCases()),
  );
});
