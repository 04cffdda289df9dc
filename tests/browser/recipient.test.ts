// What apps encrypt for a person opens with their passkeys, in real Chromium: after a sign-in, on a further device, with a further
// passkey, after the older salt, in two tabs at once, and not without PRF; and nothing that opens it reaches the platform. Pictures go to
// SCREENSHOT_DIR, by default screenshots/.
import { strict as assert } from 'node:assert';
import { after, before, type TestContext, test } from 'node:test';
import { type Recipient, recipientAnswer } from '@platform/contract';
import { newOpenKey, type OpenKey, passkeyIdOf, wrap } from '@platform/shell/recipient-key';
import pg from 'pg';
import type { Browser, BrowserContext, Frame, Page } from 'playwright-core';
import { databaseText } from '../../packages/core/test-support/database-sweep.ts';
import { newAuthenticator, registerAccount, type TestAccount } from '../support/client.ts';
import {
  databaseUrlOf,
  type PlatformPlace,
  type PlatformProcess,
  platformPlace,
  startPlatform,
} from '../support/platform-process.ts';
import { prfOutput } from '../support/software-authenticator.ts';
import { STORY_MS } from '../support/wait.ts';
import { DESKTOP, DEVICES, launchBrowser, newPerson } from './browser.ts';
import { call, connect, publishHostileApp, showApp } from './hostile-app.ts';
import { look } from './look.ts';
import { signInto } from './signed-in.ts';
import { type SoftPasskeys, softPasskeys, useSoftPasskeys, watchPrivateKeys } from './soft-passkeys.ts';

const OLDER = Buffer.alloc(32, 7).toString('base64url');
const SECRET = Buffer.from('Dear diary, nobody else reads this.').toString('base64url');

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;

before(async () => {
  place = await platformPlace({ PLATFORM_PRF_LEGACY_SALT: OLDER });
  platform = await startPlatform(place);
  const author = await registerAccount(platform, 'author');
  for (const appId of ['journal', 'nosy']) await publishHostileApp(author, appId, []);
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

/** What an app has of the bridge. */
interface JournalApp {
  status(): Promise<string>;
  /** The sealed text, or the code of the refusal. */
  seal(plaintext?: string): Promise<string>;
  open(sealed: string): Promise<string>;
}

async function appIn(page: Page, appId = 'journal'): Promise<JournalApp> {
  await page.evaluate(async (id) => {
    const headers = { 'content-type': 'application/json' };
    await fetch('/v1/apps', { method: 'POST', headers, body: JSON.stringify({ appId: id }) });
  }, appId);
  const frame: Frame = await showApp(page, appId);
  const port = await connect(frame);
  const of = async (method: string, params: object, member: string) => {
    const answered = await call(frame, port, method, params);
    return typeof answered === 'string' ? answered : String((answered as Record<string, unknown>)[member]);
  };
  return {
    status: () => of('recipient.status', {}, 'state'),
    seal: (plaintext = SECRET) => of('recipient.seal', { plaintext }, 'sealed'),
    open: (sealed) => of('recipient.open', { sealed }, 'plaintext'),
  };
}

async function registers(page: Page, name: string): Promise<void> {
  await page.goto(platform.origin);
  await page.getByLabel('Account name').fill(name);
  await page.getByRole('button', { name: /^Create account/ }).click();
  await page.getByRole('button', { name: 'Home', exact: true }).waitFor();
}

async function signsOut(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: `Account ${name}` }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You are signed out.').waitFor();
}

async function signsIn(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.getByRole('button', { name: 'Home', exact: true }).waitFor();
}

/** A browser of its own, with the passkeys of the person. */
async function deviceWith(
  t: TestContext,
  passkeys: SoftPasskeys,
  viewport: { width: number; height: number } = DESKTOP,
): Promise<{ page: Page; context: BrowserContext }> {
  const context = await browser.newContext({ viewport, reducedMotion: 'reduce' });
  context.setDefaultTimeout(60_000);
  t.after(() => context.close());
  await useSoftPasskeys(context, passkeys);
  secrets.push(passkeys.given);
  await watchPrivateKeys(context, privateKeys);
  context.on('request', (request) => sent.push(`${request.method()} ${request.url()} ${request.postData() ?? ''}`));
  return { context, page: await context.newPage() };
}

/** Everything that the pages sent, and what must not be in it. */
const sent: string[] = [];
const secrets: Buffer[][] = [];
const privateKeys = new Set<string>();

async function signsInAt(page: Page): Promise<void> {
  await page.goto(platform.origin);
  const already = page.getByRole('button', { name: 'Sign in', exact: true });
  await already.click();
  await signsIn(page);
}

async function passkeysPage(page: Page): Promise<void> {
  await page.evaluate(() => {
    location.hash = '#/settings/passkeys';
  });
  await page.getByRole('heading', { name: 'What apps encrypt for you' }).waitFor();
}

for (const [device, viewport] of DEVICES)
  test(`on a ${device}, an app seals and opens after a sign-in, and with a second passkey`, {
    timeout: STORY_MS,
  }, async (t) => {
    const { page, context, plugInKey } = await newPerson(browser, viewport);
    t.after(() => context.close());
    const name = `writer-${device}`;
    await registers(page, name);
    const atFirst = await (await appIn(page)).status();
    assert.equal(atFirst, 'ready', 'Chromium’s authenticator gives a result when it creates a passkey');
    await signsOut(page, name);
    await signsIn(page);
    const journal = await appIn(page);
    assert.equal(await journal.status(), 'ready');
    const sealed = await journal.seal();
    assert.match(sealed, /^[\w-]{100,}$/);
    assert.equal(await journal.open(sealed), SECRET);
    assert.equal(await (await appIn(page, 'nosy')).open(sealed), 'invalid_request');
    await page.reload();
    assert.equal(await (await appIn(page)).open(sealed), SECRET);

    await passkeysPage(page);
    await page.getByText('It opens in this browser').waitFor();
    await page.getByRole('button', { name: 'Add a passkey', exact: true }).click();
    await page.getByText('Confirmed. Now create the new passkey').waitFor();
    await plugInKey();
    await page.getByRole('button', { name: 'Create the passkey', exact: true }).click();
    const use = page.getByRole('button', { name: 'Use Passkey 2' });
    const opens = page.getByText('· opens what apps encrypt for you');
    await Promise.race([use.waitFor(), opens.nth(1).waitFor()]);
    await look(page, device, 'recipient-second-passkey');
    if (await use.isVisible()) await use.click();
    await opens.nth(1).waitFor();
    await look(page, device, 'recipient-ready');
  });

/** What the platform keeps of the account in this page. */
async function kept(page: Page): Promise<Recipient | null> {
  const answer = await page.evaluate(async () => (await fetch('/v1/account/recipient')).text());
  return recipientAnswer.parse(JSON.parse(answer)).recipient;
}

test('on another device it opens after a sign-in with the same passkey, and no app makes the shell ask', async (t) => {
  const passkeys = softPasskeys(newAuthenticator(platform), 'at once');
  const first = await deviceWith(t, passkeys);
  await registers(first.page, 'traveller');
  const sealed = await (await appIn(first.page)).seal();
  const second = await deviceWith(t, passkeys);
  await signsInAt(second.page);
  const { ceremonies } = passkeys;
  assert.equal(ceremonies, 2, 'the registration and the sign-in');
  assert.equal(await (await appIn(second.page)).open(sealed), SECRET);
  assert.equal(passkeys.ceremonies, ceremonies);
  // It stays at sign-out; another account in the same browser has none of it.
  await signsOut(second.page, 'traveller');
  const other = softPasskeys(newAuthenticator(platform), 'at once');
  await second.context.close();
  const third = await deviceWith(t, other);
  await registers(third.page, 'stranger');
  assert.equal(await (await appIn(third.page)).open(sealed), 'not_found');
});

test('a passkey that gives no result at its creation opens from its first sign-in on, or from its next use in Settings', async (t) => {
  const passkeys = softPasskeys(newAuthenticator(platform), 'later');
  const { page } = await deviceWith(t, passkeys);
  await registers(page, 'patient');
  const journal = await appIn(page);
  assert.equal(await journal.status(), 'none');
  assert.equal(await journal.seal(), 'unavailable');
  await passkeysPage(page);
  await page.getByText('No app has a key for it yet.').waitFor();
  await look(page, 'desktop', 'recipient-none');
  await page.getByRole('button', { name: 'Turn it on with a passkey' }).click();
  await page.getByText('It opens in this browser').waitFor();
  const sealed = await (await appIn(page)).seal();

  // A second one, made right after the registration, is not let in by itself; a press of the person does it.
  await passkeysPage(page);
  await page.getByRole('button', { name: 'Add a passkey', exact: true }).click();
  await page.getByRole('button', { name: 'Let it open that: Passkey 2' }).waitFor();
  await page.getByText('· doesn’t open what apps encrypt for you').waitFor();

  // On a device where only the second one is.
  const [one, two] = passkeys.authenticator.credentials;
  passkeys.picked = two;
  const other = await deviceWith(t, passkeys);
  await signsInAt(other.page);
  const locked = await appIn(other.page);
  assert.equal(await locked.status(), 'locked');
  assert.deepEqual([await locked.seal(), await locked.open(sealed)], ['unavailable', 'unavailable']);
  await passkeysPage(other.page);
  await other.page.getByText('It is locked in this browser').waitFor();
  await look(other.page, 'desktop', 'recipient-locked');

  await page.getByRole('button', { name: 'Let it open that: Passkey 2' }).click();
  const use = page.getByRole('button', { name: 'Use Passkey 2' });
  await use.waitFor();
  await look(page, 'desktop', 'recipient-one-more-step');
  await use.click();
  await page.getByText('· opens what apps encrypt for you').nth(1).waitFor();
  assert.equal((await kept(page))?.wrappings.length, 2);

  await signsOut(other.page, 'patient');
  await signsIn(other.page);
  assert.equal(await (await appIn(other.page)).open(sealed), SECRET);

  // Its removal takes what it opens with along; that of the last one that opens says so before.
  passkeys.picked = one;
  await page.getByRole('button', { name: 'Remove Passkey 1', exact: true }).click();
  const question = page.getByRole('region', { name: 'Remove Passkey 1?' });
  assert.equal(await question.getByText('No other passkey of yours').count(), 0);
  passkeys.picked = two;
  await question.getByRole('button', { name: 'Remove', exact: true }).click();
  await question.waitFor({ state: 'detached' });
  assert.equal((await kept(page))?.wrappings.length, 1);
});

/** An account as a former version of the platform left it: sealed under the older salt alone. */
async function olderAccount(name: string): Promise<{ passkeys: SoftPasskeys; account: TestAccount; key: OpenKey }> {
  const account = await registerAccount(platform, name);
  const [credential] = account.authenticator.credentials;
  assert.ok(credential);
  const key = await newOpenKey();
  const passkeyId = await passkeyIdOf(credential.id.toString('base64url'));
  const result = new Uint8Array(prfOutput(credential.credRandom, Buffer.from(OLDER, 'base64url')));
  const wrappings = [{ passkeyId, salt: 'older', sealed: await wrap(key, { passkeyId, result }) }];
  const body = { ifVersion: 0, publicKey: key.publicKey, wrappings };
  await account.browser.take('/v1/account/recipient', { method: 'PUT', body });
  return { passkeys: softPasskeys(account.authenticator), account, key };
}

test('what is sealed under the older salt is told to apps, and opens and is wrapped anew at the next sign-in', async (t) => {
  const { passkeys, account, key } = await olderAccount('veteran');
  const { page, context } = await deviceWith(t, passkeys);
  await signInto(context, platform, account);
  await page.goto(platform.origin);
  const before = await appIn(page);
  assert.equal(await before.status(), 'migrates-at-sign-in');
  assert.equal(await before.seal(), 'unavailable');
  assert.equal(passkeys.ceremonies, 0);
  await passkeysPage(page);
  await look(page, 'desktop', 'recipient-older');
  await signsOut(page, 'veteran');
  await signsIn(page);
  const journal = await appIn(page);
  assert.equal(await journal.status(), 'ready');
  assert.equal(await journal.open(await journal.seal()), SECRET);
  assert.equal(passkeys.ceremonies, 1, 'both salts in one ceremony');
  const recipient = await kept(page);
  assert.deepEqual([recipient?.version, recipient?.publicKey, recipient?.wrappings.length], [2, key.publicKey, 1]);
  assert.equal(recipient?.wrappings[0]?.salt, 'rp');
});

test('devices that migrate at the same moment, and tabs that make the first one, end with one key', async (t) => {
  const { passkeys, key } = await olderAccount('crowd');
  const devices = await Promise.all([1, 2].map(() => deviceWith(t, passkeys)));
  for (const { page } of devices) {
    await page.goto(platform.origin);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  }
  await Promise.all(devices.map(({ page }) => signsIn(page)));
  const apps = await Promise.all(devices.map(({ page }) => appIn(page)));
  const sealed = (await apps[0]?.seal()) ?? '';
  assert.equal(await apps[1]?.open(sealed), SECRET);
  for (const { page } of devices) assert.equal((await kept(page))?.publicKey, key.publicKey);

  // None there yet: each tab of one browser and another browser turn it on at once.
  const fresh = softPasskeys(newAuthenticator(platform), 'later');
  const first = await deviceWith(t, fresh);
  await registers(first.page, 'several');
  const tab = await first.context.newPage();
  await tab.goto(platform.origin);
  const elsewhere = await deviceWith(t, fresh);
  fresh.prf = 'none';
  await elsewhere.page.goto(platform.origin);
  await elsewhere.page.getByRole('button', { name: 'Sign in', exact: true }).click();
  const pages = [first.page, tab];
  await Promise.all(pages.map(passkeysPage));
  const turnOn = (page: Page) => page.getByRole('button', { name: 'Turn it on with a passkey' }).click();
  await Promise.all([...pages.map(turnOn), signsIn(elsewhere.page)]);
  await Promise.all(pages.map((page) => page.getByText('It opens in this browser').waitFor()));
  const written = await (await appIn(tab)).seal();
  for (const page of [first.page, elsewhere.page]) assert.equal(await (await appIn(page)).open(written), SECRET);
  assert.equal((await kept(tab))?.version, 1);
});

for (const [device, viewport] of DEVICES)
  test(`on a ${device}, whose passkey has no PRF reads once what does not work, and can start with another`, async (t) => {
    const name = `without-${device}`;
    const passkeys = softPasskeys(newAuthenticator(platform), 'none');
    const { page } = await deviceWith(t, passkeys, viewport);
    await registers(page, name);
    await page.getByText('Apps can’t encrypt for you with this passkey').waitFor();
    await look(page, device, 'recipient-said-once');
    const journal = await appIn(page);
    assert.equal(await journal.status(), 'unsupported');
    assert.equal(await journal.seal(), 'unavailable');
    await signsOut(page, name);
    await signsIn(page);
    assert.equal(await (await appIn(page)).status(), 'unsupported');
    assert.equal(await page.getByText('Apps can’t encrypt for you with this passkey').count(), 0);
    await passkeysPage(page);
    await page.getByText('The passkey you signed in with can’t do this').waitFor();
    await look(page, device, 'recipient-unsupported');
    await page.getByRole('button', { name: 'Try with another passkey' }).click();
    await page.getByText('This passkey can’t open what apps encrypt').waitFor();
    passkeys.prf = 'later';
    await page.getByRole('button', { name: 'Add a passkey', exact: true }).click();
    const create = page.getByRole('button', { name: 'Create the passkey', exact: true });
    await create.click();
    await page.getByRole('button', { name: 'Remove Passkey 2', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Try with another passkey' }).click();
    await page.getByText('It opens in this browser').waitFor();
  });

test('who lost every passkey that opens it starts anew, and what was sealed before stays where it opens', async (t) => {
  const passkeys = softPasskeys(newAuthenticator(platform), 'at once');
  const { page } = await deviceWith(t, passkeys);
  await registers(page, 'loser');
  const sealed = await (await appIn(page)).seal();
  // A second passkey that does not open it, on another device; the first is lost.
  passkeys.prf = 'later';
  await passkeysPage(page);
  await page.getByRole('button', { name: 'Add a passkey', exact: true }).click();
  await page.getByRole('button', { name: 'Let it open that: Passkey 2' }).waitFor();
  passkeys.picked = passkeys.authenticator.credentials[1];
  const other = await deviceWith(t, passkeys);
  await signsInAt(other.page);
  await passkeysPage(other.page);
  await other.page.getByRole('button', { name: 'Start anew…' }).click();
  await look(other.page, 'desktop', 'recipient-start-anew');
  await other.page.getByRole('button', { name: 'Start anew', exact: true }).click();
  await other.page.getByText('It opens in this browser').waitFor();
  const journal = await appIn(other.page);
  assert.equal(await journal.open(sealed), 'not_found');
  assert.equal(await journal.open(await journal.seal()), SECRET);
  // The browser that opened it goes on reading, and seals for the new key only once it opens that.
  await page.reload();
  const former = await appIn(page);
  assert.deepEqual([await former.open(sealed), await former.status()], [SECRET, 'locked']);
});

// Last, so that it sees what all the others did.
test('no PRF result and no private key reached the platform, its log or its database', async () => {
  const results = secrets.flat();
  assert.ok(results.length >= 10 && privateKeys.size >= 4, `${results.length} results, ${privateKeys.size} keys`);
  const forms = [...results, ...[...privateKeys].map((hex) => Buffer.from(hex, 'hex'))].flatMap((secret) =>
    (['base64url', 'base64', 'hex'] as const).map((form) => secret.toString(form).replaceAll('=', '')),
  );
  const pool = new pg.Pool({ connectionString: await databaseUrlOf(place) });
  const stored = await databaseText(pool).finally(() => pool.end());
  assert.ok(sent.some((line) => line.startsWith('PUT') && line.includes('"wrappings"')));
  assert.match(stored, /"public_key":"[\w-]{43}"/);
  for (const [where, text] of Object.entries({ sent: sent.join('\n'), stored, logged: platform.output() }))
    assert.deepEqual(
      forms.filter((form) => text.toLowerCase().includes(form.toLowerCase())),
      [],
      where,
    );
});
