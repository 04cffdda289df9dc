// Hostile frames against the shell in real Chromium: greetings that are not theirs, floods, and what they do to prompts
// (prompt-attacks.ts). Whatever they do, they get what their grants allow and the shell goes on working.
import { strict as assert } from 'node:assert';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import type { Browser, BrowserContext, Frame, Page } from 'playwright-core';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { DESKTOP, launchBrowser } from './browser.ts';
import { type Attack, call, connect, freshNonce, publishHostileApp, showApp } from './hostile-app.ts';
import { promptAttacks } from './prompt-attacks.ts';
import { signedInContext } from './signed-in.ts';

/** In the frames of the apps below. */
declare const attack: Attack;

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;
let account: TestAccount;
let context: BrowserContext;
let page: Page;
let frame: Frame;

before(async () => {
  place = await platformPlace();
  platform = await startPlatform(place);
  account = await registerAccount(platform, 'victim');
  await publishHostileApp(account, 'hostile', [
    { id: 'apps.install', resources: ['prize'] },
    { id: 'apps.lifecycle', resources: ['bystander'] },
  ]);
  await publishHostileApp(account, 'bystander', [{ id: 'apps.catalog.read', resources: ['*'] }]);
  await publishHostileApp(account, 'prize', [{ id: 'network.public', resources: ['*'] }]);
  for (const appId of ['hostile', 'bystander']) await account.browser.take('/v1/apps', { body: { appId } });
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
  await page.getByRole('button', { name: 'Home' }).waitFor();
  frame = await showApp(page, 'hostile');
});
afterEach(() => context.close());

/** A greeting sent later by another frame was answered: an earlier one that deserved an answer has had it. */
async function untilLaterGreetingIsAnswered(): Promise<void> {
  const bystander = await showApp(page, 'bystander');
  await connect(bystander);
}

async function shellStillWorks(): Promise<void> {
  await page.getByRole('button', { name: 'Account victim' }).click();
  await page.getByRole('button', { name: 'Passkeys' }).click();
  await page.getByText('Passkey 1').waitFor();
}

test('a greeting is answered with the grants of that app and nothing of the account', async () => {
  await connect(frame);
  const welcomes = await frame.evaluate(() => attack.welcomes.map((welcome) => welcome.context));
  assert.deepEqual(welcomes, [
    {
      appId: 'hostile',
      theme: 'light',
      displayMode: 'window',
      capabilities: [
        { id: 'apps.install', resources: ['prize'] },
        { id: 'apps.lifecycle', resources: ['bystander'] },
      ],
    },
  ]);
});

test('a replayed nonce opens no second port', async () => {
  const nonce = freshNonce();
  await frame.evaluate((sent) => attack.greet(sent), nonce);
  await frame.waitForFunction(() => attack.ports.length === 1);
  await frame.evaluate((sent) => attack.greet(sent), nonce);
  await untilLaterGreetingIsAnswered();
  assert.equal(await frame.evaluate(() => attack.ports.length), 1);
});

test('a second greeting closes the port of the first', async () => {
  const first = await connect(frame);
  const second = await connect(frame);
  const wasAnswered = await frame.evaluate(
    async ([old, present]) => {
      let answered = false;
      void attack.call(old, 'context.get').then(() => {
        answered = true;
      });
      await attack.call(present, 'context.get');
      await attack.call(present, 'context.get');
      return answered;
    },
    [first, second] as const,
  );
  assert.equal(wasAnswered, false);
});

test('a window inside the frame is no frame of an app, though its origin is the same', async () => {
  await frame.evaluate(() => {
    // Without an address of its own it takes the origin of the app, which no other app may frame.
    const inner = document.body.appendChild(document.createElement('iframe'));
    const script = inner.contentDocument?.createElement('script');
    if (script === undefined) throw new Error('the inner frame has no document');
    script.src = `${location.origin}/attack.js`;
    inner.contentDocument?.body.append(script);
  });
  const inner = await frame.waitForSelector('iframe').then((element) => element.contentFrame());
  assert.ok(inner);
  await inner.waitForFunction(() => 'attack' in globalThis);
  assert.equal(await inner.evaluate(() => window.origin), new URL(frame.url()).origin);
  await inner.evaluate((sent) => attack.greet(sent, window.top ?? window), freshNonce());
  await untilLaterGreetingIsAnswered();
  assert.equal(await inner.evaluate(() => attack.ports.length), 0);
});

test('a frame that moved to the origin of another app is not taken for that app, and loses its port', async () => {
  const bystander = await showApp(page, 'bystander');
  const other = new URL(bystander.url()).origin;
  await showApp(page, 'hostile');
  const port = await connect(frame);
  assert.equal(port, 0);
  await page.evaluate(() => {
    const element = document.querySelector('iframe[title="hostile"]');
    element?.addEventListener('load', () => element.setAttribute('data-moved', 'yes'), { once: true });
  });
  // As in a browser that lets the frame go there by itself.
  await page.evaluate((address) => {
    const element = document.querySelector<HTMLIFrameElement>('iframe[title="hostile"]');
    if (element !== null) element.src = address;
  }, `${other}/index.html`);
  await page.locator('iframe[data-moved]').waitFor();
  await frame.waitForFunction(() => 'attack' in globalThis);
  assert.equal(new URL(frame.url()).origin, other);
  await frame.evaluate((sent) => attack.greet(sent), freshNonce());
  await untilLaterGreetingIsAnswered();
  assert.equal(await frame.evaluate(() => attack.ports.length), 0);
});

test('calls beyond the grants are refused, and none of them shows anything', async () => {
  const port = await connect(frame);
  const refusals: readonly (readonly [string, unknown, string])[] = [
    ['apps.list', {}, 'grant_missing'],
    ['notifications.list', {}, 'grant_missing'],
    ['notifications.publish', { topic: 'x', title: 'x' }, 'unavailable'],
    ['apps.open', { appId: 'settings' }, 'grant_missing'],
    ['apps.requestInstall', { appId: 'notes' }, 'grant_missing'],
    ['apps.uninstall', { appId: 'bystander' }, 'grant_missing'],
    ['launcher.register', undefined, 'grant_missing'],
    ['runtime.status', {}, 'grant_missing'],
    ['search.query', { q: 'secret' }, 'grant_missing'],
    ['chrome.set', { surface: 'passkeys' }, 'not_authorized'],
    ['runtime.pause', undefined, 'grant_missing'],
    ['session.cookie', undefined, 'not_found'],
  ];
  for (const [method, params, code] of refusals) assert.equal(await call(frame, port, method, params), code, method);
  assert.equal(await page.getByRole('dialog').count(), 0);
  assert.match(page.url(), /#\/app\/hostile$/);
});

test('a grant that the person takes back stops the very next call', async () => {
  const port = await connect(frame);
  assert.equal(((await call(frame, port, 'apps.start', { appId: 'bystander' })) as string) !== 'grant_missing', true);
  const narrowed = [{ id: 'apps.install', resources: ['prize'] }];
  await account.browser.take('/v1/apps/hostile/permissions', { method: 'PUT', body: { permissions: narrowed } });
  assert.equal(await call(frame, port, 'apps.start', { appId: 'bystander' }), 'grant_missing');
  const restored = [...narrowed, { id: 'apps.lifecycle', resources: ['bystander'] }];
  await account.browser.take('/v1/apps/hostile/permissions', { method: 'PUT', body: { permissions: restored } });
});

test('an app that is not in front cannot ask the person anything', async () => {
  const port = await connect(frame);
  await page.getByRole('button', { name: 'Home' }).click();
  assert.equal(await call(frame, port, 'apps.requestInstall', { appId: 'prize' }), 'not_authorized');
  assert.equal(await call(frame, port, 'apps.open', { appId: 'bystander' }), 'not_authorized');
  assert.equal(await page.getByRole('dialog').count(), 0);
});

test('an app that another one opens under the pointer takes no press in its first moment', async () => {
  const port = await connect(frame);
  await showApp(page, 'bystander');
  await showApp(page, 'hostile');
  const covered = page.evaluate(
    () =>
      new Promise<string>((resolve) => {
        const opened = document.querySelector('iframe[title="bystander"]');
        const observer = new MutationObserver(() => {
          requestAnimationFrame(() => resolve(document.elementFromPoint(640, 400)?.className ?? ''));
        });
        if (opened !== null) observer.observe(opened, { attributeFilter: ['hidden'] });
      }),
  );
  assert.equal(await call(frame, port, 'apps.open', { appId: 'bystander' }), null);
  assert.equal(await covered, 'frame-shield');
  await page.waitForFunction(() => document.elementFromPoint(640, 400)?.tagName === 'IFRAME');
});

test('values that are no JSON, cycles and megabytes are refused, and the port goes on', async () => {
  const port = await connect(frame);
  const codes = await frame.evaluate(async (number) => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    const values = [new Map(), new ArrayBuffer(64), cycle, 'x'.repeat(5_000_000), Array.from({ length: 100_000 }), 1n];
    return Promise.all(values.map((value) => attack.call(number, 'apps.list', value)));
  }, port);
  assert.deepEqual(codes, [
    'invalid_request',
    'invalid_request',
    'payload_too_large',
    'payload_too_large',
    'payload_too_large',
    'invalid_request',
  ]);
  assert.equal(((await call(frame, port, 'context.get')) as { appId: string }).appId, 'hostile');
  await shellStillWorks();
});

test('a flood costs the app its port, and nobody else anything', async () => {
  const port = await connect(frame);
  const bystander = await showApp(page, 'bystander');
  const other = await connect(bystander);
  await frame.evaluate((number) => {
    for (let id = 0; id < 20_000; id += 1) attack.post(number, { id: 1_000 + id, method: 'context.get' });
  }, port);
  await page.getByRole('region', { name: 'Messages' }).getByText('hostile was disconnected').waitFor();
  const apps = (await call(bystander, other, 'apps.list', {})) as { items: readonly unknown[] };
  assert.ok(apps.items.length >= 9);
  await shellStillWorks();
});

test('a frame that greets without end gets no end of ports', async () => {
  await frame.evaluate(() => {
    for (let count = 0; count < 5_000; count += 1) attack.greet(`endless-greeting-${count}`);
  });
  await untilLaterGreetingIsAnswered();
  assert.ok((await frame.evaluate(() => attack.ports.length)) <= 64);
  await shellStillWorks();
});

promptAttacks(() => ({ account, page, frame }));

test('a frame cannot move the trusted page, nor read it', async () => {
  const outcome = await frame.evaluate(() => {
    const attempt = (act: () => unknown) => {
      try {
        return String(act());
      } catch (error) {
        return error instanceof DOMException ? error.name : String(error);
      }
    };
    return [
      attempt(() => window.top?.document.title),
      attempt(() => {
        if (window.top !== null) window.top.location.href = 'about:blank';
        return 'assigned';
      }),
    ];
  });
  assert.equal(outcome[0], 'SecurityError');
  assert.equal(outcome[1], 'SecurityError');
  await shellStillWorks();
});
