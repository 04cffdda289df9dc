// App origins in a real browser: what a frontend can do from its frame, and what the headers keep it from.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { FRAME_SANDBOX } from '@platform/contract';
import type { Frame, Page } from 'playwright-core';
import { launchBrowser, newPerson, type Person } from '../../../../tests/browser/browser.ts';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { install, launch, nodeWorkload, publish } from '../../test-support/apps.ts';
import { servicesOrigin } from '../config/config.ts';

let platform: Constellation;
let account: TestAccount;
let browser: Awaited<ReturnType<typeof launchBrowser>>;
let person: Person;

before(async () => {
  platform = await startConstellation();
  account = await registerAccount(platform, 'framer');
  const files = {
    'frontend/index.html': '<!doctype html><link rel="icon" href="data:,"><p>hello<script src="main.js"></script>',
    'frontend/main.js': 'window.ran = true; sessionStorage.setItem("kept", "yes");',
    'frontend/inline.html': '<!doctype html><p>inline<script>window.ran = true</script>',
    'frontend/worker.js': 'self.onmessage = () => self.postMessage(1);',
    'frontend/shared.js': 'self.onconnect = ({ ports: [port] }) => port.postMessage(1);',
    'frontend/other.html': '<!doctype html><p>other',
  };
  const permissions = [{ id: 'apps.catalog.read', resources: ['*'] }];
  for (const appId of ['framed', 'neighbour']) {
    await publish(account, appId, { permissions, workload: nodeWorkload }, files);
    await install(account, appId);
  }
  browser = await launchBrowser();
});

beforeEach(async () => {
  await person?.context.close();
  person = await newPerson(browser, { width: 800, height: 600 });
  const [name = '', value = ''] = account.cookie.split('=');
  await person.context.addCookies([{ name, value, url: platform.origin, httpOnly: true, sameSite: 'Lax' }]);
});

after(async () => {
  await browser?.close();
  await platform.close();
});

/** Opens the URL in a frame of the shell's page. */
async function openFrame(page: Page, url: string): Promise<Frame> {
  if (new URL(page.url()).origin !== platform.origin) await page.goto(platform.origin);
  const framed = page.waitForEvent('framenavigated', (frame) => frame.url().startsWith(new URL(url).origin));
  await page.evaluate(
    ([source, sandbox]) => {
      const element = document.createElement('iframe');
      element.setAttribute('sandbox', sandbox ?? '');
      element.src = source ?? '';
      document.body.append(element);
    },
    [url, FRAME_SANDBOX],
  );
  const frame = await framed;
  await frame.waitForLoadState();
  return frame;
}

interface Settings {
  readonly method?: 'POST';
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly credentials?: 'include';
  readonly mode?: 'no-cors';
}

/** What a script in the frame gets for a request: its status, or `blocked` when the browser gives it nothing. */
function request(frame: Frame, url: string, settings: Settings = {}): Promise<number | 'blocked'> {
  return frame.evaluate(
    ({ target, options }) =>
      fetch(target, options).then(
        (answer) => answer.status,
        () => 'blocked' as const,
      ),
    { target: url, options: settings },
  );
}

test('a frontend runs its own script, keeps its own storage and is alone in its process', async () => {
  const { url } = await launch(account, 'framed');
  const frame = await openFrame(person.page, url);
  const seen = await frame.evaluate(() => ({
    ran: Reflect.get(window, 'ran'),
    kept: sessionStorage.getItem('kept'),
    cluster: Reflect.get(window, 'originAgentCluster'),
    cookie: document.cookie,
  }));
  assert.deepEqual(seen, { ran: true, kept: 'yes', cluster: true, cookie: '' });
  const ours = person.complaints.filter((text) => /policy|header/i.test(text) && !/directive 'webrtc'/.test(text));
  assert.deepEqual(ours, [], 'the browser understands every header, but for what is there for others');
});

test('a frontend exchanges its capability and calls services; its neighbour cannot use it', async () => {
  const { url, frontendCapability } = await launch(account, 'framed');
  const { url: otherUrl } = await launch(account, 'neighbour');
  const frame = await openFrame(person.page, url);
  const neighbour = await openFrame(person.page, otherUrl);
  const post = (capability: string): Settings => ({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ capability }),
  });
  const api = servicesOrigin(platform.core.context.config);
  const exchange = `${api}/v1/frontend/exchange`;
  assert.equal(await request(neighbour, exchange, post(frontendCapability)), 'blocked');
  const capability = await frame.evaluate(
    async ({ target, options }) => {
      const answer: { capability: string } = await (await fetch(target, options)).json();
      return answer.capability;
    },
    { target: exchange, options: post(frontendCapability) },
  );
  const headers = { authorization: `Bearer ${capability}` };
  const services = `${api}/v1/services/apps`;
  assert.equal(await request(frame, services, { headers }), 200);
  assert.equal(await request(neighbour, services, { headers }), 'blocked');
  const ofShell = `${platform.origin}/v1/services/apps`;
  assert.equal(await request(frame, ofShell, { headers }), 'blocked', 'the connections of the shell are its own');
});

test('the cookie of the person, which the browser sends along, opens nothing to an app', async () => {
  const frame = await openFrame(person.page, (await launch(account, 'framed')).url);
  for (const path of ['/v1/apps', '/v1/auth/session', '/v1/notifications'])
    assert.equal(await request(frame, platform.origin + path, { credentials: 'include' }), 'blocked', path);
  const before = (await account.browser.take<{ items: unknown[] }>('/v1/apps')).items.length;
  const removal = { method: 'POST', credentials: 'include', mode: 'no-cors', body: '{}' } as const;
  await request(frame, `${platform.origin}/v1/apps/neighbour/launch`, removal);
  await request(frame, `${platform.origin}/v1/auth/logout`, removal);
  assert.equal((await account.browser.take<{ items: unknown[] }>('/v1/apps')).items.length, before);
});

test('a frontend reaches no host that its manifest does not name, and its inline scripts do not run', async () => {
  const { url, origin } = await launch(account, 'framed');
  const frame = await openFrame(person.page, url);
  const requests: string[] = [];
  await person.context.route('http://elsewhere.example/**', (route) => {
    requests.push(route.request().url());
    return route.fulfill({ body: '' });
  });
  assert.equal(await request(frame, 'http://elsewhere.example/fetch', { mode: 'no-cors' }), 'blocked');
  await frame.evaluate(async () => {
    const tried = (element: HTMLElement) =>
      new Promise((resolve) => {
        element.onload = resolve;
        element.onerror = resolve;
        document.body.append(element);
      });
    const image = Object.assign(new Image(), { src: 'http://elsewhere.example/image' });
    const script = Object.assign(document.createElement('script'), { src: 'http://elsewhere.example/script' });
    await Promise.all([tried(image), tried(script)]);
    navigator.sendBeacon('http://elsewhere.example/beacon', 'x');
  });
  assert.deepEqual(requests, []);
  const inline = await openFrame(person.page, `${origin}/inline.html`);
  assert.equal(await inline.evaluate(() => Reflect.get(window, 'ran')), undefined);
});

test('a frontend gets no passkey, no camera and no service worker', async () => {
  const frame = await openFrame(person.page, (await launch(account, 'framed')).url);
  const failures = await frame.evaluate(async () => {
    const failure = (work: Promise<unknown>) =>
      work.then(
        () => 'allowed',
        (error: unknown) => String(error),
      );
    const challenge = new Uint8Array(32);
    return {
      get: await failure(navigator.credentials.get({ publicKey: { challenge, rpId: location.hostname } })),
      create: await failure(
        navigator.credentials.create({
          publicKey: {
            challenge,
            rp: { name: 'x' },
            user: { id: challenge, name: 'x', displayName: 'x' },
            pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
          },
        }),
      ),
      camera: Reflect.get(document, 'featurePolicy').allowsFeature('camera'),
      worker: await failure(navigator.serviceWorker.register('/worker.js')),
    };
  });
  assert.match(failures.get, /NotAllowedError/);
  assert.match(failures.create, /NotAllowedError/);
  assert.equal(failures.camera, false);
  assert.match(failures.worker, /403/);
});

/** What Chromium gives a page that could run or act without it, and why it cannot. */
const BESIDE_PAGES = new Map([
  ['Worker', 'ends with its page'],
  ['Worklet', 'runs for its page'],
  ['AudioWorklet', 'runs for its page'],
  ['AudioWorkletNode', 'runs for its page'],
  ['SharedWorker', 'is not loaded'],
  ['ServiceWorker', 'is not loaded'],
  ['ServiceWorkerContainer', 'is not loaded'],
  ...[
    'ServiceWorkerRegistration',
    'BackgroundFetchManager',
    'BackgroundFetchRecord',
    'BackgroundFetchRegistration',
    'SyncManager',
    'PeriodicSyncManager',
    'PushManager',
    'PushSubscription',
    'PushSubscriptionOptions',
  ].map((name) => [name, 'needs a service worker'] as const),
  ['fetchLater', 'is denied'],
  ['FetchLaterResult', 'is denied'],
  ['FencedFrameConfig', 'is not framed: frame-src'],
  ['HTMLFencedFrameElement', 'is not framed: frame-src'],
]);

test('of all that Chromium lets run beside a page, only what ends with it starts in an app', async () => {
  const frame = await openFrame(person.page, (await launch(account, 'framed')).url);
  const found = await frame.evaluate(() =>
    Object.getOwnPropertyNames(globalThis).filter((name) =>
      /work(?:er|let)|background|sync|later|beacon|fenced|sharedstorage|push(?!ader)|portal|prerender/i.test(name),
    ),
  );
  const known = [...BESIDE_PAGES.keys(), 'WebGLSync', 'AsyncDisposableStack'];
  assert.deepEqual(
    found.filter((name) => !known.includes(name)),
    [],
    'decide of each what keeps it from running when the app was left',
  );
  const outcomes = await frame.evaluate(async () => {
    const outcome = (begin: (ended: (how: string) => void) => void) =>
      new Promise<string>((resolve) => {
        try {
          begin(resolve);
        } catch (error) {
          resolve(String(error));
        }
      });
    const shared = (options: object) =>
      outcome((ended) => {
        const worker = new SharedWorker('/shared.js', options);
        worker.onerror = () => ended('not loaded');
        worker.port.onmessage = () => ended('runs');
      });
    const { fetchLater } = globalThis as unknown as { fetchLater: (url: string, options: object) => unknown };
    return {
      worker: await outcome((ended) => {
        const worker = new Worker('/worker.js');
        worker.onmessage = () => ended('runs');
        worker.onerror = () => ended('not loaded');
        worker.postMessage(1);
      }),
      shared: await shared({}),
      extended: await shared({ extendedLifetime: true }),
      module: await shared({ type: 'module' }),
      later: await outcome((ended) => ended(`sent ${fetchLater('/worker.js', { activateAfter: 0 })}`)),
    };
  });
  const { later, ...workers } = outcomes;
  assert.deepEqual(workers, { worker: 'runs', shared: 'not loaded', extended: 'not loaded', module: 'not loaded' });
  assert.match(later, /NotAllowedError|QuotaExceededError/);
});

test('an app may use the features that are decided, and no others that browsers give every frame', async () => {
  const frame = await openFrame(person.page, (await launch(account, 'framed')).url);
  const allowed: string[] = await frame.evaluate(() => Reflect.get(document, 'featurePolicy').allowedFeatures());
  const beyondHints = allowed.filter((name) => !name.startsWith('ch-')).sort();
  assert.deepEqual(beyondHints, [
    'aria-notify',
    'gamepad',
    'media-playback-while-not-visible',
    'picture-in-picture',
    'sync-xhr',
    'unload',
  ]);
});

test('only the shell frames an app: neither another site nor another app, and no app opens a window', async () => {
  const { origin } = await launch(account, 'framed');
  const neighbour = await openFrame(person.page, (await launch(account, 'neighbour')).url);
  const frameIn = (place: Frame) =>
    place.evaluate(
      (source) =>
        new Promise((resolve) => {
          const element = Object.assign(document.createElement('iframe'), { src: source });
          element.onload = () => resolve(element.contentWindow?.length);
          document.body.append(element);
        }),
      `${origin}/other.html`,
    );
  const text = (frame: Frame | undefined) => frame?.evaluate(() => document.body?.innerText ?? '').catch(() => '');
  await frameIn(neighbour);
  assert.notEqual(await text(neighbour.childFrames()[0]), 'other');

  const opened = await neighbour.evaluate((url) => window.open(url) !== null, `${origin}/other.html`);
  assert.equal(opened, false);
  assert.equal(person.context.pages().length, 1);

  await person.context.route('http://site.example/', (route) =>
    route.fulfill({ contentType: 'text/html', body: '<!doctype html><p>site' }),
  );
  const site = await person.context.newPage();
  await site.goto('http://site.example/');
  await frameIn(site.mainFrame());
  assert.notEqual(await text(site.mainFrame().childFrames()[0]), 'other');

  const own = await openFrame(person.page, `${origin}/other.html`);
  assert.equal(await text(own), 'other', 'the page itself is there');
  const direct = await person.context.newPage();
  await direct.goto(`${origin}/other.html`);
  assert.equal(
    new URL(direct.url()).origin,
    platform.core.context.config.origin,
    'a tab of its own leads to the shell',
  );
});
