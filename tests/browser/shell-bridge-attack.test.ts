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
  await publishHostileApp(account, 'prize', [{ id: 'runtime.pause', resources: ['*'] }]);
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

/**
 * What a frame sent before this has been judged, and had the answer of core that every welcome waits for: the page has
 * handled a later message of the same frame, and core a later question of the page.
 */
async function untilGreetingsAreJudged(): Promise<void> {
  const later = page.evaluate(async () => {
    await new Promise<void>((resolve) => {
      addEventListener('message', ({ data }) => data === 'later' && resolve());
    });
    await fetch('/v1/apps/bystander/permissions');
  });
  await frame.evaluate(() => {
    parent.postMessage('later', '*');
  });
  await later;
}

async function shellStillWorks(): Promise<void> {
  await page.getByRole('button', { name: 'Account victim' }).click();
  await page.getByRole('button', { name: 'Passkeys' }).click();
  await page.getByText('Passkey 1').waitFor();
}

test('an app in front that takes every connection it gets leaves the shell its own', async () => {
  const { services, shell } = await frame.evaluate(() => {
    const { protocol, host } = location;
    return { services: `${protocol}//services.${host.slice(host.indexOf('.') + 1)}`, shell: document.referrer };
  });
  assert.equal(shell, '', 'what the app knows of the shell it has from its launch');
  await frame.evaluate(
    ([own, foreign]) => {
      const refused = { method: 'POST', body: '{"capability":"pfc_none"}' };
      const headers = { 'content-type': 'application/json' };
      const taken = { begun: 0, shell: 0 };
      Object.assign(globalThis, { taken });
      setInterval(() => {
        for (let call = 0; call < 100; call += 1) {
          taken.begun += 1;
          fetch(`${own}/v1/frontend/exchange`, { ...refused, headers }).catch(() => {});
          for (const mode of ['cors', 'no-cors'] as const)
            fetch(`${foreign}/v1/services/notifications`, { mode }).then(
              () => (taken.shell += 1),
              () => {},
            );
        }
      }, 250);
      // Most of its thread goes to nothing.
      setInterval(() => {
        for (const end = performance.now() + 80; performance.now() < end; );
      }, 100);
    },
    [services, platform.origin],
  );
  await frame.waitForFunction(() => (globalThis as unknown as { taken: { begun: number } }).taken.begun >= 1_000);
  const asked = await page.evaluate(async () => {
    const times: number[] = [];
    for (let count = 0; count < 20; count += 1) {
      const begun = performance.now();
      await fetch('/v1/apps');
      times.push(performance.now() - begun);
    }
    return times;
  });
  // A refusal is held back for up to two seconds; behind a few of them the slowest would wait for longer.
  assert.ok(Math.max(...asked) < 2_000, `${asked.map(Math.round).join(', ')} ms`);
  assert.equal(await frame.evaluate(() => (globalThis as unknown as { taken: { shell: number } }).taken.shell), 0);
  await shellStillWorks();
});

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
  await untilGreetingsAreJudged();
  assert.equal(await frame.evaluate(() => attack.ports.length), 1);
  // A second port would have closed the first.
  assert.equal(((await call(frame, 0, 'context.get')) as { appId: string }).appId, 'hostile');
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
  await untilGreetingsAreJudged();
  assert.equal(await inner.evaluate(() => attack.ports.length), 0);
  assert.equal(await frame.evaluate(() => attack.ports.length), 0);
});

test('a frame that moved to the origin of another app is not taken for that app, and loses its port', async () => {
  const bystander = await showApp(page, 'bystander');
  const other = new URL(bystander.url()).origin;
  frame = await showApp(page, 'hostile');
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
  await untilGreetingsAreJudged();
  assert.equal(await frame.evaluate(() => attack.ports.length), 0);
});

test('launch data go to the app’s own origin, and only as often as a page may need them', async () => {
  const launches: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/launch')) launches.push(new URL(request.url()).pathname);
  });
  const bystander = await showApp(page, 'bystander');
  const other = new URL(bystander.url()).origin;
  frame = await showApp(page, 'hostile');
  launches.length = 0;
  await frame.evaluate(() => {
    for (let count = 0; count < 500; count += 1) {
      parent.postMessage({ type: 'platform.launch', version: 1, nonce: `launch-without-end-${count}` }, '*');
    }
  });
  await frame.waitForFunction(() => attack.launched.length > 0);
  await untilGreetingsAreJudged();
  assert.ok(launches.length <= 64, `${launches.length} launches`);
  assert.ok(launches.every((path) => path === '/v1/apps/hostile/launch'));

  // A frame that asked for nothing yet, and holds a page of another app.
  await showApp(page, 'bystander');
  frame = await showApp(page, 'hostile');
  await page.evaluate(() => {
    const element = document.querySelector('iframe[title="hostile"]');
    element?.addEventListener('load', () => element.setAttribute('data-moved', 'yes'), { once: true });
  });
  await page.evaluate((address) => {
    const element = document.querySelector<HTMLIFrameElement>('iframe[title="hostile"]');
    if (element !== null) element.src = address;
  }, `${other}/index.html`);
  await page.locator('iframe[data-moved]').waitFor();
  await frame.waitForFunction(() => 'attack' in globalThis);
  launches.length = 0;
  await frame.evaluate(() => {
    parent.postMessage({ type: 'platform.launch', version: 1, nonce: 'as-somebody-else' }, '*');
  });
  await untilGreetingsAreJudged();
  assert.deepEqual([launches, await frame.evaluate(() => attack.launched)], [[], []]);
});

test('calls beyond the grants are refused, and none of them shows anything', async () => {
  const port = await connect(frame);
  const refusals: readonly (readonly [string, unknown, string])[] = [
    ['apps.list', {}, 'grant_missing'],
    ['notifications.list', {}, 'grant_missing'],
    ['notifications.publish', { topic: 'x', title: 'x' }, 'not_found'],
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
  await frame.evaluate((number) => {
    let id = 1_000;
    setInterval(() => {
      for (const [method, appId] of [
        ['apps.open', 'bystander'],
        ['apps.open', 'hostile'],
      ]) {
        id += 1;
        attack.post(number, { id, method, params: { appId } });
      }
    }, 5);
  }, port);
  // The app in front may open another one, and that is the last thing it does.
  await page.locator('iframe[title="bystander"]').waitFor();
  assert.equal(await page.locator('iframe').count(), 1);
  assert.equal(frame.isDetached(), true);
  await page.getByRole('button', { name: 'Home' }).click();
  await page.locator('iframe[title="Launcher"]').waitFor();
  await page.evaluate(() => fetch('/v1/auth/session'));
  assert.equal(await page.locator('iframe[title="Launcher"]').count(), 1);
  assert.equal(await page.getByRole('dialog').count(), 0);
});

test('an app that another one opens under the pointer takes no press in its first moment', async () => {
  const port = await connect(frame);
  const covered = page.evaluate(
    () =>
      new Promise<string>((resolve) => {
        // Once what is drawn while it loads is gone.
        const look = () => {
          const loaded = document.querySelector('iframe[title="bystander"]') && !document.querySelector('.front-state');
          if (loaded) resolve(document.elementFromPoint(640, 400)?.className ?? '');
          else requestAnimationFrame(look);
        };
        look();
      }),
  );
  // The answer finds no frame any more.
  void call(frame, port, 'apps.open', { appId: 'bystander' }).catch(() => {});
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
  await frame.evaluate((number) => {
    for (let id = 0; id < 20_000; id += 1) attack.post(number, { id: 1_000 + id, method: 'context.get' });
  }, port);
  await page.getByRole('region', { name: 'Messages' }).getByText('hostile was disconnected').waitFor();
  const bystander = await showApp(page, 'bystander');
  const other = await connect(bystander);
  const apps = (await call(bystander, other, 'apps.list', {})) as { items: readonly unknown[] };
  assert.ok(apps.items.length >= 9);
  await shellStillWorks();
});

test('a frame that greets without end gets no end of ports', async () => {
  await frame.evaluate(() => {
    for (let count = 0; count < 5_000; count += 1) attack.greet(`endless-greeting-${count}`);
  });
  await untilGreetingsAreJudged();
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
