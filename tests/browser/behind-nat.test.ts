// A page in real Chromium whose backend is on a node behind NAT: it reaches it through the Ingress, with the SDK as everywhere.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { registerAccount } from '../support/client.ts';
import { freePort } from '../support/free-port.ts';
import { namespacesUnavailable } from '../support/network-namespaces.ts';
import { joinNode, type NodePlace, nodePlace } from '../support/node-process.ts';
import { inOwnNetwork } from '../support/own-network.ts';
import {
  emptyPlace,
  type LongCommand,
  type PlatformPlace,
  type PlatformProcess,
  startPlatform,
} from '../support/platform-process.ts';
import { DESKTOP, launchBrowser } from './browser.ts';
import { openParlour, publishParlour } from './parlour.ts';
import { signedInContext } from './signed-in.ts';

let place: PlatformPlace;
let platform: PlatformProcess;
let hidden: NodePlace;
let node: LongCommand;
let browser: Browser;

// iroh searches the local network for a router with UPnP; this one ends here.
inOwnNetwork(import.meta.url, { skip: namespacesUnavailable(), timeout: 400_000 }, () => {
  before(async () => {
    const iroh = { PLATFORM_LINK_CARRIER: 'iroh', PLATFORM_RUNTIME_DRIVER: 'process' };
    const link = `127.0.0.1:${await freePort()}`;
    // Without a node of a former start, on which the app would be placed.
    place = await emptyPlace({
      ...iroh,
      PLATFORM_LOCAL_NODE: 'false',
      PLATFORM_LINK_LISTEN: link,
      PLATFORM_INGRESS_LINK: `127.0.0.1:${await freePort()}`,
    });
    platform = await startPlatform(place);
    hidden = await nodePlace({
      ...iroh,
      PLATFORM_NODE_ORIGIN: '',
      PLATFORM_NODE_CONTROL: '',
      PLATFORM_NODE_PUBLIC: '',
    });
    node = await joinNode(place, hidden, { name: 'hidden', url: `https://${link}` });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await node?.stop();
    await platform?.stop();
    await hidden?.remove();
    await place?.remove();
  });

  test('a page has a WebSocket and requests to its backend, all of them at the Ingress', async (t) => {
    const account = await registerAccount(platform, 'host');
    await publishParlour(account);
    await account.browser.take('/v1/apps', { body: { appId: 'parlour' } });
    const context = await signedInContext({ browser, platform, account }, DESKTOP);
    t.after(() => context.close());
    const page = await context.newPage();
    const asked: string[] = [];
    page.on('request', (request) => void asked.push(request.url()));
    page.on('websocket', (socket) => void asked.push(socket.url()));
    const app = await openParlour(platform, page);
    await app.getByText('offered: hello').waitFor();
    await app.getByRole('button', { name: 'Ask' }).click();
    await app.getByText('{"body":"asked"}').waitFor();
    const places = new Set(asked.filter((url) => url.includes('/e/')).map((url) => new URL(url).host));
    assert.equal(places.size, 1, [...places].join());
    const [host = ''] = places;
    assert.match(host, /^node-[0-9a-f-]{36}\.public\.platform\.localhost:\d+$/);
    assert.equal(Number(host.split(':')[1]), place.ingressPort);
  });
});
