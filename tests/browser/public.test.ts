// What an app offers to the internet, as its owner meets it in real Chromium: the review before it is installed, its page in
// Settings with address, QR code, switches, ports and a new address, and an update that would open more. On a desktop and
// on a phone, by day and by night; pictures go to SCREENSHOT_DIR, by default screenshots/.
import { strict as assert } from 'node:assert';
import { after, before, test } from 'node:test';
import type { PermissionsView, PublicAddress } from '@platform/contract';
import type { Browser, Locator, Page } from 'playwright-core';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { freePort } from '../support/free-port.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { rawRequest } from '../support/raw-http.ts';
import { DESKTOP, DEVICES, launchBrowser, noDialog, pressInPrompt, uncheckInPrompt } from './browser.ts';
import { look, settingsFit } from './look.ts';
import { signedInContext } from './signed-in.ts';

const DOMAIN = 'apps.example.org';
const SERVER = `
  const http = process.getBuiltinModule('node:http');
  http.createServer((request, response) => response.end('rang ' + request.url)).listen(Number(process.env.PORT));
`;
const FILES = { 'frontend/index.html': '<!doctype html><title>t</title>', 'workload/main.mjs': SERVER };
const first = {
  summary: 'Takes webhooks and tells you of them.',
  workload: { runtime: 'node', entry: 'main.mjs' },
  permissions: [
    { id: 'notifications.publish', resources: ['rings'], reason: 'Tells you who rang.' },
    { id: 'endpoints.public', resources: ['*'], reason: 'Receives webhooks of the services you choose.' },
    { id: 'endpoints.public.udp', resources: ['UDP:7777'], reason: 'Listens to sensors.' },
  ],
  publicEndpoints: ['GET:/', 'GET:/feed.xml', 'POST:/hooks/*', 'WS:/live'],
  publicPorts: [{ name: 'sensors', protocol: 'udp', containerPort: 7777 }],
};
const second = { ...first, version: '2.0.0', publicEndpoints: [...first.publicEndpoints, 'GET:/photos/*'] };

let ingressPort: number;
let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;
let publisher: TestAccount;

before(async () => {
  ingressPort = await freePort();
  const udpPort = await freePort();
  place = await platformPlace({
    PLATFORM_RUNTIME_DRIVER: 'process',
    PLATFORM_INGRESS_DOMAIN: DOMAIN,
    PLATFORM_INGRESS_LISTEN: `127.0.0.1:${ingressPort}`,
    PLATFORM_PUBLIC_HOST: 'play.example.org',
    PLATFORM_UDP_PORT_RANGE: `${udpPort}-${Math.min(udpPort + 9, 65_535)}`,
  });
  platform = await startPlatform(place);
  publisher = await registerAccount(platform, 'publisher');
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

async function askToInstall(page: Page, name: string): Promise<void> {
  await page.goto(`${platform.origin}/#/app/store`);
  await page
    .frameLocator('iframe[title="Store"]')
    .getByRole('button', { name: `Install ${name}` })
    .click();
}

/** A request from outside, as the proxy before the Ingress passes it on. @returns status, and what the app said */
async function fromOutside(url: string | null, path: string): Promise<string> {
  const { host } = new URL(url ?? '');
  const { status, text } = await rawRequest({ port: ingressPort, path, headers: { host } });
  return status === 200 ? text : String(status);
}

/** A request of a native client that was given the line. @returns as {@link fromOutside} */
async function asClient(line: string): Promise<string> {
  const [ticket = '', capability = ''] = line.split('#');
  const { url } = JSON.parse(Buffer.from(ticket.split('.')[1] ?? '', 'base64url').toString()) as { url: string };
  const { host, pathname } = new URL(url);
  const headers = { host, authorization: `Bearer ${capability}` };
  const { status, text } = await rawRequest({
    port: place.nodePort,
    path: `${pathname.replace(/\/$/, '')}/hello`,
    headers,
  });
  return status === 200 ? text : String(status);
}

/** Presses it, and waits until the change is carried out. */
async function flip(control: Locator, to: boolean): Promise<void> {
  assert.equal(await control.getAttribute('aria-checked'), String(!to));
  await control.click();
  await control.and(control.page().locator(`[aria-checked="${to}"][aria-disabled="false"]`)).waitFor();
}

const APPS = { desktop: ['doorbell', 'Doorbell'], phone: ['gatebell', 'Gate Bell'] } as const;

for (const [device, viewport] of DEVICES) {
  const [appId, name] = APPS[device];
  test(`an owner sees and decides what the internet reaches, on a ${device}`, async (t) => {
    const account = await registerAccount(platform, `${device}-user`);
    const context = await signedInContext({ browser, platform, account }, viewport);
    t.after(() => context.close());
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: platform.origin });
    const page = await context.newPage();
    const address = () => account.browser.take<PublicAddress>(`/v1/apps/${appId}/public`);
    const granted = async () => {
      const { permissions } = await account.browser.take<PermissionsView>(`/v1/apps/${appId}/permissions`);
      return permissions.find(({ id }) => id === 'endpoints.public')?.resources ?? [];
    };

    // The review names each route, however wide the request is, and says who reaches it.
    await publishTestApp(publisher, appId, { ...first, name }, FILES);
    await askToInstall(page, name);
    const review = page.getByRole('dialog', { name: `Install ${name}?` });
    await review
      .getByText(/^Any program on this computer can send requests to this app, and once the platform/)
      .waitFor();
    const routes = review.getByRole('list', { name: 'Request' });
    assert.deepEqual(
      (await routes.getByRole('listitem').allInnerTexts()).map((text) => text.trim()),
      ['/ (GET)', '/feed.xml (GET)', '/hooks/ and everything below it (POST)', '/live (WebSocket)'],
    );
    await look(page, device, 'public-review');
    await uncheckInPrompt(routes.getByRole('checkbox', { name: '/live (WebSocket)' }));
    const done = page.getByRole('heading', { name: `${name} is installed` });
    await pressInPrompt(review.getByRole('button', { name: 'Install', exact: true }), done);
    await page.getByRole('button', { name: 'Done' }).click();
    assert.deepEqual(await granted(), ['GET:/', 'GET:/feed.xml', 'POST:/hooks/*']);

    // The page of the app leads to the page of its address.
    await page.goto(`${platform.origin}/#/settings/apps/${appId}`);
    const section = page.getByRole('region', { name: 'On the internet' });
    await section.getByText(`Anyone on the internet can send ${name} requests (3 of 4 routes open).`).waitFor();
    await look(page, device, 'public-app', [section]);
    await section.getByRole('button', { name: 'Routes, ports and requests' }).click();
    const { url } = await address();
    assert.match(url ?? '', new RegExp(`^https://${appId}--[a-z2-7]{20}\\.apps\\.example\\.org$`));
    await page.getByRole('img', { name: `QR code of ${url}` }).waitFor();
    const written = page.locator('.internet-url');
    assert.equal(await written.innerText(), url);
    const parts = await written
      .locator('span')
      .evaluateAll((all) => all.map((part) => part.getBoundingClientRect().height));
    assert.deepEqual([parts.length, new Set(parts).size], [5, 1], 'no part of the address goes over two lines');
    const heads = ['On the internet', 'Routes', 'Requests today'].map((name) => page.getByRole('heading', { name }));
    await look(page, device, 'public-page', heads);
    await settingsFit(page);
    await page.getByRole('button', { name: 'Copy the address' }).click();
    await page.getByText('Copied the address.').waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), url);

    // A switch closes one route, with the keyboard too, and opens it again.
    assert.equal(await fromOutside(url, '/feed.xml'), 'rang /feed.xml');
    const feed = page.getByRole('switch', { name: '/feed.xml GET' });
    await flip(feed, false);
    assert.equal(await fromOutside(url, '/feed.xml'), '404');
    assert.equal(await fromOutside(url, '/'), 'rang /');
    assert.deepEqual(await granted(), ['GET:/', 'POST:/hooks/*']);
    assert.equal(await feed.evaluate((element) => element === document.activeElement), true, 'it keeps the focus');
    await feed.focus();
    await page.keyboard.press('Space');
    await feed.and(page.locator('[aria-checked="true"][aria-disabled="false"]')).waitFor();
    assert.deepEqual(await granted(), ['GET:/', 'POST:/hooks/*', 'GET:/feed.xml']);
    assert.equal(await fromOutside(url, '/feed.xml'), 'rang /feed.xml');
    await flip(page.getByRole('switch', { name: '/live WebSocket' }), true);

    // A narrower grant is shown as what it is.
    const narrower = [{ id: 'endpoints.public', resources: ['GET:/', 'POST:/hooks/github'] }];
    await account.browser.take(`/v1/apps/${appId}/permissions`, { method: 'PUT', body: { permissions: narrower } });
    await page.getByText('Partly open').waitFor();
    await page.getByText('/hooks/github (POST)').waitFor();
    await look(page, device, 'public-partly', [page.getByRole('heading', { name: 'Routes' })]);
    const openAll = page.getByRole('button', { name: 'Open all of it' });
    await openAll.click();
    await openAll.waitFor({ state: 'detached' });
    assert.ok((await granted()).includes('POST:/hooks/*'));

    // A stopped app is open to nobody.
    await account.browser.take(`/v1/apps/${appId}/stop`, { method: 'POST' });
    await page.getByText(`You stopped ${name}, so nothing is open until you start it.`).waitFor();
    await look(page, device, 'public-stopped', [page.getByRole('heading', { name: 'On the internet' })]);
    await account.browser.take(`/v1/apps/${appId}/start`, { method: 'POST' });
    await page.getByText(`${name} is running.`).waitFor();

    // A new address, after a question that says what breaks.
    await page.getByRole('button', { name: 'New address …' }).click();
    const question = page.getByRole('dialog', { name: `New address for ${name}?` });
    await question.getByText('webhooks at other services').waitFor();
    await look(page, device, 'public-renew');
    const closed = noDialog(page);
    await pressInPrompt(question.getByRole('button', { name: 'Keep the address' }), closed);
    assert.equal((await address()).url, url);
    await page.getByRole('button', { name: 'New address …' }).click();
    const renewed = page.getByText(`${name} has a new address`);
    await pressInPrompt(question.getByRole('button', { name: 'New address' }), renewed);
    const next = await address();
    assert.notEqual(next.url, url);
    await page.getByRole('img', { name: `QR code of ${next.url}` }).waitFor();
    assert.deepEqual([await fromOutside(url, '/'), await fromOutside(next.url, '/')], ['421', 'rang /']);
    // What was refused, and what passed, is counted with its reason.
    await page.getByText('A path or method that is not open').waitFor();
    await page.locator('.figures dd', { hasText: /^[4-9]$/ }).waitFor();
    await look(page, device, 'public-requests', [page.getByRole('heading', { name: 'Requests today' })]);

    // An update that declares more opens nothing by itself, though the request is as wide as before.
    await publishTestApp(publisher, appId, { ...second, name }, FILES);
    await page.goto(`${platform.origin}/#/settings/apps/${appId}`);
    await page.reload();
    await page.getByRole('button', { name: 'Update to 2.0.0' }).click();
    const update = page.getByRole('dialog', { name: `Update ${name}?` });
    const news = update.getByRole('list', { name: 'Request' }).getByRole('listitem');
    await news.first().waitFor();
    assert.deepEqual(
      (await news.allInnerTexts()).map((text) => text.trim()),
      ['/photos/ and everything below it (GET)'],
    );
    await look(page, device, 'public-update');
    await uncheckInPrompt(update.getByRole('checkbox', { name: 'Answer requests from the internet' }));
    await pressInPrompt(update.getByRole('button', { name: 'Update', exact: true }), closed);
    assert.deepEqual((await address()).routes.at(-1), { method: 'GET', path: '/photos/*', state: 'not-granted' });
  });
}

for (const [device, viewport] of DEVICES) {
  test(`a native client is let in by a line, and disconnected with all others, on a ${device}`, async (t) => {
    const account = await registerAccount(platform, `${device}-client`);
    const appId = `chime-${device}`;
    await publishTestApp(publisher, appId, { ...first, name: 'Chime' }, FILES);
    await account.browser.take('/v1/apps', { body: { appId } });
    const context = await signedInContext({ browser, platform, account }, viewport);
    t.after(() => context.close());
    const page = await context.newPage();
    await page.goto(`${platform.origin}/#/settings/apps/${appId}`);
    const section = page.getByRole('region', { name: 'Native clients' });
    await section.getByRole('button', { name: 'Connect a native client' }).click();
    const line = await section.locator('.client-line').innerText();
    assert.equal(await asClient(line), 'rang /hello');
    await look(page, device, 'clients-line', [section]);
    await section.getByRole('button', { name: 'Disconnect all clients' }).click();
    await look(page, device, 'clients-question', [section]);
    await section.getByRole('button', { name: 'Disconnect', exact: true }).click();
    await section.getByText('All clients are disconnected.').waitFor();
    assert.equal(await asClient(line), '401');
    assert.equal(await section.locator('.client-line').count(), 0);
  });
}

test('an address of this computer is said to be one, and has no QR code', async (t) => {
  const account = await registerAccount(platform, 'local-user');
  await publishTestApp(publisher, 'porchbell', { ...first, name: 'Porch Bell' }, FILES);
  await account.browser.take('/v1/apps', { body: { appId: 'porchbell' } });
  const context = await signedInContext({ browser, platform, account }, DESKTOP);
  t.after(() => context.close());
  const page = await context.newPage();
  // As core answers where PLATFORM_INGRESS_DOMAIN is the one of a laptop: a stand-in for a platform of its own.
  const real = await account.browser.take<PublicAddress>('/v1/apps/porchbell/public');
  const hostname = 'porchbell--k3vq7m2xw4t5hzr2cbna.public.platform.localhost';
  const json = { ...real, hostname, url: `http://${hostname}:8791` };
  await page.route('**/v1/apps/porchbell/public', (route) => route.fulfill({ json }));
  await page.goto(`${platform.origin}/#/settings/apps/porchbell/internet`);
  await page.getByText('This address works on this computer only').waitFor();
  assert.equal(await page.getByRole('img', { name: /QR code/ }).count(), 0);
  await look(page, 'desktop', 'public-local');
});
