// A connected client proposes calls of tools: its person hears of it wherever they are in the shell, reads exactly what is proposed,
// approves or declines; Settings has what waits, what apps offer, and the record. On a desktop and on a phone, by day and by night;
// pictures go to SCREENSHOT_DIR, by default screenshots/.
import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { Proposal } from '@platform/contract';
import type { Browser, Page } from 'playwright-core';
import { newVerifier, OutsideClient, type Tokens } from '../support/connected-client.ts';
import { connectHub, type HubClient } from '../support/mcp-client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { DEVICES, launchBrowser, newPerson, noDialog, pressInPrompt } from './browser.ts';
import { look, settingsFit } from './look.ts';

const DIRECT = 'platform-messaging.direct';
const SEND = 'platform-messaging.send';
/** It turns what follows, and has lines beyond the fold. */
const LETTER = `Dear \u202eneB, this is long.\n${Array.from({ length: 12 }, (_, at) => `Line ${at} of the letter.`).join('\n')}`;

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;
let program: http.Server;

before(async () => {
  place = await platformPlace();
  platform = await startPlatform(place);
  browser = await launchBrowser();
  program = http.createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>Editor</title><p>Back in the editor.'),
  );
  program.listen(0, '127.0.0.1');
  await once(program, 'listening');
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
  program?.close();
});

async function register(page: Page, name: string): Promise<void> {
  await page.getByLabel('Account name').fill(name);
  await page.getByRole('button', { name: /^Create account/ }).click();
  await page.getByRole('button', { name: 'Home', exact: true }).waitFor();
}

/** The person connects a client in the browser, with what is chosen beforehand. */
async function connected(page: Page): Promise<HubClient> {
  const client = new OutsideClient({ port: Number(new URL(platform.origin).port), origin: platform.origin });
  const redirect = `http://127.0.0.1:${(program.address() as AddressInfo).port}/callback`;
  const { client_id } = await client.register({ client_name: 'Editor of a friend', redirect_uris: [redirect] });
  const verifier = newVerifier();
  const parameters = { ...client.parameters(client_id, verifier), redirect_uri: redirect };
  await page.goto(`${client.origin}/oauth/authorize?${new URLSearchParams(parameters)}`);
  const connect = page
    .getByRole('dialog', { name: 'Connect a client?' })
    .getByRole('button', { name: 'Connect', exact: true });
  await pressInPrompt(connect, page.getByText('Back in the editor.', { exact: true }));
  const answer = await client.exchanging({
    ...{ grant_type: 'authorization_code', client_id },
    ...{ code: new URL(page.url()).searchParams.get('code') ?? '', code_verifier: verifier },
    ...{ redirect_uri: redirect, resource: client.resource() },
  });
  const { access_token } = answer.json as Tokens;
  await page.goto(platform.origin);
  await page.getByRole('button', { name: 'Home', exact: true }).waitFor();
  return connectHub({ port: Number(new URL(client.origin).port), origin: client.origin }, access_token, {
    path: '/mcp',
  });
}

async function proposed(hub: HubClient, name: string, given: Record<string, unknown>): Promise<Proposal> {
  const result = (await hub.client.callTool({ name, arguments: given })) as CallToolResult;
  return (result.structuredContent as { proposal: Proposal }).proposal;
}

async function outcome(hub: HubClient, id: string): Promise<Proposal> {
  const got = await hub.client.callTool({ name: 'platform-proposals.get', arguments: { id } });
  return (got.structuredContent as { proposal: Proposal }).proposal;
}

for (const [device, viewport] of DEVICES) {
  test(`on a ${device}, what a client proposes is read, approved and declined`, async (t) => {
    const other = await newPerson(browser, viewport);
    t.after(() => other.context.close());
    await other.page.goto(platform.origin);
    await register(other.page, `ben-${device}`);
    const { page, context, complaints } = await newPerson(browser, viewport);
    t.after(() => context.close());
    await page.goto(platform.origin);
    await register(page, `ada-${device}`);
    await using hub = await connected(page);
    const toast = page.getByText('A client, “Editor of a friend”, asks for your approval', { exact: true });
    let conversationId = '';

    await t.test('the person hears of it, and has it done with the passkey', async () => {
      const { id } = await proposed(hub, DIRECT, { to: `ben-${device}` });
      await toast.waitFor();
      await look(page, device, 'proposal-toast');
      await page.getByRole('button', { name: 'Look', exact: true }).click();
      const review = page.getByRole('dialog', { name: 'Open a conversation?', exact: true });
      await review.waitFor();
      const text = await review.innerText();
      assert.match(text, /“Editor of a friend”, as it calls itself, proposes it/);
      assert.match(text, new RegExp(`ben-${device}`));
      assert.match(text, /This speaks to others in your name/);
      await look(page, device, 'proposal-review');
      await pressInPrompt(
        review.getByRole('button', { name: 'Approve', exact: true }),
        page.getByText('Done', { exact: true }),
      );
      const done = await outcome(hub, id);
      assert.equal(done.state, 'executed');
      const { structuredContent } = done.result as { structuredContent: { conversation: { id: string } } };
      conversationId = structuredContent.conversation.id;
      await toast.waitFor({ state: 'detached' });
    });

    await t.test('what cannot be seen in it is named, and what is long is folded whole', async () => {
      const { id } = await proposed(hub, SEND, { conversationId, message: { body: LETTER } });
      await page.goto(`${platform.origin}/#/proposals/${id}`);
      const review = page.getByRole('dialog', { name: 'Send a message?', exact: true });
      await review.waitFor();
      await look(page, device, 'proposal-review-folded');
      await pressInPrompt(review.getByText(/^All \d+ characters$/), review.getByText(/Line 11 of the letter/));
      const text = await review.innerText();
      assert.match(text, /Dear \[U\+202E\]neB/);
      assert.match(text, /Line 11 of the letter\./);
      await look(page, device, 'proposal-review-unfolded');
      await pressInPrompt(review.getByRole('button', { name: 'Decline', exact: true }), noDialog(page));
      assert.equal((await outcome(hub, id)).state, 'declined');
    });

    await t.test('Settings has what waits, and the record', async () => {
      const ids: string[] = [];
      for (const body of ['One', 'Two'])
        ids.push((await proposed(hub, SEND, { conversationId, message: { body } })).id);
      await page.goto(`${platform.origin}/#/settings/tools`);
      const waiting = page.getByRole('region', { name: 'Waits for you' });
      await waiting.getByRole('button', { name: 'Decide', exact: true }).nth(1).waitFor();
      await page.getByRole('region', { name: 'Record' }).getByText('Proposed', { exact: true }).first().waitFor();
      await look(page, device, 'tools-settings');
      await settingsFit(page);
      await waiting.getByRole('button', { name: 'Decide', exact: true }).first().click();
      const review = page.getByRole('dialog', { name: 'Send a message?', exact: true });
      await review.getByText('Two').waitFor();
      await pressInPrompt(
        review.getByRole('button', { name: 'Approve', exact: true }),
        page.locator('section:has(#pending-title) li:only-child'),
      );
      assert.equal((await outcome(hub, ids[1] ?? '')).state, 'executed');
      // Withdrawn by the client: it goes by itself.
      await hub.client.callTool({ name: 'platform-proposals.cancel', arguments: { id: ids[0] } });
      await waiting.waitFor({ state: 'detached' });
    });

    await t.test('one that is over, or that nobody made, is said to be so', async () => {
      await page.goto(`${platform.origin}/#/proposals/prop-nobody-made-this-one`);
      await page.getByText('The proposal is no longer there, or belongs to another account.').waitFor();
    });

    await t.test('and the browser had nothing to complain about but what was refused', () => {
      const meant = /proposals\/prop-nobody|oauth\/authorize|favicon|Unrecognized Content-Security-Policy/;
      assert.deepEqual(
        complaints.filter((one) => !meant.test(one)),
        [],
      );
    });
  });
}
