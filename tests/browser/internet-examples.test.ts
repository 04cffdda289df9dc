// The pages of the examples Webhook Inbox and UDP Echo as their owner meets them, in real Chromium against a whole platform:
// what to give to a sender, what arrived, and what to do where there is no port. tests/system has their clients.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { type AskBackend, openBackend } from '../support/backend.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { freeUdpPort } from '../support/free-port.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { ingressVariables, publicUrlOf } from '../support/public-address.ts';
import { rawRequest } from '../support/raw-http.ts';
import { DEVICES, FIRST_DEVICE, launchBrowser } from './browser.ts';
import { look } from './look.ts';
import { signedInContext } from './signed-in.ts';

const WEBHOOKS = [
  { id: 'endpoints.public', resources: ['POST:/hooks/*'] },
  { id: 'notifications.publish', resources: ['deliveries'] },
];
const UDP = [{ id: 'endpoints.public.udp', resources: ['UDP:auto'] }];

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;
let account: TestAccount;
let address: URL;
let port: number;
/** As the page of Webhook Inbox asks it. */
let ask: AskBackend;

before(async () => {
  port = await freeUdpPort();
  const range = { PLATFORM_UDP_PORT_RANGE: `${port}-${port}` };
  place = await platformPlace({ PLATFORM_RUNTIME_DRIVER: 'process', ...range, ...(await ingressVariables()) });
  [platform, browser] = await Promise.all([startPlatform(place), launchBrowser()]);
  account = await registerAccount(platform, 'receiver');
  await account.browser.take('/v1/apps', { body: { appId: 'webhooks', permissions: WEBHOOKS } });
  await account.browser.take('/v1/apps', { body: { appId: 'udp-echo', permissions: [] } });
  address = await publicUrlOf(account, 'webhooks');
  ask = await openBackend(place, account, 'webhooks');
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

async function deliver(id: string, content: object): Promise<void> {
  const { secret } = (await ask('/inbox')).json as { secret: string };
  const [body, at] = [JSON.stringify(content), String(Math.floor(Date.now() / 1_000))];
  const hmac = createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'));
  const signature = `v1,${hmac.update(`${id}.${at}.${body}`).digest('base64')}`;
  const fields = { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature };
  const headers = { host: address.host, 'content-type': 'application/json', ...fields };
  const answer = await rawRequest({
    port: Number(address.port),
    path: '/hooks/my-shop',
    method: 'POST',
    headers,
    body,
  });
  assert.equal(answer.status, 201, answer.text);
}

for (const [device, viewport] of DEVICES) {
  test(`on a ${device} the owner of Webhook Inbox sets a sender up, and reads what it delivers`, async (t) => {
    const context = await signedInContext({ browser, platform, account }, viewport);
    t.after(() => context.close());
    const page = await context.newPage();
    await page.goto(`${platform.origin}/#/app/webhooks`);
    const app = page.frameLocator('iframe[title="Webhook Inbox"]');
    if (device === FIRST_DEVICE) {
      await app.getByText('No deliveries yet. Set up a sender above.').waitFor();
      await look(page, device, 'webhooks-empty');
    } else await app.getByText('Set up a sender', { exact: true }).click();
    await app.getByLabel('Address of this app').fill(`${address.origin}/hooks/whatever`);
    await app.getByRole('button', { name: 'Save' }).click();
    await app.getByText(`${address.origin}/hooks/my-shop`, { exact: true }).waitFor();
    await app.getByRole('button', { name: 'Show' }).click();
    await app.getByText(/^whsec_/).waitFor();
    await look(page, device, 'webhooks-setup');
    await deliver(`msg_${device}`, { order: 17, for: device, items: ['tulips', 'roses'] });
    const delivery = app.getByRole('listitem').filter({ hasText: `msg_${device}` });
    await delivery.getByText('my-shop').click();
    await delivery.getByText(`"for": "${device}"`).waitFor();
    await app.getByText('Set up a sender', { exact: true }).click();
    await look(page, device, 'webhooks');
  });

  test(`on a ${device} the owner of UDP Echo reads what to allow, and then its address and key`, async (t) => {
    const permit = (permissions: typeof UDP) =>
      account.browser.take('/v1/apps/udp-echo/permissions', { method: 'PUT', body: { permissions } });
    await permit([]);
    const context = await signedInContext({ browser, platform, account }, viewport);
    t.after(() => context.close());
    const page = await context.newPage();
    await page.goto(`${platform.origin}/#/app/udp-echo`);
    const app = page.frameLocator('iframe[title="UDP Echo"]');
    if (device === FIRST_DEVICE) {
      await app.getByRole('heading', { name: 'No UDP port yet' }).waitFor();
      await look(page, device, 'udp-echo-none');
    }
    await permit(UDP);
    await app.getByText(`127.0.0.1:${port}`, { exact: true }).waitFor();
    await app.getByRole('button', { name: 'Show' }).click();
    await app.getByText(new RegExp(`^node client.mjs 127.0.0.1:${port} [A-Za-z0-9_-]{43} hello$`)).waitFor();
    await look(page, device, 'udp-echo');
  });
}
