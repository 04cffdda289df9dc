// The example Diary, in real Chromium with a passkey that has PRF: its person reads what they wrote, in no browser before it was opened
// there; and nothing readable leaves the browser. Pictures go to SCREENSHOT_DIR.
import { strict as assert } from 'node:assert';
import { after, before, test } from 'node:test';
import type { Browser, BrowserContext, FrameLocator, Page } from 'playwright-core';
import { registerAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { DEVICES, launchBrowser, newPerson } from './browser.ts';
import { look } from './look.ts';
import { signedInContext } from './signed-in.ts';

const SECRET = 'Nobody knows that I planted the oak.';

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

async function open(page: Page): Promise<FrameLocator> {
  await page.goto(`${platform.origin}/#/app/diary`);
  return page.frameLocator('iframe[title="Diary"]');
}

/** Everything that the pages of a browser send from here on. */
function sentBy(context: BrowserContext): () => string {
  const sent: string[] = [];
  context.on('request', (request) => sent.push(request.url(), request.postDataBuffer()?.toString('latin1') ?? ''));
  return () => sent.join('\n');
}

for (const [device, viewport] of DEVICES) {
  test(`on a ${device} its person writes, comes back, reads and deletes, and nobody else can read it`, async (t) => {
    const { context, page } = await newPerson(browser, viewport);
    t.after(() => context.close());
    await page.goto(platform.origin);
    await page.getByLabel('Account name').fill(`diarist-${device}`);
    await page.getByRole('button', { name: /^Create account/ }).click();
    await page.getByRole('button', { name: 'Home', exact: true }).waitFor();
    await page.evaluate(async () => {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch('/v1/apps', { method: 'POST', headers, body: JSON.stringify({ appId: 'diary' }) });
      if (!answer.ok) throw new Error(await answer.text());
    });
    const sent = sentBy(context);
    const diary = await open(page);
    await diary.getByText('No entries yet.').waitFor();
    await look(page, device, 'diary-empty');
    const field = diary.getByLabel('What is worth remembering today?');
    await field.fill(SECRET);
    await diary.getByRole('button', { name: 'Seal entry' }).click();
    await diary.getByText('Sealed.').waitFor();
    // What was begun is kept by the shell, in the order in which it was written.
    const isKept = (wanted: boolean) =>
      page.waitForFunction((kept) => (sessionStorage.getItem('platform.kept.state.diary') !== null) === kept, wanted);
    await isKept(false);
    await field.fill('Half a thought');
    await isKept(true);
    await page.reload();
    await diary.getByRole('article').getByText(SECRET).waitFor();
    assert.equal(await field.inputValue(), 'Half a thought');
    await look(page, device, 'diary');

    assert.match(sent(), /\/v1\/services\/files\/[^\n]+\n[\w-]{80,}\n/, 'the entry was sent, sealed');
    assert.doesNotMatch(sent(), /oak|Half a thought/);
    assert.ok(!sent().includes(Buffer.from(SECRET).toString('base64url').slice(4, -4)));

    // Another browser of the same person, which has their session and not their key.
    const elsewhere = await browser.newContext({ viewport, storageState: await context.storageState() });
    t.after(() => elsewhere.close());
    const other = await elsewhere.newPage();
    const closed = await open(other);
    await closed.getByText('This browser can’t read it yet.').waitFor();
    assert.equal(await closed.getByLabel('What is worth remembering today?').isVisible(), false);
    await look(other, device, 'diary-locked');

    await diary.getByRole('button', { name: /^Delete: / }).click();
    await diary.getByText('You can’t undo this.').waitFor();
    await diary.getByRole('button', { name: /^Delete for good: / }).click();
    await diary.getByText('No entries yet.').waitFor();
  });

  test(`on a ${device} a person without a key is told what to do`, async (t) => {
    const account = await registerAccount(platform, `keyless-${device}`);
    await account.browser.take('/v1/apps', { body: { appId: 'diary' } });
    const context = await signedInContext({ browser, platform, account }, viewport);
    t.after(() => context.close());
    const page = await context.newPage();
    const diary = await open(page);
    await diary.getByText('the platform needs a key that only you have').waitFor();
    await look(page, device, 'diary-none');
  });
}
