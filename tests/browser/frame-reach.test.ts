// What the frame of an app can make a browser connect to: nothing but what its headers name. Every way is tried from a
// frame of the real shell, and at the same place a moment later from a page without headers, which must get there.
import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import type { BrowserContext, Frame, Page } from 'playwright-core';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { until } from '../support/wait.ts';
import { launchProfile } from './browser.ts';
import { type ListeningPost, openListeningPost } from './listening-post.ts';
import { type Attack, attacks, openAttack } from './reach-attacks.ts';
import { signInto } from './signed-in.ts';

const WORKER = `
const act = ({ data }) => {
  if (data.fetch) fetch(data.fetch, { mode: 'no-cors' }).catch(() => {});
  if (data.socket) new WebSocket(data.socket);
  if (data.importScripts) importScripts(data.importScripts);
};
onmessage = act;
onconnect = ({ ports: [port] }) => { port.onmessage = act; };
`;
const FILES = {
  'index.html':
    '<!doctype html><html lang="en"><title>Hostile</title><script src="main.js"></script><p>hostile</p></html>',
  'main.js': 'globalThis.ran = true;',
  'worker.js': WORKER,
  'picture.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="2" height="2"/>',
};

let place: PlatformPlace;
let platform: PlatformProcess;
let account: TestAccount;
let folder: string;
let context: BrowserContext;
let control: Server;
let netLog: string;
const posts: ListeningPost[] = [];

before(async () => {
  place = await platformPlace();
  platform = await startPlatform(place);
  account = await registerAccount(platform, 'framed');
  const files = Object.fromEntries(Object.entries(FILES).map(([name, text]) => [`frontend/${name}`, text]));
  for (const appId of ['hostile', 'neighbour']) {
    await publishTestApp(account, appId, {}, files);
    await account.browser.take('/v1/apps', { body: { appId } });
  }
  control = createServer((request, response) => {
    const name = request.url === '/' ? 'index.html' : (request.url ?? '').slice(1);
    const types = { html: 'text/html', js: 'text/javascript', svg: 'image/svg+xml' };
    const type = types[name.split('.').at(-1) as keyof typeof types] ?? 'text/plain';
    response.writeHead(200, { 'content-type': type }).end(FILES[name as keyof typeof FILES] ?? '');
  });
  await once(control.listen(0, '127.0.0.1'), 'listening');
  folder = await mkdtemp(path.join(tmpdir(), 'frame-reach-'));
  netLog = path.join(folder, 'net-log.json');
  context = await launchProfile(path.join(folder, 'profile'), {}, [
    // Nothing of this test leaves the machine, whatever a page names.
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE *.localhost, EXCLUDE 127.0.0.1',
    `--log-net-log=${netLog}`,
    '--allow-loopback-in-peer-connection',
  ]);
  await signInto(context, platform, account);
});
after(async () => {
  await context?.close();
  await Promise.all(posts.map((post) => post.close()));
  control?.close();
  control?.closeAllConnections();
  await platform?.stop();
  await place?.remove();
  await rm(folder, { recursive: true, force: true });
});

async function newPost(): Promise<ListeningPost> {
  const post = await openListeningPost();
  posts.push(post);
  return post;
}

/** What an attack is given. */
function given({ element }: Attack, { http, host, udp }: ListeningPost): Parameters<Attack['run']>[0] {
  return { http, host, udp, ...(element === undefined ? {} : { element }) };
}

/** The app in a frame of the shell, in a window of its own. */
async function openFrame(appId = 'hostile'): Promise<{ readonly page: Page; readonly frame: Frame }> {
  const page = await context.newPage();
  await page.goto(`${platform.origin}/#/app/${appId}`);
  const handle = await page.locator(`iframe[title="${appId}"]`).elementHandle();
  const frame = await handle?.contentFrame();
  assert.ok(frame);
  await frame.waitForFunction(() => 'ran' in globalThis);
  return { page, frame };
}

/** The same page, without any header and in no frame. */
async function openControl(): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`http://control.localhost:${(control.address() as AddressInfo).port}/`);
  await page.waitForFunction(() => 'ran' in globalThis);
  return page;
}

async function closeAllBut(kept: Page): Promise<void> {
  for (const page of context.pages()) if (page !== kept) await page.close();
}

/** @param frame where nothing must get through; the same is then done in a page that nothing holds */
async function tryBoth(attack: Attack, frame: Frame): Promise<void> {
  const [guarded, open] = [await newPost(), await newPost()];
  // What the policy refuses may throw; what it does not must show at the post.
  await frame.evaluate(attack.run, given(attack, guarded)).catch(() => {});
  const page = await openControl();
  await page.evaluate(attack.run, given(attack, open));
  await until(`${attack.name} to get to the post from a page without headers`, () => open.arrivals.length > 0);
  assert.deepEqual(guarded.arrivals, []);
}

test('an app in its frame makes the browser connect to no stranger', async (t) => {
  let { page, frame } = await openFrame();
  for (const attack of attacks) {
    await t.test(attack.name, async () => {
      try {
        await tryBoth(attack, frame);
      } finally {
        if (attack.leaves) ({ page, frame } = await openFrame());
        await closeAllBut(page);
      }
    });
  }
});

test('a frame that Chromium ends for its use of WebRTC leaves the shell running', async () => {
  const attack = attacks.find(({ name }) => name === 'WebRTC by a frame without an address in the page');
  assert.ok(attack);
  const post = await newPost();
  const { page, frame } = await openFrame();
  const origin = new URL(frame.url()).origin;
  await page.evaluate(() => {
    let beats = 0;
    setInterval(() => {
      document.title = `beat ${++beats}`;
    }, 50);
  });
  const { targetId } = (await (await context.newCDPSession(page)).send('Target.getTargetInfo')).targetInfo;
  const observer = await context.newCDPSession(await openControl());
  const targets = async () => (await observer.send('Target.getTargets')).targetInfos;
  const find = async (start: string) => (await targets()).find(({ url }) => url.startsWith(start));
  // The shell is at work when its title goes on changing.
  const title = async () => (await targets()).find((target) => target.targetId === targetId)?.title;
  const worksStill = async () => {
    const before = await title();
    await until('the shell to be at work', async () => (await title()) !== before);
  };
  await worksStill();
  assert.equal((await find(origin))?.type, 'iframe', 'the frame has a process of its own');
  await frame.evaluate(attack.run, given(attack, post)).catch(() => {});
  await until('the frame to be ended', async () => (await find(origin)) === undefined);
  await worksStill();
  assert.deepEqual(post.arrivals, []);
  await page.close();
});

test('docs/security/frames.md names what Chromium does not hold: a WebRTC peer by its address', async () => {
  const post = await newPost();
  const { page, frame } = await openFrame();
  await frame.evaluate(openAttack.run, given(openAttack, post));
  // Should this fail because nothing arrives: the browser has learnt it. Move the attack to the others, and out of the page.
  await until('a datagram of a page that names a peer', () => post.arrivals.includes('datagram'));
  await page.close();
});

test('a press with the key for a new tab opens none from the frame', async () => {
  const [guarded, open] = [await newPost(), await newPost()];
  const addLink = (href: string) => {
    const link = document.createElement('a');
    Object.assign(link, { href, textContent: 'the link' });
    document.body.append(link);
  };
  const { page, frame } = await openFrame();
  await frame.evaluate(addLink, guarded.http);
  await frame.getByText('the link').click({ modifiers: ['Control'] });
  const free = await openControl();
  await free.evaluate(addLink, open.http);
  await free.getByText('the link').click({ modifiers: ['Control'] });
  await until('the link to open from a page without headers', () => open.arrivals.length > 0);
  assert.deepEqual(guarded.arrivals, []);
  await closeAllBut(page);
});

test('no name of a stranger is looked up ahead of a press', async () => {
  const { frame } = await openFrame();
  const hint = (host: string) => {
    const link = document.createElement('link');
    link.rel = 'dns-prefetch';
    link.href = `http://${host}`;
    document.head.append(link);
  };
  const anchor = (host: string) => {
    const link = document.createElement('a');
    link.href = `http://${host}`;
    link.append('a link');
    document.body.append(link);
  };
  await frame.evaluate(hint, 'hint-of-the-app.localhost');
  await frame.evaluate(anchor, 'link-of-the-app.localhost');
  const page = await openControl();
  await page.evaluate(hint, 'hint-of-nobody.localhost');
  const logged = await until('the hint of a page without headers to be followed', async () => {
    // Each look-up makes the browser write what it has logged so far.
    await page.evaluate(() => fetch('/main.js', { cache: 'no-store' }));
    const text = await readFile(netLog, 'utf8');
    return text.includes('hint-of-nobody.localhost') ? text : undefined;
  });
  for (const name of ['hint-of-the-app', 'link-of-the-app']) assert.ok(!logged.includes(name), name);
  await closeAllBut(page);
});

test('an app does not lead its frame to another app', async () => {
  const { frame: neighbour } = await openFrame('neighbour');
  const { page, frame } = await openFrame();
  const there = new URL('/picture.svg', neighbour.url()).href;
  const requests: string[] = [];
  page.on('response', (response) => requests.push(response.url()));
  await frame.evaluate((url) => location.assign(url), there);
  // Chromium puts a page of its own in the place of what it refused.
  await until('the browser to refuse', () => frame.url().startsWith('chrome-error:'));
  assert.ok(!requests.includes(there));
  await closeAllBut(page);
});

test('what an app may reach it still reaches: its own files, data in addresses, blobs, and the platform', async () => {
  const { page, frame } = await openFrame();
  const services = `http://services.apps.platform.localhost:${new URL(platform.origin).port}`;
  const reached = await frame.evaluate(async (origin) => {
    const shown = (src: string) =>
      new Promise((resolve) => {
        const image = Object.assign(new Image(), { src });
        image.onload = () => resolve('shown');
        image.onerror = () => resolve('refused');
      });
    const svg = await (await fetch('picture.svg')).blob();
    const answered = new Promise((resolve) => {
      const worker = new Worker('worker.js');
      worker.onerror = () => resolve('refused');
      worker.postMessage({});
      resolve('started');
    });
    return {
      own: await shown('picture.svg'),
      data: await shown(`data:image/svg+xml,${encodeURIComponent(await svg.text())}`),
      blob: await shown(URL.createObjectURL(svg)),
      platform: (await fetch(`${origin}/v1/services/apps`)).status,
      worker: await answered,
    };
  }, services);
  assert.deepEqual(reached, { own: 'shown', data: 'shown', blob: 'shown', platform: 401, worker: 'started' });
  await closeAllBut(page);
});
