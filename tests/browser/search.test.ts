// The search of the shell: what is found appears as one types, by app, and opens where the app said. On a desktop with
// the keyboard alone and on a phone; pictures go to SCREENSHOT_DIR, by default screenshots/.
import { strict as assert } from 'node:assert';
import { after, before, type TestContext, test } from 'node:test';
import type { SearchEntry } from '@platform/contract';
import type { Browser, Page, Request } from 'playwright-core';
import { openBackend } from '../support/backend.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { DESKTOP, launchBrowser, PHONE, tileOf } from './browser.ts';
import { look } from './look.ts';
import { signedInContext } from './signed-in.ts';

/** Direction characters are refused; letters that read from right to left are not. */
const HOSTILE = '<img src=x onerror="document.title=1"><b>Oat</b> אחורה drawkcab';
const GRANTS = [{ id: 'search.index', resources: ['self'] }];
/** Fills its index, and then listens. */
const SERVER = `
  import { readFile } from 'node:fs/promises';
  const http = process.getBuiltinModule('node:http');
  const { PLATFORM_API_URL, PLATFORM_GATEWAY_TOKEN, PORT } = process.env;
  const answer = await fetch(new URL('/v1/services/search/index', PLATFORM_API_URL), {
    method: 'PUT',
    headers: { authorization: 'Bearer ' + PLATFORM_GATEWAY_TOKEN, 'content-type': 'application/json' },
    body: await readFile(new URL('entries.json', import.meta.url)),
  });
  if (!answer.ok) throw new Error(await answer.text());
  http.createServer((request, response) => response.end('here')).listen(Number(PORT));
`;

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;
let account: TestAccount;

before(async () => {
  // So few that a test can use them up.
  place = await platformPlace({ PLATFORM_RATE_LIMITS: 'session=120/600' });
  platform = await startPlatform(place);
  account = await registerAccount(platform, 'reader');
  await install('kitchen', 'Kitchen', [
    { id: 'milk', title: 'Oat milk', kind: 'recipe', url: '/recipes/milk?page=2', text: 'Soak overnight' },
    { id: 'bread', title: 'Oat bread', kind: 'recipe', url: '?recipe=bread' },
    ...Array.from({ length: 6 }, (_, at) => ({ id: `oats-${at}`, title: `Oats, part ${at}`, url: `?part=${at}` })),
    { id: 'hostile', title: HOSTILE, kind: '</bdi><b>bold</b>', url: '?hostile' },
  ]);
  await install('library', 'Oak Library', [
    { id: 'oak', title: 'The oak', kind: 'book', url: '?book=oak' },
    { id: 'tokyo', title: '東京の会議', kind: 'book', url: '?book=tokyo' },
  ]);
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

async function install(appId: string, name: string, entries: readonly SearchEntry[]): Promise<void> {
  const workload = { runtime: 'node', entry: 'main.mjs' };
  const page = `<main><h1>${name}</h1><label>Own <input></label></main>`;
  const files = {
    'frontend/index.html': `<!doctype html><html lang="en"><title>${name}</title>${page}</html>`,
    'workload/main.mjs': SERVER,
    'workload/entries.json': JSON.stringify({ entries }),
  };
  await publishTestApp(account, appId, { name, workload, permissions: GRANTS }, files);
  await account.browser.take('/v1/apps', { body: { appId, permissions: GRANTS } });
  const ask = await openBackend(platform, account, appId);
  assert.equal((await ask('/')).status, 200);
}

async function openDesk(t: TestContext, viewport: { width: number; height: number }): Promise<Page> {
  const context = await signedInContext({ browser, platform, account }, viewport);
  t.after(() => context.close());
  const page = await context.newPage();
  await page.goto(platform.origin);
  await tileOf(page, 'Kitchen').waitFor();
  return page;
}

const fieldOf = (page: Page) => page.getByRole('combobox', { name: 'Search your apps' });
const status = (page: Page) => page.locator('.search-state');
const queryOf = (request: Request) => new URL(request.url()).searchParams.get('q');

/** The words of the option that Enter would choose. */
async function chosen(page: Page): Promise<string> {
  const id = await fieldOf(page).getAttribute('aria-activedescendant');
  const option = page.locator(`#${id}`);
  assert.equal(await option.getAttribute('aria-selected'), 'true');
  assert.equal(await page.locator('#search-hits [aria-selected="true"]').count(), 1);
  return await option.evaluate((line) => (line.querySelector('.hit-title') ?? line).textContent ?? '');
}

test('with the keyboard alone: by app as one types, around the list, and the app opens at the place', async (t) => {
  const page = await openDesk(t, DESKTOP);
  assert.equal(await page.getByText('Ctrl K', { exact: true }).isVisible(), true);
  await page.getByRole('button', { name: 'Home' }).focus();
  await page.keyboard.press('Control+k');
  assert.equal(await fieldOf(page).getAttribute('aria-expanded'), 'false');
  await page.keyboard.type('oa');
  await page.getByRole('group', { name: 'Apps' }).getByRole('option', { name: 'Oak Library' }).waitFor();
  const kitchen = page.getByRole('group', { name: 'Kitchen', exact: true });
  assert.equal(await kitchen.getByRole('option').count(), 5);
  const library = page.getByRole('group', { name: 'Oak Library', exact: true });
  assert.equal(await library.getByRole('option').count(), 1);
  assert.match((await status(page).textContent()) ?? '', /^\d+ results, \d+ of them in 2 apps$/);
  assert.equal(await chosen(page), 'Oak Library');
  await look(page, 'desktop', 'search-as-typed');

  // Up from the first is the last, and down from there the first again.
  await page.keyboard.press('ArrowUp');
  assert.equal(await chosen(page), await page.locator('.hit-title').last().textContent());
  await page.keyboard.press('ArrowDown');
  assert.equal(await chosen(page), 'Oak Library');
  // What is left out of an app with many results is a line of its own.
  const more = kitchen.getByRole('option', { name: '5 more in Kitchen' });
  while ((await chosen(page)) !== '5 more in Kitchen') await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await more.waitFor({ state: 'detached' });
  assert.equal(await kitchen.getByRole('option').count(), 9);
  assert.equal(await chosen(page), await kitchen.locator('.hit-title').nth(4).textContent());

  await page.keyboard.press('Escape');
  assert.equal(await fieldOf(page).inputValue(), '');
  assert.equal(await page.getByRole('listbox').count(), 0);
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('aria-label')), 'Home');

  await page.keyboard.press('Control+k');
  await page.keyboard.type('oat milk');
  await page.getByRole('option', { name: 'Oat milk' }).waitFor();
  await page.keyboard.press('Enter');
  const frame = page.locator('iframe[title="Kitchen"]');
  await page.locator('iframe[title="Kitchen"][src*="/recipes/milk?page=2#"]').waitFor();
  await page.frameLocator('iframe[title="Kitchen"]').getByRole('heading', { name: 'Kitchen' }).waitFor();
  // An open page that knows nothing of the platform goes there too.
  await page.keyboard.press('Control+k');
  await page.keyboard.type('bread');
  await page.getByRole('option', { name: 'Oat bread' }).waitFor();
  await page.keyboard.press('Enter');
  await page.locator('iframe[title="Kitchen"][src*="?recipe=bread#"]').waitFor();
  const { origin } = new URL((await frame.getAttribute('src')) ?? '');
  assert.match(origin, /^http:\/\/kitchen--/);
});

test('while an input method composes, its keys choose nothing', async (t) => {
  const page = await openDesk(t, DESKTOP);
  const field = fieldOf(page);
  await field.focus();
  const composing = await field.evaluateHandle((input: HTMLInputElement) => {
    const keys: string[] = [];
    input.addEventListener('keydown', ({ key, isComposing }) => isComposing && keys.push(key));
    return keys;
  });
  // As an input method does: the letters are there, and searched for, but not yet what the person means.
  const method = await page.context().newCDPSession(page);
  const text = '東京';
  await method.send('Input.imeSetComposition', { text, selectionStart: text.length, selectionEnd: text.length });
  await page.getByRole('option', { name: '東京の会議' }).waitFor();
  for (const key of ['ArrowUp', 'Enter', 'Escape']) await page.keyboard.press(key);
  assert.deepEqual(await composing.jsonValue(), ['ArrowUp', 'Enter', 'Escape']);
  assert.equal(await field.inputValue(), text);
  assert.equal(await field.getAttribute('aria-expanded'), 'true');
  assert.equal(await page.locator('iframe[title="Oak Library"]').count(), 0);
  await method.send('Input.insertText', { text });
  await page.keyboard.press('Enter');
  await page.locator('iframe[title="Oak Library"][src*="?book=tokyo#"]').waitFor();
});

test('keys that are pressed in an app are the app’s: they open no search, and an app can forge none', async (t) => {
  const page = await openDesk(t, DESKTOP);
  await page.goto(`${platform.origin}/#/app/kitchen`);
  const frame = await page.locator('iframe[title="Kitchen"]').elementHandle();
  const kitchen = await frame?.contentFrame();
  assert.ok(kitchen);
  const own = kitchen.getByLabel('Own');
  await own.click();
  await own.evaluate((input: HTMLInputElement) => {
    input.addEventListener('keydown', (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      input.setAttribute('data-heard', event.key);
    });
  });
  await page.keyboard.press('Control+k');
  await kitchen.locator('[data-heard=k]').waitFor();
  // As an app that wants the search open under a person's hands.
  const arrived = page.evaluate(
    () =>
      new Promise<void>((resolve) => {
        addEventListener('message', ({ data }) => data?.type === 'keydown' && resolve());
      }),
  );
  await own.evaluate((input) => {
    const forged = new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true, composed: true });
    input.dispatchEvent(forged);
    parent.postMessage({ type: 'keydown', key: 'k', ctrlKey: true }, '*');
  });
  await arrived;
  assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'IFRAME');
  await page.keyboard.type('oa');
  assert.deepEqual([await own.inputValue(), await fieldOf(page).inputValue()], ['oa', '']);

  await page.getByRole('button', { name: 'Home' }).focus();
  await page.keyboard.press('Control+k');
  assert.equal(await fieldOf(page).evaluate((field) => field === document.activeElement), true);
});

test('what an app chose is text, whatever it looks like', async (t) => {
  const page = await openDesk(t, DESKTOP);
  await fieldOf(page).fill('drawkcab');
  const option = page.getByRole('option');
  await option.waitFor();
  assert.equal(await option.locator('.hit-title').textContent(), HOSTILE);
  assert.equal(await option.locator('.hit-about').textContent(), '</bdi><b>bold</b>');
  assert.deepEqual(await option.evaluate((line) => [...line.querySelectorAll('*')].map(({ tagName }) => tagName)), [
    'BDI',
    'BDI',
  ]);
});

test('a letter ends the question before it, late answers change nothing, and a slow core holds up no typing', async (t) => {
  const page = await openDesk(t, DESKTOP);
  const held = new Map<string, () => void>();
  const ended: (string | null)[] = [];
  page.on('requestfailed', (request) => ended.push(queryOf(request)));
  // Stands for a slow way to core: these answers come when the test lets them.
  await page.route('**/v1/search?*', async (route) => {
    const query = queryOf(route.request()) ?? '';
    if (query === 'oa' || query === 'oat m') await new Promise<void>((release) => held.set(query, release));
    // The page may have given the request up meanwhile.
    await route.continue().catch(() => undefined);
  });
  const asked = (query: string) => page.waitForRequest((request) => queryOf(request) === query);
  const field = fieldOf(page);
  await field.focus();
  // All of it with one event: a busy machine may take longer between two keys than the shell waits for the next.
  await Promise.all([asked('oa'), page.keyboard.insertText('oa')]);
  await page.keyboard.type('t');
  assert.equal(await field.inputValue(), 'oat');
  await page.getByRole('option', { name: 'Oat bread' }).waitFor();
  assert.deepEqual(ended, ['oa']);
  held.get('oa')?.();
  await Promise.all([asked('oat m'), page.keyboard.insertText(' m')]);
  await status(page).getByText('Searching …').waitFor();
  assert.equal(await page.getByRole('option', { name: 'Oat bread' }).isVisible(), true, 'what was found stays');
  assert.equal(await page.getByRole('option', { name: 'The oak' }).count(), 0, 'the late answer is not shown');
  // Enter means the answer to what is typed, not what is still listed.
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('iframe[title="Kitchen"]').count(), 0);
  held.get('oat m')?.();
  await page.locator('iframe[title="Kitchen"][src*="/recipes/milk?page=2#"]').waitFor();
  assert.equal(await field.inputValue(), '');
});

test('the list is drawn with the next frame after the answer', async (t) => {
  const page = await openDesk(t, DESKTOP);
  await page.evaluate(() => {
    const list = document.querySelector('.search-results');
    if (list === null) throw new Error('there is no list');
    // A task after the frame in which the change was drawn.
    const onChange = () => requestAnimationFrame(() => setTimeout(() => performance.mark('drawn')));
    new MutationObserver(onChange).observe(list, { childList: true, characterData: true, subtree: true });
  });
  const field = fieldOf(page);
  await field.focus();
  const waits: number[] = [];
  for (const text of ['o', 'oa', 'oat', 'oat b', 'oak', '東京']) {
    await page.evaluate(() => performance.clearMarks());
    await field.fill(text);
    const wait = await page.waitForFunction((typed) => {
      const answers = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
      const answer = answers.findLast(({ name }) => new URL(name).searchParams.get('q') === typed);
      const drawn = answer && performance.getEntriesByName('drawn').find((mark) => mark.startTime > answer.responseEnd);
      return answer && drawn && drawn.startTime - answer.responseEnd;
    }, text);
    waits.push(Number(await wait.jsonValue()));
  }
  t.diagnostic(`from the end of the answer to the drawn list: ${waits.map((wait) => wait.toFixed(0)).join(', ')} ms`);
  assert.equal(await page.getByRole('option', { name: '東京の会議' }).isVisible(), true);
});

test('on a phone it is a page of its own, and a tap opens', async (t) => {
  const page = await openDesk(t, PHONE);
  const button = page.getByRole('button', { name: 'Search', exact: true });
  await button.click();
  await fieldOf(page).fill('oa');
  await page.getByRole('option', { name: 'The oak' }).waitFor();
  await look(page, 'phone', 'search-as-typed');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await button.waitFor();
  assert.equal(await button.evaluate((element) => element === document.activeElement), true);
  await button.click();
  await fieldOf(page).fill('nothing like it');
  await status(page).getByText('Nothing found for “nothing like it”.').waitFor();
  await fieldOf(page).fill('the oak');
  await page.getByRole('option', { name: 'The oak' }).click();
  await page.locator('iframe[title="Oak Library"][src*="?book=oak#"]').waitFor();
});

test('when a person has searched too much, the search says so and goes on by itself', async (t) => {
  const page = await openDesk(t, DESKTOP);
  const field = fieldOf(page);
  await field.focus();
  let refused = false;
  const usedUp = (async () => {
    while (!refused) await Promise.all(Array.from({ length: 20 }, () => account.fetch('/v1/runtime')));
  })();
  // Each letter may still get the last of what is left.
  for (let letters = 1; !refused; letters += 1) {
    const text = `oat ${letters}`;
    const [answer] = await Promise.all([
      page.waitForResponse((response) => queryOf(response.request()) === text),
      field.fill(text),
    ]);
    refused = answer.status() === 429;
  }
  await usedUp;
  await status(page)
    .getByText(/^Too many searches\. Retrying in (?:a|\d+) seconds?\.$/)
    .waitFor();
  await field.fill('oat bread');
  await page.getByRole('option', { name: 'Oat bread' }).waitFor();
});
