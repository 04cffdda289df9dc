// The SDK for frontends in a real app frame of a real browser: the launch, the reload, the bridge, the way to the
// backend; and the suite of tests/sdk, which runs in Node too.
import { strict as assert } from 'node:assert';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { planPackage, writePackage } from '@platform/cli/packaging';
import { limits, type SearchResult } from '@platform/contract';
import type { App, PlatformError, ServicesApp } from '@platform/sdk/browser';
import { buildSdk } from '@platform/sdk/build';
import { bundleSdk } from '@platform/sdk/pack';
import type { Browser, Download, Frame, Page } from 'playwright-core';
import { serviceCases, withTopic } from '../sdk/suite/notification-cases.ts';
import { registerAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { DESKTOP, launchBrowser, newPerson, noDialog, pressInPrompt } from './browser.ts';
import { openInOwnTab } from './own-tab.ts';

/** What the page of the test app offers to `frame.evaluate`. */
interface TestPage {
  readonly app: App;
  readonly heard: { readonly event: string; readonly data: unknown }[];
  runCase(name: string): Promise<string>;
  codeOf(work: Promise<unknown>): Promise<string>;
}
declare const sdkTest: TestPage;

const MANIFEST = {
  schemaVersion: 9,
  id: 'sdk-page',
  version: '1.0.0',
  name: 'SDK page',
  summary: 'Runs what the SDK promises in a frame.',
  frontend: { entry: 'index.html' },
  workload: { runtime: 'node', entry: 'server.mjs' },
  permissions: [
    ...withTopic('imports'),
    { id: 'apps.catalog.read', resources: ['sdk-page'] },
    { id: 'apps.launcher.register', resources: ['self'] },
  ],
};
const PAGE = `<!doctype html><html lang="en"><title>SDK</title><script type="module" src="page.js"></script>`;
const SCRIPT = `
import { App } from './platform-sdk.js';
import { serviceCases } from './cases.js';
const app = await App.connect();
const heard = [];
for (const event of ['context', 'target', 'notification', 'apps']) app.on(event, (data) => heard.push({ event, data }));
const plain = (value) => JSON.stringify(value, (_key, one) => one === undefined ? null : one);
globalThis.sdkTest = {
  app,
  heard,
  codeOf: (work) => work.then(() => 'no refusal', (error) => error.code),
  async runCase(name) {
    const equal = (actual, expected) => {
      if (plain(sorted(actual)) !== plain(sorted(expected))) throw new Error(plain(actual) + ' is not ' + plain(expected));
    };
    try {
      await serviceCases[name]({ notifications: app.notifications(), equal });
      return 'kept';
    } catch (error) {
      return String(error);
    }
  },
};
function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
}
`;
/** Answers with what it was sent, and in pieces on request. */
const SERVER = `
const { createServer } = process.getBuiltinModule('node:http');
createServer(async (request, response) => {
  if (request.url.startsWith('/refuse')) {
    response.writeHead(422, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ code: 'too_blue', detail: 'This is too blue.' }));
    return;
  }
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk;
  const { method, url, headers } = request;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ method, url, body, authorization: headers.authorization ?? null, cookie: headers.cookie ?? null }));
}).listen(process.env.PORT);
`;

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;
let page: Page;
let folder = '';

before(async () => {
  place = await platformPlace();
  platform = await startPlatform(place);
  folder = await mkdtemp(path.join(tmpdir(), 'sdk-page-'));
  await publish();
  browser = await launchBrowser();
  ({ page } = await newPerson(browser, DESKTOP));
  await page.goto(platform.origin);
  await page.getByLabel('Account name').fill('frame-user');
  await page.getByRole('button', { name: /^Create account/ }).click();
  await page.locator('iframe').waitFor();
  await page.evaluate(async (appId) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch('/v1/apps', { method: 'POST', headers, body: JSON.stringify({ appId }) });
    if (answer.status !== 201) throw new Error(await answer.text());
  }, MANIFEST.id);
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
  await rm(folder, { recursive: true, force: true });
});

/** The example of the documentation that begins so, as it stands there. */
async function documented(beginning: string): Promise<string> {
  const text = await readFile(new URL('../../docs/app-authors.md', import.meta.url), 'utf8');
  const example = text.split('```js\n').find((block) => block.startsWith(beginning));
  assert.ok(example !== undefined, beginning);
  return example.slice(0, example.indexOf('```'));
}

async function publish(): Promise<void> {
  const cases = await readFile(new URL('../sdk/suite/notification-cases.ts', import.meta.url), 'utf8');
  const files = {
    'manifest.json': JSON.stringify(MANIFEST),
    'frontend/index.html': PAGE,
    'frontend/page.js': SCRIPT,
    'frontend/packed.html': PAGE.replace('page.js', 'packed.js'),
    'frontend/packed.js': SCRIPT.replace('./platform-sdk.js', './packed/browser.js'),
    'frontend/cases.js': stripTypeScriptTypes(cases),
    'frontend/example.js': `${await documented('import { App }')}\nexport { apps, read, sent, unread };`,
    'workload/server.mjs': SERVER,
  };
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), content);
  }
  await bundleSdk(path.join(folder, 'frontend/packed'));
  const plan = await planPackage({ folder, sdk: await buildSdk() });
  const { path: file } = await writePackage(plan, path.join(folder, 'package.tgz'));
  const publisher = await registerAccount(platform, 'publisher');
  const answer = await publisher.fetch(`/v1/catalog/${MANIFEST.id}/versions/${MANIFEST.version}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/gzip' },
    body: await readFile(file),
  });
  assert.equal(answer.status, 201, answer.text);
}

/** Where apps reach the platform's services. */
const services = () => `http://services.apps.platform.localhost:${new URL(platform.origin).port}`;

/** The frame of the app, connected, with the page at this address. */
async function openApp(): Promise<Frame> {
  await page.goto(`${platform.origin}/#/app/${MANIFEST.id}`);
  return connectedFrame();
}

async function connectedFrame(): Promise<Frame> {
  const element = await page.locator(`iframe[title="${MANIFEST.name}"]`).elementHandle();
  const frame = await element?.contentFrame();
  assert.ok(frame);
  await frame.waitForFunction(() => 'sdkTest' in globalThis);
  return frame;
}

test('the launch capability is gone from the address when the app is connected', async () => {
  const frame = await openApp();
  const address = new URL(await frame.evaluate(() => location.href));
  assert.equal(address.hash, '');
  assert.match(address.hostname, /^sdk-page--[a-z0-9]+\.apps\.platform\.localhost$/);
  assert.equal(await frame.evaluate(() => sdkTest.app.appId), MANIFEST.id);
});

test('the context names the app and its grants, and not the account without that grant', async () => {
  const frame = await openApp();
  const context = await frame.evaluate(() => ({ ...sdkTest.app.context }));
  assert.equal(context.appId, MANIFEST.id);
  assert.deepEqual(context.capabilities, MANIFEST.permissions);
  assert.equal(context.accountName, undefined);
});

for (const name of Object.keys(serviceCases)) {
  test(`in a frame too, ${name}`, async () => {
    const frame = await openApp();
    assert.equal(await frame.evaluate((one) => sdkTest.runCase(one), name), 'kept');
  });
}

test('the page entry of the SDK’s package keeps the same promises in a frame', async (t) => {
  const frame = await openApp();
  // The app comes back where it was left.
  t.after(() => frame.evaluate(() => location.assign('/')).then(() => frame.waitForURL(/\/$/)));
  await frame.evaluate(() => location.assign('/packed.html')).catch(() => {});
  await frame.waitForURL(/\/packed\.html$/);
  await frame.waitForFunction(() => 'sdkTest' in globalThis);
  for (const name of Object.keys(serviceCases))
    assert.equal(await frame.evaluate((one) => sdkTest.runCase(one), name), 'kept', name);
  const { method } = await frame.evaluate(() => sdkTest.app.backend.json<{ method: string }>('/packed'));
  assert.equal(method, 'GET');
});

test('what is sealed for the person opens again; what is no sealed text, or too much, is refused', async () => {
  const frame = await openApp();
  const found = await frame.evaluate(async () => {
    const { recipient } = sdkTest.app;
    const largest = crypto.getRandomValues(new Uint8Array(32 * 1024));
    const [text, bytes] = [await recipient.seal('Żółw 🐢'), await recipient.seal(largest)];
    const [first, second] = [await recipient.open(text), await recipient.open(bytes)];
    const changed = text.slice(0, -2) + (text.endsWith('AA') ? 'BA' : 'AA');
    return {
      state: await recipient.status(),
      text: new TextDecoder().decode(first),
      isSame: second.length === largest.length && second.every((byte, at) => byte === largest[at]),
      refused: [
        await sdkTest.codeOf(recipient.seal(new Uint8Array(32 * 1024 + 1))),
        await sdkTest.codeOf(recipient.open('Dear diary')),
        await sdkTest.codeOf(recipient.open(changed)),
      ],
    };
  });
  assert.deepEqual(found, {
    ...{ state: 'ready', text: 'Żółw 🐢', isSame: true },
    refused: ['invalid_request', 'invalid_request', 'invalid_request'],
  });
});

test('calls of the shell end with their signal and their time limit, also while a person decides', async () => {
  const frame = await openApp();
  const failures = await frame.evaluate(async () => {
    const { app, codeOf } = sdkTest;
    // First: while it waits for its person, another such question is refused.
    const limited = codeOf(app.openLink('https://outside.example/', { timeoutMilliseconds: 20 }));
    const ending = new AbortController();
    const { signal } = ending;
    const calls = [
      app.openLink('https://outside.example/', { signal }),
      app.apps.list({ signal }),
      app.search('milk', { signal }),
      app.state.get({ signal }),
      app.state.set(1, { signal }),
      app.backend.json('/', {}, { signal }),
      app.backend.fetch('/', { signal }),
      app.notifications().list({ signal }),
    ].map(codeOf);
    ending.abort({ code: 'changed my mind' });
    const late = codeOf(app.apps.return({ signal }));
    return [...(await Promise.all(calls)), await late, await limited];
  });
  assert.deepEqual(failures, [...Array(9).fill('changed my mind'), 'timed_out']);
  // The call ends, the question to the person stays.
  await page.getByRole('dialog', { name: 'Open outside.example?' }).waitFor();
  await page.reload();
});

test('mistakes of the page are errors with a code', async () => {
  const frame = await openApp();
  const codes = await frame.evaluate(async () => {
    const { app, codeOf } = sdkTest;
    return [
      await codeOf(app.backend.fetch('notes')),
      await codeOf(app.backend.json('https://elsewhere.example/')),
      await codeOf(app.bridge.request('chrome.set', { title: () => 'Notes' })),
      await codeOf(app.bridge.request('no.such.method', {})),
    ];
  });
  assert.deepEqual(codes.slice(0, 3), ['invalid_request', 'invalid_request', 'invalid_request']);
  assert.notEqual(codes[3], 'no refusal');
});

test('the backend answers, sees the request whole, and never the credential or a cookie', async () => {
  const frame = await openApp();
  const answer = await frame.evaluate(() => sdkTest.app.backend.json('/echo?q=1', { method: 'PUT', body: { a: 'ä' } }));
  assert.deepEqual(answer, { method: 'PUT', url: '/echo?q=1', body: '{"a":"ä"}', authorization: null, cookie: null });
  const text = await frame.evaluate(async () => (await sdkTest.app.backend.fetch('/plain')).json());
  assert.deepEqual([text.method, text.url], ['GET', '/plain']);
});

test('a refusal of the backend arrives with its own code and words', async () => {
  const frame = await openApp();
  const failure = await frame.evaluate(() =>
    sdkTest.app.backend
      .json('/refuse')
      .catch((error: PlatformError) => [error.name, error.code, error.status, error.message]),
  );
  assert.deepEqual(failure, ['PlatformError', 'too_blue', 422, 'This is too blue.']);
});

test('after a reload the app is connected again, by launch data that the shell gives it', async () => {
  const frame = await openApp();
  await frame.evaluate(() => location.reload()).catch(() => {});
  await frame.waitForFunction(() => performance.getEntriesByType('navigation')[0]?.toJSON().type === 'reload');
  await frame.waitForFunction(() => 'sdkTest' in globalThis);
  const { method } = await frame.evaluate(() => sdkTest.app.backend.json<{ method: string }>('/again'));
  assert.equal(method, 'GET');
  assert.equal(await frame.evaluate(() => sdkTest.codeOf(sdkTest.app.notifications().list())), 'no refusal');
});

test('a page whose capability made room for those of other tabs goes on, after one launch for all its calls', async () => {
  await openApp();
  // Core remembers for a minute whose capability it has seen.
  await page.reload();
  const frame = await connectedFrame();
  // As many as one session may have of an app, without their frames: the oldest, that of this page, ends.
  for (let tab = 0; tab < limits.frontendCapabilities.value + 1; tab += 1) {
    const capability = await page.evaluate(async (appId) => {
      const answer = await fetch(`/v1/apps/${appId}/launch`, { method: 'POST' });
      return (await answer.json()).frontendCapability;
    }, MANIFEST.id);
    const status = await frame.evaluate(
      async ([api, launched]) => {
        const headers = { 'content-type': 'application/json' };
        const body = JSON.stringify({ capability: launched });
        return (await fetch(`${api}/v1/frontend/exchange`, { method: 'POST', headers, body })).status;
      },
      [services(), capability],
    );
    assert.equal(status, 200);
  }
  const launches: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/launch')) launches.push(request.url());
  });
  const outcome = await frame.evaluate(async (streaming) => {
    const { app } = sdkTest;
    const calls = [app.notifications().list(), app.notifications().list(), app.listApps()];
    const streamed = await sdkTest.runCase(streaming);
    await Promise.all(calls);
    await app.notifications().readAll();
    return streamed;
  }, 'the live stream tells in order, ends with its signal, and continues where it is told');
  assert.equal(outcome, 'kept');
  assert.equal(launches.length, 1);
});

test('the bridge refuses what the grants do not cover, by code', async () => {
  const frame = await openApp();
  assert.equal(await frame.evaluate(() => sdkTest.codeOf(sdkTest.app.apps.uninstall('notes'))), 'grant_missing');
  assert.equal(await frame.evaluate(() => sdkTest.codeOf(sdkTest.app.apps.open('settings'))), 'grant_missing');
  assert.equal(await frame.evaluate(() => sdkTest.codeOf(sdkTest.app.apps.requestInstall('notes'))), 'grant_missing');
});

test('the example of a frontend in the documentation runs as it stands', async () => {
  const frame = await openApp();
  const { apps, read, sent, unread } = await frame.evaluate(() => import(`${location.origin}/example.js`));
  assert.deepEqual([sent.topic, sent.title], ['imports', 'Import done']);
  assert.deepEqual(unread, [sent]);
  assert.ok(read.id === sent.id && read.readAt !== null);
  assert.deepEqual(
    apps.map(({ appId, installed }: ServicesApp) => [appId, installed]),
    [['sdk-page', true]],
  );
});

test('the home screen searches for its person, as the documentation shows, and nobody else does', async (t) => {
  const frame = await openApp();
  assert.equal(await frame.evaluate(() => sdkTest.codeOf(sdkTest.app.search('settings'))), 'not_authorized');
  t.after(() => page.evaluate(() => localStorage.clear()));
  await frame.evaluate(() => sdkTest.app.bridge.call('launcher.register'));
  const example = (await documented('const { apps, items } = await app.search')).replace("'milk'", "'settings'");
  const { apps, items } = await frame.evaluate<SearchResult>(
    `(async (app) => { ${example}; return { apps, items }; })(sdkTest.app)`,
  );
  assert.deepEqual([apps.map(({ appId, name }) => [appId, name]), items], [[['settings', 'Settings']], []]);
  assert.match(apps[0]?.icon ?? '', /^\/v1\/catalog\/settings\/versions\/[^/]+\/icon$/);
});

test('a press on a link to a file of the app saves it, and one that the page handles itself is left alone', async () => {
  const frame = await openApp();
  await frame.evaluate(() => {
    for (const [text, name] of [
      ['handled', 'handled.js'],
      ['named', 'named.js'],
      ['bare', ''],
    ] as const) {
      const link = Object.assign(document.createElement('a'), { href: '/page.js', textContent: text, download: name });
      if (name === '') link.setAttribute('download', '');
      if (text === 'handled') link.addEventListener('click', (event) => event.preventDefault());
      document.body.append(link, document.createElement('br'));
    }
  });
  const saved: string[] = [];
  const keep = (download: Download) => saved.push(download.suggestedFilename());
  page.on('download', keep);
  await frame.getByText('handled').click();
  for (const [text, name] of [
    ['named', 'named.js'],
    ['bare', 'page.js'],
  ] as const) {
    const begun = page.waitForEvent('download');
    await frame.getByText(text).click();
    // The app was opened a moment ago, so the shell may ask.
    const dialog = page.getByRole('dialog', { name: 'Save a file?' });
    await Promise.race([begun, dialog.waitFor()]);
    if (await dialog.isVisible())
      await pressInPrompt(dialog.getByRole('button', { name: 'Save', exact: true }), noDialog(page));
    const download = await begun;
    assert.equal(download.suggestedFilename(), name);
    assert.match(await readFile(await download.path(), 'utf8'), /sdkTest/);
  }
  page.off('download', keep);
  assert.deepEqual(saved, ['named.js', 'page.js']);
});

test('a press on a link to another site asks through the shell, and the page stays', async () => {
  const frame = await openApp();
  await frame.evaluate(() => {
    const link = (href: string) => {
      const element = document.createElement('a');
      Object.assign(element, { href, textContent: href, target: '_blank' });
      document.body.append(element);
    };
    link('https://outside.example/help');
    link('https://kept.example/');
    link('http://plain.example/');
    document.body.lastElementChild?.previousElementSibling?.addEventListener('click', (event) =>
      event.preventDefault(),
    );
  });
  await frame.getByText('https://kept.example/').click();
  await frame.getByText('http://plain.example/').click();
  assert.equal(await page.getByRole('dialog').count(), 0, 'the page’s own handlers come first, and http does not open');
  for (const modifiers of [[], ['Control']] as const) {
    await frame.getByText('https://outside.example/help').click({ modifiers: [...modifiers] });
    await page.getByRole('dialog', { name: 'Open outside.example?' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
  assert.equal(page.context().pages().length, 1);
  assert.equal(await frame.evaluate(() => sdkTest.app.appId), MANIFEST.id);
  const code = await frame.evaluate(() => sdkTest.codeOf(sdkTest.app.openLink('http://plain.example/')));
  assert.equal(code, 'invalid_request');
});

test('the inventory of the platform is refused to an app without its grant', async () => {
  const frame = await openApp();
  assert.equal(await frame.evaluate(() => sdkTest.codeOf(sdkTest.app.system())), 'grant_missing');
});

test('the app hears of another theme', async () => {
  const frame = await openApp();
  await page.emulateMedia({ colorScheme: 'dark' });
  await frame.waitForFunction(() => sdkTest.app.context.theme === 'dark');
  assert.ok(await frame.evaluate(() => sdkTest.heard.some(({ event }) => event === 'context')));
  await page.emulateMedia({ colorScheme: 'light' });
  await frame.waitForFunction(() => sdkTest.app.context.theme === 'light');
});

test('in a tab of its own an app leads to the shell, and its page refuses launch data of the address', async () => {
  const frame = await openApp();
  const origin = await frame.evaluate(() => location.origin);
  const tab = await page.context().newPage();
  const made = Buffer.from(
    JSON.stringify({
      api: 'http://127.0.0.1:9',
      shell: 'http://127.0.0.1:9',
      capability: 'pfc_x',
      ticket: null,
      dataPlane: null,
    }),
  );
  const address = `${origin}/#platform=${made.toString('base64url')}`;
  await tab.goto(address);
  assert.equal(new URL(tab.url()).origin, new URL(page.url()).origin);
  assert.match(new URL(tab.url()).hash, /^#\/app\/[a-z-]+$/);
  // As for a browser that does not say where it shows a page.
  const failure = tab.waitForEvent('pageerror');
  await openInOwnTab(tab, address);
  assert.match(String(await failure), /Open this app inside the platform\./);
  await tab.close();
});

test('a capability that was used up is gone from the address, and the shell gives another', async () => {
  const frame = await openApp();
  const appId = await frame.evaluate(
    async (origins) => {
      // As if the browser restored an address of long ago, at a place of the app.
      const launch = { ...origins, capability: `pfc_${'A'.repeat(43)}`, ticket: null, dataPlane: null };
      history.replaceState(null, '', `#platform=${btoa(JSON.stringify(launch)).replaceAll('=', '')}&/chapter/2`);
      const { App: Fresh } = await import(`${location.origin}/platform-sdk.js?fresh`);
      return (await Fresh.connect()).appId;
    },
    { api: services(), shell: platform.origin },
  );
  assert.equal(appId, MANIFEST.id);
  assert.equal(await frame.evaluate(() => location.hash), '#/chapter/2');
});
