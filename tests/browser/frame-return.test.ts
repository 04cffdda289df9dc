// What an app finds when the person comes back to it: its place, what it asked the shell to keep, and new launch data,
// also where it reloads itself or goes to another of its pages. Nothing of it leads elsewhere or to anybody else.
import { strict as assert } from 'node:assert';
import { readFile } from 'node:fs/promises';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import type { App, PlatformError } from '@platform/sdk/browser';
import { buildSdk } from '@platform/sdk/build';
import type { Browser, BrowserContext, Frame, Page } from 'playwright-core';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { until } from '../support/wait.ts';
import { DESKTOP, launchBrowser, pressAway, tileOf } from './browser.ts';
import { signedInContext, signInto } from './signed-in.ts';

/** What the pages of the apps offer to `frame.evaluate`. */
declare const app: App;
declare const codeOf: (work: Promise<unknown>) => Promise<string>;

const SCRIPT = `
import { App } from './platform-sdk.js';
const connecting = App.connect();
// As a router does, which reads the address before anything was answered.
globalThis.begunAt = location.pathname + location.search + location.hash;
globalThis.codeOf = (work) => work.then(() => 'no refusal', (error) => error.code);
globalThis.app = await connecting;
`;
const html = (title: string) =>
  `<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1><script type="module" src="/page.js"></script></html>`;

const MAY_BE_HOME = { id: 'apps.launcher.register', resources: ['self'] };

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;
let account: TestAccount;
let context: BrowserContext;
let page: Page;

before(async () => {
  place = await platformPlace();
  platform = await startPlatform(place);
  account = await registerAccount(platform, 'traveller');
  const files = {
    'frontend/index.html': html('Start'),
    'frontend/second.html': html('Second'),
    'frontend/page.js': SCRIPT,
    'frontend/platform-sdk.js': await readFile((await buildSdk()).browser),
  };
  for (const appId of ['wanderer', 'neighbour']) {
    await publishTestApp(account, appId, { permissions: [MAY_BE_HOME] }, files);
    await install(appId);
  }
  await install('notes');
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

beforeEach(async () => {
  context = await signedInContext({ browser, platform, account }, DESKTOP);
  page = await context.newPage();
  await page.goto(platform.origin);
  await page.locator('iframe[title="Launcher"]').waitFor();
});
afterEach(() => context.close());

function install(appId: string): Promise<unknown> {
  return account.browser.take('/v1/apps', { body: { appId } });
}

/** Comes to the app in front and waits until it is connected. */
async function go(appId: string): Promise<Frame> {
  await page.evaluate((address) => {
    location.hash = address;
  }, `#/app/${appId}`);
  return await connected(appId);
}

async function connected(appId: string): Promise<Frame> {
  const frame = await (await page.locator(`iframe[title="${appId}"]`).elementHandle())?.contentFrame();
  assert.ok(frame);
  await frame.waitForFunction(() => 'app' in globalThis);
  return frame;
}

async function goHome(): Promise<void> {
  await page.getByRole('button', { name: 'Home' }).click();
  await page.locator('iframe[title="Launcher"]').waitFor();
}

function openFromHome(name: string): Promise<void> {
  const tile = tileOf(page, name);
  return pressAway(tile, page.locator(`iframe[title="${name}"]`));
}

const addressIn = (frame: Frame) => frame.evaluate(() => location.pathname + location.search + location.hash);
const begunAt = (frame: Frame) => frame.evaluate('begunAt');
const answers = (frame: Frame) => frame.evaluate(async () => (await app.bridge.call('context.get')).appId);
const kept = () =>
  page.evaluate(() =>
    Object.entries(sessionStorage)
      .filter(([key]) => key.startsWith('platform.kept.'))
      .map(([key, text]) => `${key.slice('platform.kept.'.length)} ${JSON.parse(text).value}`)
      .sort(),
  );
/** The SDK reports a place soon, and the shell writes it down. */
const untilPlace = (appId: string, where: string) =>
  until(`the place ${where}`, async () => (await kept()).includes(`place.${appId} ${where}`));

for (const [how, where, move] of [
  ['pushed a path', '/rooms/7?x=1&y=2#door', () => history.pushState(null, '', '/rooms/7?x=1&y=2#door')],
  ['replaced its query', '/?filter=a%20b', () => history.replaceState(null, '', '?filter=a b')],
  [
    'routes by its fragment',
    '/#/notes/1&2?page=3',
    () => {
      location.hash = '#/notes/1&2?page=3';
    },
  ],
  [
    'went back in its history',
    '/one',
    () => {
      history.pushState(null, '', '/one');
      history.pushState(null, '', '/two');
      history.back();
    },
  ],
] as const) {
  test(`an app that ${how} is there again when the person comes back, and after a reload of the whole page`, async () => {
    const frame = await go('wanderer');
    await frame.evaluate(move);
    await untilPlace('wanderer', where);
    await goHome();
    await until('the end of its document', () => page.frames().length === 2);
    const back = await go('wanderer');
    assert.deepEqual([await addressIn(back), await begunAt(back)], [where, where]);
    assert.equal(await answers(back), 'wanderer');
    await page.reload();
    const reloaded = await connected('wanderer');
    assert.equal(await addressIn(reloaded), where);
    assert.equal(await answers(reloaded), 'wanderer');
  });
}

test('a page without launch data gets new ones: after a reload, and on another page of the app', async () => {
  const frame = await go('wanderer');
  await frame.evaluate(() => location.assign('/second.html?from=start')).catch(() => {});
  await frame.waitForFunction(() => document.title === 'Second' && 'app' in globalThis);
  assert.equal(await answers(frame), 'wanderer');
  await frame.evaluate(() => location.reload()).catch(() => {});
  await frame.waitForFunction(() => performance.getEntriesByType('navigation')[0]?.toJSON().type === 'reload');
  await frame.waitForFunction(() => 'app' in globalThis);
  assert.equal(await answers(frame), 'wanderer');
  assert.equal(await addressIn(frame), '/second.html?from=start');
  assert.equal(await frame.evaluate(() => sessionStorage.length + localStorage.length), 0);
});

test('an app that was closed begins anew, with what it asked to keep', async () => {
  const frame = await go('wanderer');
  await frame.evaluate(() => app.state.set({ draft: 'Milk' }));
  await frame.evaluate(() => history.pushState(null, '', '/rooms/8'));
  await untilPlace('wanderer', '/rooms/8');
  await page.getByRole('button', { name: 'Close wanderer' }).click();
  const again = await go('wanderer');
  assert.equal(await addressIn(again), '/');
  assert.deepEqual(await again.evaluate(() => app.state.get()), { draft: 'Milk' });
});

test('a place where nothing of the app is any more is forgotten', async () => {
  const frame = await go('wanderer');
  await frame.evaluate(() => history.pushState(null, '', '/reports/march.pdf'));
  await untilPlace('wanderer', '/reports/march.pdf');
  await goHome();
  await page.evaluate(() => {
    location.hash = '#/app/wanderer';
  });
  await page.frameLocator('iframe[title="wanderer"]').getByRole('heading', { name: 'Start' }).waitFor();
  assert.equal(await addressIn(await connected('wanderer')), '/');
});

test('a place that would lead elsewhere is refused, and changes nothing', async () => {
  const frame = await go('wanderer');
  await frame.evaluate(() => history.pushState(null, '', '/rooms/9'));
  await untilPlace('wanderer', '/rooms/9');
  const { origin } = new URL(frame.url());
  const neighbour = await go('neighbour');
  const strange = [
    '//evil.example/',
    '/\\evil.example/',
    'https://evil.example/',
    'javascript:alert(1)',
    '/#platform=eyJhcGkiOiJodHRwczovL2V2aWwuZXhhbXBsZSJ9',
    '/\n/evil.example',
    `/${'a'.repeat(2_048)}`,
    `${origin}/rooms/10`,
  ];
  for (const where of strange) {
    const code = await neighbour.evaluate((to) => codeOf(app.bridge.call('place.set', { place: to })), where);
    assert.equal(code, 'invalid_request', where);
  }
  const forAnother = await neighbour.evaluate(() =>
    codeOf(app.bridge.request('place.set', { place: '/rooms/11', appId: 'wanderer' }, {})),
  );
  assert.equal(forAnother, 'invalid_request');
  await untilPlace('neighbour', '/');
  const places = (await kept()).filter((line) => /^place\.(?:neighbour|wanderer) /.test(line));
  assert.deepEqual(places, ['place.neighbour /', 'place.wanderer /rooms/9']);
  // Launch data in the address of a page are no place of it.
  await neighbour.evaluate(() => history.pushState(null, '', '/here#platform=eyJ9'));
  await neighbour.evaluate(() => app.bridge.call('context.get'));
  await goHome();
  assert.equal(await addressIn(await go('neighbour')), '/');
  assert.equal(await addressIn(await go('wanderer')), '/rooms/9');
});

test('places are written down so often and no more, and the last one of a moving app counts', async () => {
  const frame = await go('wanderer');
  const codes = await frame.evaluate(async () => {
    const calls = Array.from({ length: 60 }, (_, number) =>
      codeOf(app.bridge.call('place.set', { place: `/flood/${number}` })),
    );
    return Promise.all(calls);
  });
  assert.ok(codes.includes('rate_limited'));
  assert.ok(codes.filter((code) => code === 'no refusal').length <= 50);
  const other = await go('neighbour');
  await other.evaluate(() => {
    for (let step = 0; step <= 90; step += 1) history.replaceState(null, '', `/steps/${step}`);
  });
  await untilPlace('neighbour', '/steps/90');
});

test('an app keeps 64 KiB exactly, and finds them again; one byte more is refused', async () => {
  const frame = await go('wanderer');
  const outcome = await frame.evaluate(async () => {
    const fits = 'x'.repeat(64 * 1024 - 2);
    await app.state.set(fits);
    const refusals = await Promise.all([
      codeOf(app.state.set(`${fits}x`)),
      codeOf(app.state.set('ü'.repeat(32 * 1024))),
      codeOf(app.state.set('x'.repeat(5_000_000))),
    ]);
    return { refusals, same: (await app.state.get()) === fits };
  });
  assert.deepEqual(outcome, { refusals: Array(3).fill('payload_too_large'), same: true });
  await goHome();
  const back = await go('wanderer');
  assert.equal(await back.evaluate(async () => (await app.state.get<string>())?.length), 64 * 1024 - 2);
  // As many values as fit are as good as one long text.
  await back.evaluate(() => app.state.set(Array.from({ length: 30_000 }, () => 1)));
  assert.equal(await back.evaluate(async () => (await app.state.get<number[]>())?.length), 30_000);
  const neighbour = await go('neighbour');
  assert.equal(await neighbour.evaluate(() => app.state.get()), null);
  await neighbour.evaluate(() => app.state.set(null));
  assert.deepEqual(
    (await kept()).filter((line) => line.startsWith('state.neighbour')),
    [],
  );
});

test('what is no JSON is refused by the SDK or by the shell, and nothing is kept of it', async () => {
  const frame = await go('neighbour');
  const refusals = await frame.evaluate(async () => {
    const raw = (params: unknown) =>
      app.bridge.request('state.set', params, {}).catch((error: PlatformError) => error.code);
    return Promise.all([raw({ json: '{' }), raw({ json: { a: 1 } }), raw({ json: '1', appId: 'wanderer' }), raw({})]);
  });
  assert.deepEqual(refusals, Array(4).fill('invalid_request'));
  assert.equal(await frame.evaluate(() => app.state.get()), null);
});

test('what was kept goes with the installation', async () => {
  const frame = await go('neighbour');
  await frame.evaluate(() => app.state.set('of the first installation'));
  await goHome();
  await account.browser.fetch('/v1/apps/neighbour', { method: 'DELETE' });
  await until('the end of what was kept', async () => !(await kept()).join().includes('neighbour'));
  await install('neighbour');
  await openFromHome('neighbour');
  assert.equal(await (await connected('neighbour')).evaluate(() => app.state.get()), null);
});

test('nothing is left after signing out, nor for another account in the same tab', async () => {
  const frame = await go('wanderer');
  await frame.evaluate(() => app.state.set('mine'));
  await untilPlace('wanderer', '/');
  const other = await registerAccount(platform, `other-${Date.now()}`);
  await other.browser.take('/v1/apps', { body: { appId: 'wanderer' } });
  // The page is loaded anew when another window of the browser signs in.
  await signInto(context, platform, other);
  await page.getByRole('button', { name: `Account ${other.name}` }).waitFor();
  const theirs = await connected('wanderer');
  assert.equal(await theirs.evaluate(() => app.state.get()), null);
  await theirs.evaluate(() => app.state.set('theirs'));
  await page.getByRole('button', { name: `Account ${other.name}` }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You are signed out.').waitFor();
  assert.deepEqual(await kept(), []);
});

test('a note that was not saved yet is there when the person comes back to Notes', async () => {
  await page.evaluate(() => {
    location.hash = '#/app/notes';
  });
  const notes = page.frameLocator('iframe[title="Notes"]');
  const save = notes.getByRole('button', { name: 'Save note' });
  await notes.locator('button:enabled').first().waitFor();
  await notes.getByLabel('New note').fill('Buy milk, and');
  await until('the draft', async () => (await kept()).includes('state.notes "Buy milk, and"'));
  await goHome();
  await page.evaluate(() => {
    location.hash = '#/app/notes';
  });
  await notes.locator('button:enabled').first().waitFor();
  assert.equal(await notes.getByLabel('New note').inputValue(), 'Buy milk, and');
  await save.click();
  await notes.getByText('Saved.').waitFor();
  assert.deepEqual(
    (await kept()).filter((line) => line.startsWith('state.notes')),
    [],
  );
});

test('the Store comes back with its filter', async () => {
  await openFromHome('Store');
  const filter = page.frameLocator('iframe[title="Store"]').getByRole('searchbox', { name: 'Find an app' });
  await filter.fill('wander');
  await until(
    'the filter',
    async () =>
      (await kept()).includes('state.store {"filter":"wander"}') || (await kept()).join().includes('state.store'),
  );
  await goHome();
  await openFromHome('Store');
  await filter.waitFor();
  assert.equal(await filter.inputValue(), 'wander');
});

test('the home screen is the account’s: other browsers follow, and an app or the message gives the place back', async () => {
  const other = await signedInContext({ browser, platform, account }, DESKTOP);
  const elsewhere = await other.newPage();
  await elsewhere.goto(platform.origin);
  const homeThere = (title: string) => elsewhere.locator(`iframe[title="${title}"]`).waitFor();
  await homeThere('Launcher');
  const call = (frame: Frame, method: 'launcher.register' | 'launcher.restore') =>
    frame.evaluate((name) => app.bridge.call(name), method);
  await call(await go('wanderer'), 'launcher.register');
  await page.getByText('wanderer is now your home screen').waitFor();
  await homeThere('wanderer');
  await elsewhere.reload();
  await homeThere('wanderer');
  // Another app may give the place back, and the person may keep what they had.
  await call(await go('neighbour'), 'launcher.restore');
  await homeThere('Launcher');
  await page.getByRole('button', { name: 'Keep wanderer' }).click();
  await homeThere('wanderer');
  await page.evaluate(() => {
    location.hash = '#/settings/apps/wanderer';
  });
  await page.getByRole('button', { name: 'Use Launcher as home again' }).click();
  await homeThere('Launcher');
  await other.close();
});
