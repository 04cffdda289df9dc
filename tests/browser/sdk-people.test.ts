// The part of the SDK that is about people, in the frame of an app: the cases of the suite about conversations and addresses, and
// the address book, of which an app gets whom the person picks.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import type { PickedContact } from '@platform/contract';
import type { App } from '@platform/sdk/browser';
import { buildSdk } from '@platform/sdk/build';
import type { Browser, Frame, Page } from 'playwright-core';
import { FRIEND } from '../sdk/suite/messaging-cases.ts';
import { peopleCases } from '../sdk/suite/people-cases.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { bundleCases } from '../support/sdk-suite.ts';
import { checkInPrompt, DESKTOP, launchBrowser, noDialog, pressInPrompt } from './browser.ts';
import { signedInContext } from './signed-in.ts';

/** What the page of the test app offers to `frame.evaluate`. */
interface TestPage {
  readonly app: App;
  /** What came of a case: `kept`, or its failure. */
  runCase(name: string): Promise<string>;
  codeOf(work: Promise<unknown>): Promise<string>;
}
declare const sdkTest: TestPage;

const APP = 'sdk-people';
const PERMISSIONS = ['messaging.read', 'messaging.send', 'messaging.resolve'].map((id) => ({ id, resources: ['*'] }));
const PAGE = '<!doctype html><html lang="en"><title>People</title><script type="module" src="page.js"></script>';
const SCRIPT = `
import { App } from './platform-sdk.js';
import { peopleCases } from './people-cases.js';
const app = await App.connect();
globalThis.sdkTest = {
  app,
  codeOf: (work) => work.then(() => 'no refusal', (error) => error.code),
  runCase: (name) => peopleCases[name]({ client: { messaging: app.messaging() } }).then(() => 'kept', String),
};
`;

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;
let page: Page;
let account: TestAccount;

before(async () => {
  place = await platformPlace({ PLATFORM_RATE_LIMITS: 'messagingDirect=1000' });
  [platform, browser] = await Promise.all([startPlatform(place), launchBrowser()]);
  await registerAccount(platform, FRIEND);
  account = await registerAccount(platform, 'frame-user');
  await publishTestApp(
    account,
    APP,
    { name: 'People', permissions: PERMISSIONS.map((one) => ({ ...one, reason: 'It is a test.' })) },
    {
      'frontend/index.html': PAGE,
      'frontend/page.js': SCRIPT,
      'frontend/platform-sdk.js': await readFile((await buildSdk()).browser),
      'frontend/people-cases.js': await bundleCases('people-cases.ts'),
    },
  );
  await account.browser.take('/v1/apps', { body: { appId: APP, permissions: PERMISSIONS } });
  page = await (await signedInContext({ browser, platform, account }, DESKTOP)).newPage();
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

/** The frame of the app, connected. */
async function openApp(): Promise<Frame> {
  await page.goto(`${platform.origin}/#/app/${APP}`);
  const frame = await (await page.locator('iframe[title="People"]').elementHandle())?.contentFrame();
  assert.ok(frame);
  await frame.waitForFunction(() => 'sdkTest' in globalThis);
  return frame;
}

test('in a frame the SDK keeps every promise of its suite about people', async () => {
  const frame = await openApp();
  const names = Object.keys(peopleCases);
  assert.ok(names.length > 5);
  for (const name of names) assert.equal(await frame.evaluate((one) => sdkTest.runCase(one), name), 'kept', name);
});

test('of the address book an app gets whom the person picks, and nothing else', async () => {
  const add = (body: object) =>
    account.browser.take<{ contact: { address: string } }>('/v1/account/contacts', { body });
  const named = await add({ address: FRIEND, label: 'My friend', note: 'Nobody else reads this' });
  const unnamed = await add({ address: '@grace:example.org' });
  const frame = await openApp();
  const dialog = page.getByRole('dialog', { name: 'Choose a contact' });
  const picks: readonly [string, PickedContact][] = [
    ['My friend', { address: named.contact.address, label: 'My friend' }],
    ['@grace:example.org', { address: unnamed.contact.address, label: '' }],
  ];
  for (const [label, picked] of picks) {
    const asked = frame.evaluate(() => sdkTest.app.pickContact());
    await dialog.waitFor();
    // One question at a time.
    assert.notEqual(await frame.evaluate(() => sdkTest.codeOf(sdkTest.app.pickContact())), 'no refusal');
    await checkInPrompt(dialog.getByLabel(label));
    await pressInPrompt(dialog.getByRole('button', { name: 'Share this contact' }), noDialog(page));
    assert.deepEqual(await asked, picked);
  }
  for (const decline of [
    () => pressInPrompt(dialog.getByRole('button', { name: 'Choose nobody' }), noDialog(page)),
    () => page.keyboard.press('Escape'),
  ]) {
    const asked = frame.evaluate(() => sdkTest.app.pickContact());
    await dialog.waitFor();
    await decline();
    assert.equal(await asked, null);
  }
  const book = () => sdkTest.codeOf(sdkTest.app.bridge.request('contacts.list', {}));
  assert.equal(await frame.evaluate(book), 'not_authorized');
});

test('whom the person picked the app can write to', async () => {
  const frame = await openApp();
  const asked = frame.evaluate(async () => {
    const picked = await sdkTest.app.pickContact();
    const opened = await sdkTest.app.messaging().direct(picked?.address ?? '');
    return [picked?.address, opened.participants[0]?.address];
  });
  const dialog = page.getByRole('dialog', { name: 'Choose a contact' });
  await checkInPrompt(dialog.getByLabel('My friend'));
  await pressInPrompt(dialog.getByRole('button', { name: 'Share this contact' }), noDialog(page));
  const [picked, written] = await asked;
  assert.match(picked ?? '', new RegExp(`^${FRIEND}@`));
  assert.equal(written, picked);
});
