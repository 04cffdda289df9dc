// An agent asks its person before it searches the web: all four answers, a search that is over before it is answered, and taking a
// consent back in Settings. The agent calls core as through its Gateway; the search engine is a fake. Pictures go to SCREENSHOT_DIR.
import { strict as assert } from 'node:assert';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { declareAgent } from '../../packages/core/test-support/agents.ts';
import { type FakeEngine, startFakeEngine } from '../../packages/core/test-support/fake-engine.ts';
import { registerAccount } from '../support/client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import { installTestApp } from '../support/installed-app.ts';
import { problemCode, type RawAnswer } from '../support/raw-http.ts';
import { DEVICES, launchBrowser, noDialog, pressInPrompt } from './browser.ts';
import { look, settingsFit } from './look.ts';
import { signedInContext } from './signed-in.ts';

const SHELL = path.join(import.meta.dirname, '../../packages/shell/dist');

let folder: string;
let fake: FakeEngine;
let world: Constellation;
let browser: Browser;

before(async () => {
  fake = await startFakeEngine();
  fake.results = [{ title: 'Ficus', url: 'https://plants.example/ficus', text: 'Water it.' }];
  folder = await mkdtemp(path.join(tmpdir(), 'web-search-'));
  const webSearchFile = path.join(folder, 'engine.json');
  await writeFile(webSearchFile, JSON.stringify({ kind: 'searxng', url: fake.origin }));
  world = await startConstellation({ config: { shellDirectory: SHELL, webSearchFile } });
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await world?.close();
  await fake?.close();
  await rm(folder, { recursive: true, force: true });
});

function found(answer: RawAnswer): void {
  assert.equal(answer.status, 200, answer.text);
}

for (const [device, viewport] of DEVICES) {
  test(`on a ${device} the person decides what an agent searches for`, async (t) => {
    const account = await registerAccount(world, `${device}-asked`);
    const appId = `scout-${device}`;
    const agent = await installTestApp(world, account, appId, [], { name: 'Scout' });
    await declareAgent(world, appId);
    const search = (query: string, session = 's1') =>
      agent.call('/v1/services/web-search', { body: { query, session } });
    const context = await signedInContext({ browser, platform: world, account }, viewport);
    t.after(() => context.close());
    const page = await context.newPage();
    await page.goto(`${world.origin}/#/app/${appId}`);
    await page.waitForSelector('iframe[title="Scout"]');
    const review = page.getByRole('dialog', { name: 'Search the web?', exact: true });
    const button = (name: string) => review.getByRole('button', { name, exact: true });

    await t.test('once, with the query as it is sent', async () => {
      const searching = search('how often to water a ficus \u202Esutcac');
      await review.getByText('how often to water a ficus [U+202E]sutcac').waitFor();
      await look(page, device, 'web-search-question');
      await pressInPrompt(button('Search once'), noDialog(page));
      found(await searching);
    });

    await t.test('not at all, by the button or by closing the question', async () => {
      for (const close of [
        () => pressInPrompt(button('Don’t search'), noDialog(page)),
        () => page.keyboard.press('Escape'),
      ]) {
        const searching = search('something private');
        await review.waitFor();
        await close();
        assert.equal(problemCode(await searching), 'consent_denied');
      }
    });

    await t.test('for a session', async () => {
      const searching = search('in this session');
      await review.waitFor();
      await pressInPrompt(button('Allow in this session'), noDialog(page));
      found(await searching);
      found(await search('again in this session'));
    });

    await t.test('a search that is over is asked about no more', async () => {
      const searching = search('impatient', 's2').catch(() => undefined);
      await review.waitFor();
      await agent.restart();
      await noDialog(page).waitFor();
      await searching;
    });

    await t.test('an agent in the background does not interrupt: a message leads to its question', async () => {
      await page.goto(`${world.origin}/#/settings/apps`);
      const searching = search('from the background', 's3');
      const message = page.getByText('Scout wants to search the web');
      await message.waitFor();
      assert.equal(await review.isVisible(), false);
      await look(page, device, 'web-search-message');
      await page.getByRole('button', { name: 'Review', exact: true }).click();
      await review.getByText('from the background').waitFor();
      await pressInPrompt(button('Always allow for Scout'), noDialog(page));
      found(await searching);
      found(await search('from now on', 's4'));
    });

    await t.test('what was always allowed is taken back in Settings', async () => {
      await page.goto(`${world.origin}/#/settings/apps/${appId}`);
      const section = page.getByRole('region', { name: 'Web search' });
      await section.getByText(/Scout searches the web without asking you, since/).waitFor();
      await section.scrollIntoViewIfNeeded();
      await look(page, device, 'web-search-settings');
      await settingsFit(page);
      await section.getByRole('button', { name: 'Ask me before each search' }).click();
      await section.getByText(/Scout asks you before it searches the web/).waitFor();
      const searching = search('after that', 's4');
      await page.getByRole('button', { name: 'Review', exact: true }).click();
      await pressInPrompt(button('Don’t search'), noDialog(page));
      assert.equal(problemCode(await searching), 'consent_denied');
    });
  });
}
