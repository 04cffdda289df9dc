// Clients of a backend in real Chromium: a page that keeps a WebSocket and gets another capability when its owner
// disconnects all clients, and a native client that was connected in Settings, which does not.
import { strict as assert } from 'node:assert';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { registerAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { rawRequest } from '../support/raw-http.ts';
import { DESKTOP, launchBrowser } from './browser.ts';
import { openParlour, publishParlour } from './parlour.ts';
import { signedInContext } from './signed-in.ts';

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;

before(async () => {
  place = await platformPlace({ PLATFORM_RUNTIME_DRIVER: 'process' });
  platform = await startPlatform(place);
  browser = await launchBrowser();
  const publisher = await registerAccount(platform, 'publisher');
  await publishParlour(publisher);
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

/** A request of a native client that was given this line. */
async function statusWith(line: string): Promise<number> {
  const [ticket = '', capability = ''] = line.split('#');
  const { url }: { url: string } = JSON.parse(Buffer.from(ticket.slice('pet1.'.length), 'base64url').toString());
  const { host, pathname } = new URL(url);
  const headers = { host, authorization: `Bearer ${capability}` };
  return (await rawRequest({ port: place.nodePort, path: `${pathname}/own`, headers })).status;
}

test('a page goes on with another capability when its owner disconnects all clients, and a native client does not', async (t) => {
  const account = await registerAccount(platform, 'host');
  await account.browser.take('/v1/apps', { body: { appId: 'parlour' } });
  const context = await signedInContext({ browser, platform, account }, DESKTOP);
  t.after(() => context.close());
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: platform.origin });
  const settings = await context.newPage();
  const app = await openParlour(platform, await context.newPage());
  await app.getByText('offered: hello').waitFor();

  await settings.goto(`${platform.origin}/#/settings/apps/parlour`);
  const section = settings.getByRole('region', { name: 'Native clients' });
  await section.getByRole('button', { name: 'Connect a native client' }).click();
  await section.getByRole('button', { name: 'Copy the line' }).click();
  await settings.getByText('Copied the line.').waitFor();
  const line = await settings.evaluate(() => navigator.clipboard.readText());
  assert.match(line, /^pet1\.[\w-]+#pdc_[\w-]{43}$/);
  assert.equal(await statusWith(line), 200);

  await section.getByRole('button', { name: 'Disconnect all clients' }).click();
  await section.getByRole('button', { name: 'Disconnect', exact: true }).click();
  await section.getByText('All clients are disconnected.').waitFor();
  assert.equal(await statusWith(line), 401);
  await app.getByText('offered: hello closed').waitFor();
  await app.getByRole('button', { name: 'Ask' }).click();
  await app.getByText('closed {"body":"asked"}').waitFor();
});
