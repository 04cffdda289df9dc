// A person connects a client outside the platform: the client sends the browser here, the person is asked, chooses, confirms with the
// passkey, and lands back at the client; in Settings the client is listed and disconnected. On a desktop and on a phone, by day and
// by night; pictures go to SCREENSHOT_DIR, by default screenshots/.
import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { newVerifier, OutsideClient, type Tokens } from '../support/connected-client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { DEVICES, launchBrowser, newPerson, pressInPrompt, uncheckInPrompt } from './browser.ts';
import { look, settingsFit } from './look.ts';

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;
/** The program's own page, to which the browser comes back. */
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

for (const [device, viewport] of DEVICES) {
  test(`on a ${device}, a client is connected, used, and disconnected`, async (t) => {
    const { page, context, complaints } = await newPerson(browser, viewport);
    t.after(() => context.close());
    const client = new OutsideClient({ port: Number(new URL(platform.origin).port), origin: platform.origin });
    const redirect = `http://127.0.0.1:${(program.address() as AddressInfo).port}/callback`;
    const metadata = { client_name: 'Editor of a friend', redirect_uris: [redirect] };
    const { client_id } = await client.register(metadata);
    const verifier = newVerifier();
    const authorize = (more: Readonly<Record<string, string>> = {}) => {
      const parameters = { ...client.parameters(client_id, verifier), redirect_uri: redirect, ...more };
      return `${client.origin}/oauth/authorize?${new URLSearchParams(parameters)}`;
    };
    const review = page.getByRole('dialog', { name: 'Connect a client?', exact: true });
    const backAtProgram = page.getByText('Back in the editor.', { exact: true });

    await t.test('who is not signed in is asked after that', async () => {
      await page.goto(authorize());
      await register(page, `connecting-${device}`);
      await review.waitFor();
      const text = await review.innerText();
      assert.match(text, /It calls itself “Editor of a friend”/);
      assert.match(text, /A program on this computer\. Any program here can call itself that\./);
      assert.match(text, /Read your notifications/);
      await look(page, device, 'connection-review');
    });

    await t.test('a no goes back to the client, which gets nothing', async () => {
      await pressInPrompt(review.getByRole('button', { name: 'Don’t connect', exact: true }), backAtProgram);
      const back = new URL(page.url());
      assert.deepEqual([back.searchParams.get('error'), back.searchParams.get('code')], ['access_denied', null]);
    });

    let tokens: Tokens;
    await t.test('what the person chooses is what the client gets', async () => {
      await page.goto(authorize());
      await review.waitFor();
      const everything = review.getByLabel('Use all tools');
      await uncheckInPrompt(review.getByLabel('See your schedules'));
      await everything.selectOption('Without asking');
      await review.getByText(/it can also change, send, delete and pay/).waitFor();
      await review.getByText(/it can also change, send, delete and pay/).scrollIntoViewIfNeeded();
      await look(page, device, 'connection-review-everything');
      await everything.selectOption('When I approve');
      await pressInPrompt(review.getByRole('button', { name: 'Connect', exact: true }), backAtProgram);
      const back = new URL(page.url());
      assert.equal(back.searchParams.get('iss'), client.origin);
      const answer = await client.exchanging({
        ...{ grant_type: 'authorization_code', client_id, code: back.searchParams.get('code') ?? '' },
        ...{ code_verifier: verifier, redirect_uri: redirect, resource: client.resource() },
      });
      assert.equal(answer.status, 200, answer.text);
      tokens = answer.json as Tokens;
      assert.match(tokens.scope, /tools:call:platform-search\.query/);
      assert.doesNotMatch(tokens.scope, /schedules|tools:call:\*/);
      assert.match(tokens.scope, /tools:propose:\*/);
    });

    await t.test('in Settings it is listed with what it may do, and disconnected', async () => {
      await page.goto(`${platform.origin}/#/settings/connections`);
      const row = page.getByRole('listitem').filter({ hasText: 'Editor of a friend' }).first();
      await row.getByText('Uses all tools when you approve', { exact: true }).waitFor();
      await look(page, device, 'connections-settings');
      await settingsFit(page);
      await row.getByRole('button', { name: 'Disconnect', exact: true }).click();
      await page.getByText('No clients connected', { exact: true }).waitFor();
      await look(page, device, 'connections-empty');
      const answer = await client.refreshing(client_id, tokens.refresh_token);
      assert.equal((answer.json as { error: string }).error, 'invalid_grant');
    });

    await t.test('a request for one app, and one that is over', async () => {
      const resource = client.resource('messages');
      const scope = 'tools:call:messages.list tools:propose:messages.*';
      await page.goto(authorize({ resource, scope }));
      await review.getByText(/It wants to use tools of Messages/).waitFor();
      await look(page, device, 'connection-review-app');
      await pressInPrompt(review.getByRole('button', { name: 'Don’t connect', exact: true }), backAtProgram);
      await page.goto(`${platform.origin}/#/connect/nobody-began-this-one`);
      await page.getByText('The request has expired or was decided. Connect again in the client.').waitFor();
    });

    await t.test('a client that nobody knows leads nowhere', async () => {
      await page.goto(`${client.origin}/oauth/authorize?client_id=cli-nobody`);
      await page.getByRole('heading', { name: 'This client isn’t known here' }).waitFor();
      await look(page, device, 'connection-refused');
    });

    await t.test('and the browser had nothing to complain about but what was refused', () => {
      const meant = /connection-requests\/nobody-began|oauth\/authorize|favicon|Unrecognized Content-Security-Policy/;
      assert.deepEqual(
        complaints.filter((one) => !meant.test(one)),
        [],
      );
    });
  });
}
