// Downloads in real Chromium: a frame saves nothing on the device by itself; the shell does it at a press in the frame, and asks for
// everything else. Playwright's own calls count as presses of the page they are made in, so that between the last of them and what
// is tested the app waits until the browser has forgotten it.
import { strict as assert } from 'node:assert';
import { readFile } from 'node:fs/promises';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import type { Browser, BrowserContext, Download, Frame, Page } from 'playwright-core';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { DESKTOP, launchBrowser, noDialog, pressInPrompt } from './browser.ts';
import { connect, publishHostileApp, showApp } from './hostile-app.ts';
import { look } from './look.ts';
import { signedInContext } from './signed-in.ts';

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;
let account: TestAccount;
let context: BrowserContext;
let page: Page;
let frame: Frame;
let downloads: Download[];

before(async () => {
  place = await platformPlace();
  platform = await startPlatform(place);
  account = await registerAccount(platform, 'saver');
  await publishHostileApp(account, 'hostile', []);
  await account.browser.take('/v1/apps', { body: { appId: 'hostile' } });
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

beforeEach(async () => {
  context = await signedInContext({ browser, platform, account }, DESKTOP);
  page = await context.newPage();
  downloads = [];
  page.on('download', (download) => downloads.push(download));
  await page.goto(platform.origin);
  await page.getByRole('button', { name: 'Home' }).waitFor();
  frame = await showApp(page, 'hostile');
});
afterEach(() => context.close());

/** Runs in the frame: waits for the end of presses, tells the test and waits for it, saves a file, and tells again. */
const SAVE = `
  const tell = (what) => fetch('/tell-' + what).catch(() => {});
  globalThis.saving = {
    save(port, name) {
      saving.answer = attack.call(port, 'downloads.save', { file: new Blob(['saved'], { type: 'text/html' }), name });
      return saving.answer;
    },
    async forgotten() {
      while (navigator.userActivation.isActive) await new Promise((resolve) => setTimeout(resolve, 50));
      await tell('forgotten');
    },
    async saveLater(port, name) {
      await saving.forgotten();
      saving.save(port, name);
      setTimeout(() => tell('asked'), 1_000);
    },
  };
`;
interface SavePage {
  save(port: number, name: string): Promise<unknown>;
  forgotten(): Promise<void>;
  saveLater(port: number, name: string): Promise<void>;
  readonly answer: Promise<unknown>;
}
declare const saving: SavePage;

const answer = () => frame.evaluate(() => saving.answer);
const dialog = () => page.getByRole('dialog', { name: 'Save a file?' });

/** @param meanwhile once no press counts any more, and before the app saves */
async function saveLater(name: string, meanwhile: () => Promise<void> = async () => undefined): Promise<void> {
  await page.route('**/tell-*', async (route) => {
    if (route.request().url().endsWith('forgotten')) await meanwhile();
    await route.fulfill({ body: '' });
  });
  const port = await connect(frame);
  await frame.evaluate(SAVE);
  const asked = page.waitForRequest('**/tell-asked');
  await frame.evaluate(([number, called]) => void saving.saveLater(number, called), [port, name] as const);
  await asked;
}

test('a file that nobody pressed for is saved after a question, and not without', async () => {
  await saveLater('list.html');
  await dialog().getByText('list.html').waitFor();
  await look(page, 'desktop', 'downloads-question');
  await pressInPrompt(dialog().getByRole('button', { name: 'Don’t save' }), noDialog(page));
  assert.deepEqual(await answer(), { saved: false });
  assert.deepEqual(downloads, []);

  await saveLater('other.html');
  const begun = page.waitForEvent('download');
  await pressInPrompt(dialog().getByRole('button', { name: 'Save', exact: true }), noDialog(page));
  const download = await begun;
  assert.equal(download.suggestedFilename(), 'other.html');
  assert.equal(await readFile(await download.path(), 'utf8'), 'saved');
  assert.deepEqual(await answer(), { saved: true });
});

test('a press on the shell is none in the frame', async () => {
  await saveLater('list.csv', () => page.mouse.click(DESKTOP.width / 2, 8));
  await dialog().getByText('list.csv').waitFor();
  assert.deepEqual(downloads, []);
});

test('a press in the frame saves one file at once, and what the frame begins itself is never saved', async () => {
  await page.route('**/tell-*', (route) => route.fulfill({ body: '' }));
  const port = await connect(frame);
  await frame.evaluate(SAVE);
  await frame.evaluate((number) => {
    document.querySelector('h1')?.addEventListener('click', () => {
      const addresses = [URL.createObjectURL(new Blob(['x'])), 'data:text/plain,x', '/attack.js'];
      for (const href of addresses) Object.assign(document.createElement('a'), { href, download: 'own.txt' }).click();
      void saving.save(number, 'pressed.csv').then(() => saving.save(number, 'second.csv'));
    });
  }, port);
  const { x, y } = (await frame.getByRole('heading').boundingBox()) ?? { x: 0, y: 0 };
  const forgotten = page.waitForRequest('**/tell-forgotten');
  await frame.evaluate(() => void saving.forgotten());
  await forgotten;
  await page.mouse.click(x + 5, y + 5);
  await dialog().getByText('second.csv').waitFor();
  assert.deepEqual(
    downloads.map((download) => download.suggestedFilename()),
    ['pressed.csv'],
  );
});

test('a file has a name of one line that is shown as it is saved, and is a file', async () => {
  const port = await connect(frame);
  const codes = await frame.evaluate(async (number) => {
    const { attack } = window as unknown as {
      attack: { call(port: number, method: string, params: unknown): Promise<unknown> };
    };
    const file = new Blob(['x']);
    const wrong: unknown[] = [
      ...['', '..', 'a/b', 'a\\b', 'a\nb', 'a\u202Egpj.exe', 'x'.repeat(201)].map((name) => ({ file, name })),
      ...['text', { size: 1 }, [file], null].map((other) => ({ file: other, name: 'a.txt' })),
    ];
    return Promise.all(wrong.map((params) => attack.call(number, 'downloads.save', params)));
  }, port);
  assert.deepEqual(new Set(codes), new Set(['invalid_request']));
});
