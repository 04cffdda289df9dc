// Two people write to each other in Messages: a request, its acceptance, an answer, what is unread, the notification that opens it,
// a block; and Contacts, from where one writes. On a desktop and on a phone; pictures go to SCREENSHOT_DIR, by default screenshots/.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { SearchResult } from '@platform/contract';
import type { Browser, BrowserContext, FrameLocator, Page } from 'playwright-core';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { rawRequest } from '../support/raw-http.ts';
import { STORY_MS, until } from '../support/wait.ts';
import { checkInPrompt, DEVICES, launchBrowser, noDialog, pressInPrompt, tileOf } from './browser.ts';
import { look } from './look.ts';
import { signedInContext } from './signed-in.ts';

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;

before(async () => {
  place = await platformPlace();
  platform = await startPlatform(place);
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

interface Sitting {
  readonly account: TestAccount;
  readonly context: BrowserContext;
  readonly page: Page;
  readonly messages: FrameLocator;
}

type Viewport = { readonly width: number; readonly height: number };

async function sitDown(name: string, viewport: Viewport): Promise<Sitting> {
  const account = await registerAccount(platform, name);
  const context = await signedInContext({ browser, platform, account }, viewport);
  const page = await context.newPage();
  await page.goto(platform.origin);
  return { account, context, page, messages: page.frameLocator('iframe[title="Messages"]') };
}

/** By the Messages app of an account of this name, which it makes. */
async function requestFrom(name: string, to: string): Promise<void> {
  const account = await registerAccount(platform, name);
  const { origin, frontendCapability } = await account.browser.take<{ origin: string; frontendCapability: string }>(
    '/v1/apps/messages/launch',
    { body: {} },
  );
  const { host, port } = new URL(platform.origin);
  const ask = (path: string, body: object, headers = {}) =>
    rawRequest({
      port: Number(port),
      method: 'POST',
      path,
      headers: { host, origin, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const { capability } = (await ask('/v1/frontend/exchange', { capability: frontendCapability })).json as {
    capability: string;
  };
  const authorization = `Bearer ${capability}`;
  const answer = await ask('/v1/services/messaging/conversations/direct', { to }, { authorization });
  assert.equal(answer.status, 201, answer.text);
}

async function open({ page, messages }: Sitting): Promise<void> {
  await tileOf(page, 'Messages').click();
  await messages.getByRole('heading', { name: 'Messages', exact: true }).waitFor();
}

for (const [device, viewport] of DEVICES) {
  test(`a request, an answer, what is unread, a notification and a block, on a ${device}`, {
    timeout: STORY_MS,
  }, async (t) => {
    const ada = await sitDown(`ada-${device}`, viewport);
    const ben = await sitDown(`ben-${device}`, viewport);
    t.after(() => Promise.all([ada.context.close(), ben.context.close()]));

    await open(ada);
    await ada.messages.getByText('People reach you at').first().waitFor({ state: 'attached' });
    await look(ada.page, device, 'messages-empty');
    await ada.messages.getByRole('button', { name: 'New' }).click();
    await ada.messages.getByLabel('Name or address').fill('nobody-there');
    await ada.messages.getByRole('button', { name: 'Write' }).click();
    await ada.messages.getByRole('alert').getByText('Nobody has this address.').waitFor();
    await look(ada.page, device, 'messages-new');
    await ada.messages.getByLabel('Name or address').fill(ben.account.name);
    await ada.messages.getByRole('button', { name: 'Write' }).click();
    await ada.messages.getByText('has not accepted yet').waitFor();
    const field = ada.messages.getByLabel(`Message to ${ben.account.name}`);
    await field.fill('Is the bicycle still there?');
    await field.press('Enter');
    await ada.messages.getByRole('log').getByText('Is the bicycle still there?').waitFor();
    await look(ada.page, device, 'messages-requested');

    // The notification opens the conversation.
    await ben.page
      .getByRole('button', { name: /notification/i })
      .first()
      .click();
    await ben.page.getByText(`${ada.account.name} wants to write to you`).first().waitFor();
    await look(ben.page, device, 'messages-notification');
    await ben.page.getByRole('button', { name: 'Open', exact: true }).first().click();
    await ben.messages.getByRole('button', { name: 'Accept' }).waitFor();
    await look(ben.page, device, 'messages-request');
    await ben.messages.getByRole('button', { name: 'Accept' }).click();
    const answer = ben.messages.getByLabel(`Message to ${ada.account.name}`);
    await answer.fill('It is. Come by at six.');
    await ben.messages.getByRole('button', { name: 'Send' }).click();
    await ada.messages.getByRole('log').getByText('It is. Come by at six.').waitFor();
    await ada.messages.getByText('has not accepted yet').waitFor({ state: 'detached' });
    await look(ada.page, device, 'messages-thread');

    // The search finds with whom one has written, and nothing of what was written.
    const found = (q: string) => ada.account.browser.take<SearchResult>(`/v1/search?${new URLSearchParams({ q })}`);
    await until('the search finds whom she wrote with', async () =>
      (await found(ben.account.name)).items.some(({ appId }) => appId === 'messages'),
    );
    assert.deepEqual((await found('bicycle')).items, []);
    await ada.page.getByRole('button', { name: 'Home', exact: true }).click();
    await ada.page.keyboard.press('Control+k');
    await ada.page.keyboard.type(ben.account.name);
    await ada.page.getByRole('option', { name: new RegExp(`^${ben.account.name}`) }).click();
    await ada.messages.getByRole('log').getByText('It is. Come by at six.').waitFor();

    if (device === 'phone') await ben.messages.getByRole('button', { name: 'Back to the conversations' }).click();
    else await ben.messages.getByRole('button', { name: 'New' }).click();
    await field.fill('Perfect.\nSee you then!');
    await ada.messages.getByRole('button', { name: 'Send' }).click();
    await ben.messages
      .getByRole('button', { name: new RegExp(ada.account.name) })
      .getByText('1 unread')
      .waitFor();
    await look(ben.page, device, 'messages-unread');
    await ben.messages.getByRole('button', { name: new RegExp(ada.account.name) }).click();
    await ben.messages.getByText('unread').waitFor({ state: 'detached' });

    await ben.messages.getByLabel('More').click();
    await ben.messages.getByRole('button', { name: `Block ${ada.account.name}` }).click();
    await look(ben.page, device, 'messages-block');
    await ben.messages.getByRole('button', { name: 'Yes, block' }).click();
    await ben.messages.getByRole('button', { name: new RegExp(`^${ada.account.name}`) }).waitFor({ state: 'detached' });
    await field.fill('Are you there?');
    await field.press('Enter');
    await ada.messages.getByRole('log').getByText('Are you there?').waitFor();
    assert.equal(await ada.messages.getByText('Not sent').count(), 0);
  });

  test(`an open thread is read again when its news begin anew, on a ${device}`, { timeout: STORY_MS }, async (t) => {
    const eve = await sitDown(`eve-${device}`, viewport);
    const fay = await sitDown(`fay-${device}`, viewport);
    t.after(() => Promise.all([eve.context.close(), fay.context.close()]));
    for (const [writer, other, words] of [
      [eve, fay, 'Before the long journey'],
      [fay, eve, 'Have a good one'],
    ] as const) {
      await open(writer);
      await writer.messages.getByRole('button', { name: 'New' }).click();
      await writer.messages.getByLabel('Name or address').fill(other.account.name);
      await writer.messages.getByRole('button', { name: 'Write', exact: true }).click();
      const field = writer.messages.getByLabel(`Message to ${other.account.name}`);
      await field.fill(words);
      await field.press('Enter');
      await eve.messages.getByRole('log').getByText(words).waitFor();
    }
    let refused = 0;
    await eve.context.route('**/v1/services/messaging/sync', async (route) => {
      const { cursor } = route.request().postDataJSON() as { cursor?: string };
      if (cursor === undefined || refused > 0) return route.continue();
      refused += 1;
      return route.fulfill({
        status: 400,
        contentType: 'application/problem+json',
        headers: { 'access-control-allow-origin': route.request().headers().origin ?? '*' },
        body: JSON.stringify({ type: 'about:blank', title: 'old', status: 400, detail: 'old', code: 'invalid_cursor' }),
      });
    });
    // Ends the call that waits; the next one is refused.
    const anew = eve.page.waitForResponse((one) => one.url().endsWith('/messages?limit=50') && refused > 0);
    await fay.messages.getByLabel(`Message to ${eve.account.name}`).fill('Welcome back');
    await fay.messages.getByRole('button', { name: 'Send' }).click();
    await anew;
    for (const words of ['Before the long journey', 'Have a good one', 'Welcome back'])
      await eve.messages.getByRole('log').getByText(words).waitFor();
    assert.equal(await eve.messages.getByText('Loading…').count(), 0);
  });

  test(`whom many strangers want to write to declines them together, on a ${device}`, {
    timeout: STORY_MS,
  }, async (t) => {
    const gus = await sitDown(`gus-${device}`, viewport);
    t.after(() => gus.context.close());
    for (let count = 1; count <= 6; count += 1) await requestFrom(`crowd-${count}-${device}`, gus.account.name);
    await open(gus);
    await gus.messages.getByRole('heading', { name: 'Requests (6)' }).waitFor();
    const lines = gus.messages.getByRole('button', { name: /^crowd-/ });
    assert.equal(await lines.count(), 4);
    await look(gus.page, device, 'messages-many-requests');
    await gus.messages.getByRole('button', { name: 'Show all 6' }).click();
    assert.equal(await lines.count(), 6);
    await gus.messages.getByRole('button', { name: 'Decline all requests' }).click();
    await look(gus.page, device, 'messages-decline-all');
    await gus.messages.getByRole('button', { name: 'Yes, decline' }).click();
    await gus.messages.getByText('Nobody has written yet.').waitFor({ state: 'attached' });
    assert.equal(await lines.count(), 0);
  });

  test(`Contacts is a book, from which one writes, and of which an app gets whom the person picks, on a ${device}`, {
    timeout: STORY_MS,
  }, async (t) => {
    const cid = await sitDown(`cid-${device}`, viewport);
    const dan = await registerAccount(platform, `dan-${device}`);
    t.after(() => cid.context.close());
    const contacts = cid.page.frameLocator('iframe[title="Contacts"]');
    await tileOf(cid.page, 'Contacts').click();
    await contacts.getByText('Nobody here yet.').waitFor();
    await look(cid.page, device, 'contacts-empty');
    await contacts.getByRole('button', { name: 'Add contact' }).click();
    await contacts.getByLabel('Name or address').fill('no body');
    await contacts.getByRole('button', { name: 'Add', exact: true }).click();
    await contacts.getByRole('alert').getByText('isn’t an address').waitFor();
    await look(cid.page, device, 'contacts-wrong');
    await contacts.getByLabel('Name or address').fill(dan.name.toUpperCase());
    await contacts.getByLabel('What you call them').fill('Dan the plumber');
    await contacts.getByLabel('Note').fill('Comes on Tuesdays.');
    await contacts.getByRole('button', { name: 'Add', exact: true }).click();
    await contacts.getByRole('heading', { name: 'Dan the plumber' }).waitFor();
    await contacts.getByRole('button', { name: 'Add contact' }).click();
    await contacts.getByLabel('Name or address').fill('@grace:example.org');
    await contacts.getByRole('button', { name: 'Add', exact: true }).click();
    await contacts.getByText('On another server').waitFor();
    await look(cid.page, device, 'contacts');
    await contacts.getByRole('button', { name: 'Write to Dan the plumber' }).click();
    await cid.messages.getByLabel('Name or address').waitFor();
    assert.match(await cid.messages.getByLabel('Name or address').inputValue(), new RegExp(`^${dan.name}@`));

    await cid.messages.getByRole('button', { name: 'From contacts' }).click();
    const pick = cid.page.getByRole('dialog', { name: 'Choose a contact' });
    await checkInPrompt(pick.getByLabel('Dan the plumber'));
    await look(cid.page, device, 'contacts-pick');
    await pressInPrompt(pick.getByRole('button', { name: 'Share this contact' }), noDialog(cid.page));
    await cid.messages.getByRole('button', { name: 'Write', exact: true }).click();
    await cid.messages.getByText('has not accepted yet').waitFor();
  });
}
