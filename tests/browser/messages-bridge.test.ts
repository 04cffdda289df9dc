// Messages and Contacts of a platform whose messages a bridge carries, over real homeservers: somebody on another server is written to
// and answers, somebody without encryption is not, and what the person sees while the bridge is away. Pictures go to SCREENSHOT_DIR.
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { type BridgeWorld, startBridgeWorld } from '../support/bridge-world.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import type { MatrixClient } from '../support/matrix-client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { synapsePackages } from '../support/synapse.ts';
import { STORY_MS } from '../support/wait.ts';
import { DEVICES, launchBrowser, tileOf } from './browser.ts';
import { look } from './look.ts';
import { signedInContext } from './signed-in.ts';

const packages = await synapsePackages();
const skip = packages === null && 'needs Python with venv, and a package index';
const AWAY = 'The messaging bridge does not answer.';

suite('messages through a bridge', { skip, timeout: STORY_MS }, () => {
  let world: BridgeWorld;
  let place: PlatformPlace;
  let platform: PlatformProcess;
  let browser: Browser;
  let zoe: MatrixClient;
  before(async () => {
    world = await startBridgeWorld(packages ?? '');
    const { listen, token, serverName } = world.options;
    place = await platformPlace({
      PLATFORM_MESSAGING_SERVER_NAME: serverName,
      PLATFORM_MESSAGING_BRIDGE_URL: `http://${listen.host}:${listen.port}`,
      PLATFORM_MESSAGING_BRIDGE_TOKEN: token,
    });
    [platform, browser, zoe] = await Promise.all([startPlatform(place), launchBrowser(), world.stranger('zoe')]);
    // Nobody ever signs in to it.
    await world.away.register('plain', 'only-of-tests');
  });
  after(async () => {
    await browser?.close();
    await platform?.stop();
    await place?.remove();
    await world?.close();
  });

  async function openMessages(account: TestAccount, viewport: { readonly width: number; readonly height: number }) {
    const context = await signedInContext({ browser, platform, account }, viewport);
    const page = await context.newPage();
    await page.goto(platform.origin);
    await tileOf(page, 'Messages').click();
    return { context, page, messages: page.frameLocator('iframe[title="Messages"]') };
  }

  for (const [device, viewport] of DEVICES) {
    test(`somebody elsewhere answers, somebody without encryption cannot, and a bridge that is away is said, on a ${device}`, async (t) => {
      const account = await registerAccount(platform, `ada-${device}`);
      await world.stopBridge();
      const { context, page, messages } = await openMessages(account, viewport);
      t.after(() => context.close());
      await messages.getByRole('alert').getByText(AWAY).first().waitFor();
      await look(page, device, 'messages-bridge-away');
      await world.startBridge();
      await messages.getByText('Press “New” to write to somebody.').waitFor();
      await messages.getByText(`ada-${device}@${world.options.serverName}`).first().waitFor({ state: 'attached' });
      assert.equal(await messages.getByRole('alert').getByText(AWAY).count(), 0);

      const write = async (address: string, words: string) => {
        await messages.getByRole('button', { name: 'New' }).click();
        await messages.getByLabel('Name or address').fill(address);
        await messages.getByRole('button', { name: 'Write', exact: true }).click();
        const field = messages.getByLabel(`Message to ${address}`);
        await field.fill(words);
        await field.press('Enter');
      };
      await write(zoe.userId, `Hello from ${device}`);
      const room = await zoe.invitedBy(`@ada-${device}:${world.options.serverName}`);
      await zoe.do('join', { room });
      await messages.getByText('has not accepted yet').waitFor({ state: 'detached' });
      await zoe.do('send', { room, body: `Hello ${device}` });
      await messages.getByRole('log').getByText(`Hello ${device}`, { exact: true }).waitFor();
      await messages.getByText('On another server').filter({ visible: true }).first().waitFor();
      await look(page, device, 'messages-elsewhere');

      await world.stopBridge();
      const field = messages.getByLabel(`Message to ${zoe.userId}`);
      await field.fill(`Are you there, ${device}?`);
      await field.press('Enter');
      await messages.getByText('Not sent.').waitFor();
      await messages.getByText('Messages tries again by itself.').filter({ visible: true }).first().waitFor();
      await look(page, device, 'messages-bridge-not-sent');
      await world.startBridge();
      await messages.getByText('Messages tries again by itself.').first().waitFor({ state: 'detached' });
      await messages.getByRole('button', { name: 'Try again' }).click();
      await zoe.receives(`Are you there, ${device}?`);
      await messages.getByText('Not sent.').waitFor({ state: 'detached' });

      if (device === 'phone') await messages.getByRole('button', { name: 'Back to the conversations' }).click();
      await write(`@plain:${world.away.serverName}`, 'Can you read this?');
      await messages.getByText('no device with encryption').waitFor();
      await look(page, device, 'messages-no-encryption');
    });
  }
});
