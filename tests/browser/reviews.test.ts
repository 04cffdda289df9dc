// What a person reviews is what holds, in a real browser: the outside origins and the backend's resources in the review of
// an installation and of an update, what the browser then lets the frontend reach, and a revocation. Pictures go to
// SCREENSHOT_DIR, by default screenshots/.
import { strict as assert } from 'node:assert';
import { after, before, test } from 'node:test';
import type { PermissionsView } from '@platform/contract';
import type { Browser, Frame, Locator, Page } from 'playwright-core';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import {
  BOTH_DEVICES,
  checkInPrompt,
  DESKTOP,
  DEVICES,
  FIRST_DEVICE,
  launchBrowser,
  noDialog,
  pressInPrompt,
  uncheckInPrompt,
} from './browser.ts';
import { look } from './look.ts';
import { signedInContext } from './signed-in.ts';

const API = 'https://api.weather.example';
const MAPS = 'https://maps.weather.example';
const TRACKER = 'https://tracker.example';
/** Looks like apple.com in the script it was registered in. */
const LOOKALIKE = 'https://xn--80ak6aa92e.com';

/** The page asks for everything in a policy of its own, which can only forbid more. */
const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src * 'unsafe-inline' 'unsafe-eval'; connect-src *; img-src *">
<title>Weather</title><main><h1>Weather</h1></main></html>`;
const SERVER = `
  const http = process.getBuiltinModule('node:http');
  http.createServer((request, response) => response.end('here')).listen(Number(process.env.PORT));
`;
const FILES = { 'frontend/index.html': PAGE, 'workload/main.mjs': SERVER };

const first = {
  name: 'Weather',
  summary: 'The forecast for where you are.',
  frontend: { entry: 'index.html', csp: { connect: [API], image: [MAPS] } },
  workload: {
    runtime: 'node',
    entry: 'main.mjs',
    volume: true,
    resources: { memoryMiB: 128, cpus: 0.5, diskMiB: 256 },
  },
  permissions: [
    { id: 'network.connect', resources: [API, MAPS], reason: 'Fetches the forecast and shows the map.' },
    { id: 'notifications.publish', resources: ['storms'], reason: 'Warns you of storms.' },
  ],
};
const second = {
  ...first,
  version: '2.0.0',
  frontend: { entry: 'index.html', csp: { connect: [API, TRACKER, LOOKALIKE], image: [MAPS] } },
  workload: {
    ...first.workload,
    mode: 'always',
    resources: { memoryMiB: 512, cpus: 2, diskMiB: 4_096 },
  },
  permissions: [
    { id: 'network.connect', resources: [API, MAPS, TRACKER, LOOKALIKE], reason: 'Fetches more.' },
    { id: 'notifications.publish', resources: ['storms'], reason: 'Warns you of storms.' },
    { id: 'search.index', resources: ['self'], reason: 'Finds places you looked at.' },
  ],
};

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;
let publisher: TestAccount;

before(async () => {
  place = await platformPlace({ PLATFORM_RUNTIME_DRIVER: 'process' });
  platform = await startPlatform(place);
  publisher = await registerAccount(platform, 'publisher');
  // Nothing leaves the machine: what the policy lets through is not found.
  browser = await launchBrowser(['--host-resolver-rules=MAP *.example ~NOTFOUND, MAP *.com ~NOTFOUND']);
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

/** Shows the app and gives its frame once the page of it is there. */
async function openWeather(page: Page): Promise<Frame> {
  await page.goto(`${platform.origin}/#/app/weather`);
  const iframe = page.locator('iframe[title="Weather"]');
  await page.frameLocator('iframe[title="Weather"]').getByRole('heading', { name: 'Weather' }).waitFor();
  const frame = await (await iframe.elementHandle())?.contentFrame();
  assert.ok(frame);
  return frame;
}

/** The rating of a review, or of the page of an app in Settings, and what is said below it. */
async function rates(place: Locator | Page, words: string, below?: string): Promise<void> {
  const rating = place.getByRole('region', { name: 'Security rating' });
  await rating.getByRole('status').filter({ hasText: words }).waitFor();
  if (below !== undefined) await rating.getByText(below, { exact: true }).first().waitFor();
}

/** What a press in the middle of it would reach. */
function isOnTop(part: Locator): Promise<boolean> {
  return part.evaluate((element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    const found = document.elementFromPoint(x + width / 2, y + height / 2);
    return found !== null && element.contains(found);
  });
}

/** What stops a request of the page: its policy, or that there is no such host. */
async function fateOf(page: Page, frame: Frame, origin: string, kind: 'connect' | 'image'): Promise<string> {
  const url = `${origin}/${kind}`;
  // Chromium reports a request that the policy forbids on the console alone: it never becomes one.
  const blocked = page.waitForEvent(
    'console',
    (message) => /violates/.test(message.text()) && message.text().includes(url),
  );
  const failed = page.waitForEvent('requestfailed', (request) => request.url() === url);
  const fate = Promise.any([
    blocked.then(() => 'blocked'),
    failed.then((request) => request.failure()?.errorText ?? 'failed'),
  ]);
  await frame.evaluate(
    ([address, how]) => {
      if (how === 'image') new Image().src = address;
      else fetch(address, { mode: 'no-cors' }).catch(() => undefined);
    },
    [url, kind] as const,
  );
  return fate;
}

const LET_THROUGH = 'net::ERR_NAME_NOT_RESOLVED';

// The phone comes after the desktop, to an app with two versions.
for (const [device, viewport] of BOTH_DEVICES) {
  test(`what is reviewed holds, on a ${device}`, async (t) => {
    const account = await registerAccount(platform, `${device}-user`);
    const context = await signedInContext({ browser, platform, account }, viewport);
    t.after(() => context.close());
    const page = await context.newPage();
    const snapshot = () => account.browser.take<PermissionsView>('/v1/apps/weather/permissions');
    let done = true;
    const step = (promise: string, work: () => Promise<void>) =>
      t.test(promise, async () => {
        assert.ok(done, 'a step before failed');
        done = false;
        await work();
        done = true;
      });

    await step('the review of an installation shows origins in large letters, and what the backend uses', async () => {
      if (device === 'desktop') await publishTestApp(publisher, 'weather', first, FILES);
      await page.goto(`${platform.origin}/#/app/store`);
      const store = page.frameLocator('iframe[title="Store"]');
      if (device === 'desktop') {
        await store.getByRole('button', { name: 'Weather', exact: true }).click();
        await store.getByText(API).waitFor();
        await look(page, device, 'reviews-store');
        await store.getByRole('button', { name: 'Install Weather' }).click();
        const review = page.getByRole('dialog', { name: 'Install Weather?' });
        await review.getByText(API).waitFor();
        const sizes = await Promise.all(
          [review.getByText(API), review.getByText('Send you notifications', { exact: true })].map((one) =>
            one.evaluate((element) => Number.parseFloat(getComputedStyle(element).fontSize)),
          ),
        );
        assert.ok((sizes[0] ?? 0) > (sizes[1] ?? 0), 'larger than what stands around it');
        for (const words of ['Runs only while it is used', 'Up to 128 MiB of memory', '256 MiB of data on the server'])
          await review.getByText(words).waitFor();
        assert.equal(await review.getByText('It requests no permissions').count(), 0);
        await rates(review, 'Security 3 of 5. Needs some trust.', 'It can exchange data with outside services.');
        await uncheckInPrompt(review.getByRole('checkbox', { name: 'Exchange data with outside services' }));
        await rates(review, 'Security 4 of 5. Needs a little trust.', 'With everything it asks for: 3 of 5.');
        await look(page, device, 'reviews-rating');
        await checkInPrompt(review.getByRole('checkbox', { name: 'Exchange data with outside services' }));
        await rates(review, 'Security 3 of 5. Needs some trust.');
        await review.getByText('Why 3 of 5?').click();
        await review.getByRole('listitem').filter({ hasText: 'It can send you notifications.' }).waitFor();
        await look(page, device, 'reviews-rating-why');
        assert.ok(await isOnTop(review.locator('.rating-picture')), 'no frame lies above it');
        await look(page, device, 'reviews-install', [review.getByRole('heading').nth(1), review.locator('.uses')]);
        await pressInPrompt(
          review.getByRole('button', { name: 'Install', exact: true }),
          page.getByRole('heading', { name: 'Weather is installed' }),
        );
        await page.getByRole('button', { name: 'Done' }).click();
        return;
      }
      // Published in its second version by now, which asks for more.
      await store.getByRole('button', { name: 'Install Weather' }).click();
      const review = page.getByRole('dialog', { name: 'Install Weather?' });
      await review.getByText('Runs all the time', { exact: true }).waitFor();
      await review.getByText('Why 3 of 5?').click();
      await look(page, device, 'reviews-rating-why');
      await review.getByText('Why 3 of 5?').click();
      await look(page, device, 'reviews-install', [review.getByRole('heading').nth(1), review.locator('.uses')]);
      await pressInPrompt(review.getByRole('button', { name: 'Don’t install' }), noDialog(page));
      await account.browser.take('/v1/apps', { body: { appId: 'weather', version: '1.0.0' } });
    });

    await step(
      'the browser lets the page reach what was granted and nothing else, whatever a <meta> says',
      async () => {
        const frame = await openWeather(page);
        assert.equal(await fateOf(page, frame, API, 'connect'), LET_THROUGH);
        assert.equal(await fateOf(page, frame, MAPS, 'image'), LET_THROUGH);
        assert.equal(await fateOf(page, frame, MAPS, 'connect'), 'blocked', 'granted for images');
        assert.equal(await fateOf(page, frame, TRACKER, 'connect'), 'blocked');
        assert.equal(await fateOf(page, frame, TRACKER, 'image'), 'blocked');
      },
    );

    await step('an address that is taken away in Settings is gone at the next load of the page', async () => {
      await page.goto(`${platform.origin}/#/settings/apps/weather`);
      await page.getByRole('checkbox', { name: API }).uncheck();
      await page.getByText('Saved. Changes apply').waitFor();
      assert.equal(await page.locator('iframe[title="Weather"]').count(), 0, 'the open page is closed');
      const uses = page.locator('.uses');
      await look(page, device, 'reviews-settings', [page.getByRole('heading', { name: 'What it may do' }), uses]);
      const frame = await openWeather(page);
      assert.equal(await fateOf(page, frame, API, 'connect'), 'blocked');
      assert.equal(await fateOf(page, frame, MAPS, 'image'), LET_THROUGH);
    });

    await step('the review of an update shows what is new first; what is declined is not there', async () => {
      if (device === 'desktop') await publishTestApp(publisher, 'weather', second, FILES);
      await page.goto(`${platform.origin}/#/settings/apps/weather`);
      await page.reload();
      const review = page.getByRole('dialog', { name: 'Update Weather?' });
      await pressInPrompt(page.getByRole('button', { name: 'Update to 2.0.0' }), review);
      await review.getByText(TRACKER).waitFor();
      await review.getByText('An international name').waitFor();
      assert.equal(await review.getByText(API, { exact: true }).count(), 0, 'not new, and not granted again');
      for (const words of ['(now only while it is used)', 'Up to 512 MiB of memory (now 128 MiB)', '(now 256 MiB)'])
        await review.getByText(words).waitFor();
      assert.equal(await review.getByText('1.0.0').count(), 1, 'each version is named once');
      await rates(review, 'Security stays 3 of 5. Needs some trust.');
      await look(page, device, 'reviews-update', [review.getByRole('heading').nth(1), review.locator('.uses')]);
      await uncheckInPrompt(review.getByRole('checkbox', { name: LOOKALIKE }));
      await uncheckInPrompt(review.getByLabel('Allow this'));
      const closed = noDialog(page);
      await pressInPrompt(review.getByRole('button', { name: 'Update', exact: true }), closed);
      await page.getByText('Version 2.0.0').waitFor();
      await page.getByRole('checkbox', { name: TRACKER, checked: true }).waitFor();
      assert.equal(await page.getByRole('checkbox', { name: LOOKALIKE }).isChecked(), false);
      const { permissions, resources } = await snapshot();
      const addresses = permissions.find(({ id }) => id === 'network.connect')?.resources;
      assert.deepEqual(addresses, [MAPS, TRACKER]);
      assert.deepEqual([resources?.granted?.mode, resources?.granted?.memoryMiB], ['automatic', 128]);
      const frame = await openWeather(page);
      assert.equal(await fateOf(page, frame, TRACKER, 'connect'), LET_THROUGH);
      assert.equal(await fateOf(page, frame, LOOKALIKE, 'connect'), 'blocked');
      assert.equal(await fateOf(page, frame, API, 'connect'), 'blocked', 'taken away before the update');
    });

    await step('Settings says that the backend runs with less than it asks for, and allows it', async () => {
      await page.goto(`${platform.origin}/#/settings/apps/weather`);
      const allow = page.getByRole('button', { name: 'Allow what it asks for' });
      await allow.waitFor();
      await look(page, device, 'reviews-less', [page.locator('.uses').first()]);
      await allow.click();
      await page.getByText('This version asks for more.').waitFor({ state: 'detached' });
      await page.getByText('Up to 512 MiB of memory').waitFor();
      const { resources } = await snapshot();
      assert.deepEqual(resources?.granted, resources?.requested);
      await look(page, device, 'reviews-allowed', [page.locator('.uses').first()]);
    });
  });
}

const courier = { name: 'Courier', summary: 'Reads your messages to you.', frontend: { entry: 'index.html' } };
const COURIER = [
  { ...courier, permissions: [{ id: 'notifications.publish', resources: ['post'] }] },
  {
    ...courier,
    version: '2.0.0',
    permissions: [
      { id: 'notifications.publish', resources: ['post'] },
      { id: 'network.public', resources: ['*'], reason: 'Fetches voices.' },
      { id: 'messaging.read', resources: ['*'], reason: 'Reads them to you.' },
    ],
  },
] as const;

for (const [device, viewport] of BOTH_DEVICES) {
  test(`the review of an update rates what it was and what it becomes, as the person chooses, on a ${device}`, async (t) => {
    const files = {
      'frontend/index.html': '<!doctype html><html lang="en"><title>Courier</title><h1>Courier</h1></html>',
    };
    if (device === FIRST_DEVICE)
      for (const version of COURIER) await publishTestApp(publisher, 'courier', version, files);
    const account = await registerAccount(platform, `${device}-rater`);
    await account.browser.take('/v1/apps', { body: { appId: 'courier', version: '1.0.0' } });
    const context = await signedInContext({ browser, platform, account }, viewport);
    t.after(() => context.close());
    const page = await context.newPage();

    await page.goto(`${platform.origin}/#/app/store`);
    const store = page.frameLocator('iframe[title="Store"]');
    await store.getByText('Security rating 5 of 5').first().waitFor();
    await look(page, device, 'rating-list');
    await store.getByRole('button', { name: 'Courier', exact: true }).click();
    const section = store.getByRole('region', { name: 'Security' });
    await section.getByText('1 of 5, needs complete trust with everything it asks for.').waitFor();
    await look(page, device, 'rating-store', [section]);

    await page.goto(`${platform.origin}/#/settings/apps/courier`);
    await rates(page, 'Security 4 of 5. Needs a little trust.', 'It can send you notifications.');
    const review = page.getByRole('dialog', { name: 'Update Courier?' });
    await pressInPrompt(page.getByRole('button', { name: 'Update to 2.0.0' }), review);
    await rates(
      review,
      'Security was 4 of 5 and becomes 2 of 5. Needs a lot of trust.',
      'It can connect to any address on the internet.',
    );
    await review.getByText('With everything it asks for: 1 of 5.').waitFor();
    await look(page, device, 'rating-update');
    await checkInPrompt(review.getByRole('checkbox', { name: 'Read your messages' }));
    await rates(
      review,
      'Security was 4 of 5 and becomes 1 of 5. Needs complete trust.',
      'It can read your messages and pass on what it learns, because it can connect to any address on the internet.',
    );
    await look(page, device, 'rating-update-worst');
    await uncheckInPrompt(review.getByRole('checkbox', { name: 'Connect to any address' }));
    await rates(review, 'Security was 4 of 5 and becomes 2 of 5. Needs a lot of trust.', 'It can read your messages.');
    await pressInPrompt(review.getByRole('button', { name: 'Update', exact: true }), noDialog(page));
    await page.getByText('Version 2.0.0').waitFor();
    await rates(page, 'Security 2 of 5. Needs a lot of trust.', 'It can read your messages.');
    await look(page, device, 'rating-settings', [page.getByRole('heading', { name: 'What it may do' })]);
    await page.getByRole('checkbox', { name: 'Read your messages' }).uncheck();
    await rates(page, 'Security 4 of 5. Needs a little trust.', 'It can send you notifications.');
  });
}

const page1 = { name: 'Diary', summary: 'What you did today.' };
const page2 = {
  ...page1,
  version: '2.0.0',
  workload: { runtime: 'node', entry: 'main.mjs', volume: true, resources: { memoryMiB: 96, diskMiB: 128 } },
};
const DIARY = {
  ...FILES,
  'frontend/index.html': '<!doctype html><html lang="en"><title>Diary</title><h1>Diary</h1></html>',
};

for (const [device, viewport] of DEVICES) {
  test(`a backend that an update brings runs once it is allowed, on a ${device}`, async (t) => {
    if (device === FIRST_DEVICE) {
      await publishTestApp(publisher, 'logbook', page1, DIARY);
      await publishTestApp(publisher, 'logbook', page2, DIARY);
    }
    const account = await registerAccount(platform, `${device}-writer`);
    const context = await signedInContext({ browser, platform, account }, viewport);
    t.after(() => context.close());
    const page = await context.newPage();
    const settings = `${platform.origin}/#/settings/apps/logbook`;
    const review = page.getByRole('dialog', { name: 'Update Diary?' });
    const closed = noDialog(page);

    async function update(decide: () => Promise<void>): Promise<void> {
      await account.browser.take('/v1/apps', { body: { appId: 'logbook', version: '1.0.0' } });
      await page.goto(settings);
      await pressInPrompt(page.getByRole('button', { name: 'Update to 2.0.0' }), review);
      for (const words of ['New: a backend on the server', 'Runs only while it is used', 'Up to 96 MiB of memory'])
        await review.getByText(words).waitFor();
      await decide();
      await pressInPrompt(review.getByRole('button', { name: 'Update', exact: true }), closed);
      await page.getByText('Version 2.0.0').waitFor();
    }

    await update(async () => {
      await review.getByText('Otherwise the backend stays off, and Diary runs without it.').waitFor();
      await look(page, device, 'reviews-first-backend');
      await uncheckInPrompt(review.getByLabel('Allow this'));
    });
    await page.getByText('Off. It came with an update').waitFor();
    const allow = page.getByRole('button', { name: 'Allow the backend' });
    await allow.waitFor();
    await look(page, device, 'reviews-first-backend-off', [page.getByRole('heading', { name: 'What it may do' })]);
    assert.equal((await account.fetch('/v1/apps/logbook/start', { body: {} })).status, 503);
    await page.goto(`${platform.origin}/#/settings/apps`);
    await page.getByText('Backend to review').waitFor();
    await look(page, device, 'reviews-first-backend-list');
    await page.goto(`${platform.origin}/#/app/logbook`);
    await page.frameLocator('iframe[title="Diary"]').getByRole('heading', { name: 'Diary' }).waitFor();

    await page.goto(settings);
    await allow.click();
    const start = page.getByRole('button', { name: 'Start', exact: true });
    await start.waitFor();
    assert.equal(await allow.count(), 0);
    await start.click();
    await page.getByText('Running', { exact: true }).waitFor();
    await look(page, device, 'reviews-first-backend-allowed', [page.getByRole('heading', { name: 'What it may do' })]);
    await account.browser.take('/v1/apps/logbook', { method: 'DELETE' });

    await update(async () => assert.ok(await review.getByLabel('Allow this').isChecked()));
    await start.waitFor();
    assert.equal(await page.getByText('Off. It came with an update').count(), 0);
  });
}

const LOOKS = ['#0a6', '#06c'].map(
  (colour) =>
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="9" height="9" fill="${colour}"/></svg>`,
);
const looking = (picture: number) => ({
  'frontend/index.html': '<h1>Diary</h1>',
  'frontend/a.svg': LOOKS[picture] ?? '',
});

/** What the shell shows of an icon: its colour in the middle. */
async function colourOf(picture: Locator): Promise<string> {
  await picture.and(picture.page().locator('[src^="data:image/png"]')).waitFor();
  return picture.evaluate(async (image: HTMLImageElement) => {
    await image.decode();
    const canvas = new OffscreenCanvas(1, 1).getContext('2d');
    canvas?.drawImage(image, 0, 0, 1, 1);
    return [...(canvas?.getImageData(0, 0, 1, 1).data ?? [])].join();
  });
}
const [GREEN, BLUE] = ['0,170,102,255', '0,102,204,255'];

for (const [device, viewport] of DEVICES) {
  test(`an update to another name and picture says both, and nothing shows them before, on a ${device}`, async (t) => {
    if (device === FIRST_DEVICE) {
      await publishTestApp(publisher, 'disguise', { name: 'Jotter', icon: 'a.svg' }, looking(0));
      await publishTestApp(publisher, 'disguise', { name: 'Wallet Plus', icon: 'a.svg', version: '2.0.0' }, looking(1));
    }
    const account = await registerAccount(platform, `${device}-keeper`);
    await account.browser.take('/v1/apps', { body: { appId: 'disguise', version: '1.0.0' } });
    const context = await signedInContext({ browser, platform, account }, viewport);
    t.after(() => context.close());
    const page = await context.newPage();
    await page.goto(`${platform.origin}/#/app/launcher`);
    const tile = page.frameLocator('iframe[title="Launcher"]').locator('.tile').filter({ hasText: 'Jotter' });
    assert.equal(await colourOf(tile.locator('img')), GREEN);

    await page.goto(`${platform.origin}/#/settings/apps/disguise`);
    await page.getByRole('heading', { name: 'Jotter' }).waitFor();
    const review = page.getByRole('dialog', { name: 'Update Jotter?' });
    await pressInPrompt(page.getByRole('button', { name: 'Update to 2.0.0' }), review);
    await review.getByRole('heading', { name: 'New: another name and picture' }).waitFor();
    assert.equal(await colourOf(review.locator('.prompt-app img')), GREEN);
    const looks = review.locator('.new-look dd');
    assert.deepEqual(await looks.allInnerTexts(), ['Jotter', 'Wallet Plus']);
    assert.deepEqual(
      [await colourOf(looks.nth(0).locator('img')), await colourOf(looks.nth(1).locator('img'))],
      [GREEN, BLUE],
    );
    await look(page, device, 'reviews-new-look');
    await pressInPrompt(review.getByRole('button', { name: 'Update', exact: true }), noDialog(page));
    await page.getByRole('heading', { name: 'Wallet Plus' }).waitFor();
    assert.equal(await colourOf(page.locator('.app-facts img')), BLUE);
  });
}

test('an app that asks for nothing says so; one that runs all the time, or long after its use, does not', async (t) => {
  await publishTestApp(publisher, 'humble', { name: 'Humble' });
  await publishTestApp(
    publisher,
    'sleepless',
    { name: 'Sleepless', workload: { runtime: 'node', entry: 'main.mjs', mode: 'always' } },
    FILES,
  );
  await publishTestApp(
    publisher,
    'wakeful',
    { name: 'Wakeful', workload: { runtime: 'node', entry: 'main.mjs', idleSeconds: 7_200 } },
    FILES,
  );
  const account = await registerAccount(platform, 'reader');
  const context = await signedInContext({ browser, platform, account }, DESKTOP);
  t.after(() => context.close());
  const page = await context.newPage();
  for (const [name, says] of [
    ['Humble', 1],
    ['Sleepless', 0],
    ['Wakeful', 0],
  ] as const) {
    await page.goto(`${platform.origin}/#/app/store`);
    await page
      .frameLocator('iframe[title="Store"]')
      .getByRole('button', { name: `Install ${name}` })
      .click();
    const review = page.getByRole('dialog', { name: `Install ${name}?` });
    await review.waitFor();
    assert.equal(await review.getByText('It requests no permissions.').count(), says, name);
    await look(page, 'desktop', `reviews-${name.toLowerCase()}`);
    await pressInPrompt(review.getByRole('button', { name: 'Don’t install' }), noDialog(page));
  }
});
