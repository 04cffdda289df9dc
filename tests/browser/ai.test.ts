// Settings → AI in real Chromium: keys that are written and never read, what apps used this month, and their limits. The
// calls are real, up to a scripted provider.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import OpenAI from 'openai';
import type { Browser, Page } from 'playwright-core';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type IntelligenceApp, type IntelligenceWorld, startIntelligenceWorld } from '../support/intelligence-world.ts';
import { type DESKTOP, DEVICES, launchBrowser, type PHONE } from './browser.ts';
import { look, settingsFit } from './look.ts';
import { signedInContext } from './signed-in.ts';

const OWN_KEY = 'sk-canary-own-77d0c2';
const SHELL = path.join(import.meta.dirname, '../../packages/shell/dist');
const MESSAGES = [{ role: 'user' as const, content: 'Say hello.' }];

let world: IntelligenceWorld;
let browser: Browser;
let writer: IntelligenceApp;
let newcomer: TestAccount;

before(async () => {
  world = await startIntelligenceWorld({}, { config: { shellDirectory: SHELL } });
  nameModels();
  browser = await launchBrowser();
  writer = await world.openApp('letter-writer', ['openai:*', 'anthropic:*']);
  const reader = await world.openApp('paper-reader', ['openai:*']);
  await world.openApp('quiet-helper', ['openai:small']);
  const removed = await world.openApp('former-helper', ['openai:*']);
  for (const model of ['small', 'small', 'small', 'large']) await ask(writer, model);
  for (const model of ['small', 'gpt-1']) await ask(reader, model);
  await ask(removed, 'small');
  await Promise.all([writer.settled(), reader.settled(), removed.settled()]);
  assert.equal((await world.account.fetch('/v1/apps/former-helper', { method: 'DELETE' })).status, 204);
  await asAfterAMonth();
  newcomer = await registerAccount(world.core, 'newcomer');
});
after(async () => {
  await browser?.close();
  await world?.close();
});

/** With models, and one provider that has no key for everybody. */
function nameModels(): void {
  const { origin } = world.provider;
  const models = [
    { id: 'small', inputPrice: 0.5, outputPrice: 2 },
    { id: 'large', inputPrice: 3, outputPrice: 15 },
    { id: 'gpt-1' },
  ];
  const openai = {
    id: 'openai',
    name: 'OpenAI',
    baseUrl: `${origin}/v1`,
    dialect: 'openai',
    platformKeyFile: 'key',
    models,
  };
  const anthropic = { id: 'anthropic', name: 'Anthropic', baseUrl: origin, dialect: 'anthropic' };
  writeFileSync(world.file, JSON.stringify({ providers: [openai, anthropic], monthlyTokens: 2_000_000 }));
  world.core.core.context.settings.reloadFile();
}

async function ask({ port, token }: IntelligenceApp, model: string): Promise<void> {
  const baseURL = `http://127.0.0.1:${port}/v1/services/intelligence/openai`;
  const client = new OpenAI({ baseURL, apiKey: token, maxRetries: 0 });
  await client.chat.completions.create({ model, messages: MESSAGES });
}

/** The scripted provider reports 16 tokens a call, too few to look at. */
async function asAfterAMonth(): Promise<void> {
  const { pool } = world.core.core.context;
  await pool.query(
    'UPDATE intelligence_usage SET input_tokens = input_tokens * 9173, output_tokens = output_tokens * 9173',
  );
  await pool.query('UPDATE intelligence_meters SET used = used * 9173');
}

async function openPage(account: TestAccount, viewport: typeof PHONE | typeof DESKTOP, hash: string): Promise<Page> {
  const context = await signedInContext({ browser, platform: world.core, account }, viewport);
  const page = await context.newPage();
  await page.goto(`${world.core.origin}/#/settings/${hash}`);
  return page;
}

for (const [device, viewport] of DEVICES) {
  test(`on a ${device} a key is added, replaced, chosen and removed, and never shown`, async (t) => {
    const page = await openPage(world.account, viewport, 'ai');
    t.after(() => page.context().close());
    const row = page.getByRole('listitem').filter({ hasText: 'Anthropic' });
    await row.getByText('Apps can’t use it without a key').waitFor();
    await row.getByRole('button', { name: 'Add your key for Anthropic' }).click();
    const field = page.getByLabel('API key for Anthropic');
    await field.fill('two words');
    await field.press('Enter');
    await row.getByText('Paste the key as the provider shows it: one word without spaces.').waitFor();
    await look(page, device, 'ai-key');
    await field.fill(OWN_KEY);
    await field.press('Enter');
    await row.getByText('Your key is used').waitFor();
    await page.reload();
    await row.getByText('Your key is used').waitFor();
    assert.ok(!(await page.content()).includes(OWN_KEY));

    const openai = page.getByRole('listitem').filter({ hasText: 'OpenAI' });
    await openai.getByText('The platform’s key is used').waitFor();
    await openai.getByRole('button', { name: 'Add your key for OpenAI' }).click();
    await page.getByLabel('API key for OpenAI').fill(OWN_KEY);
    await page.getByRole('button', { name: 'Save the key' }).click();
    await openai.getByText('Your key is used').waitFor();
    await ask(writer, 'small');
    assert.equal(world.provider.seen.at(-1)?.headers.authorization, `Bearer ${OWN_KEY}`);
    await openai.getByText('The platform’s key', { exact: true }).click();
    await openai.getByText('The platform’s key is used').waitFor();
    await openai.getByRole('button', { name: 'Replace your key for OpenAI' }).waitFor();
    await openai.getByText('3 models').waitFor();
    for (const provider of [row, openai]) {
      await provider.getByRole('button', { name: /^Remove your key/ }).click();
      await provider.getByRole('button', { name: 'Remove', exact: true }).click();
      await provider.getByRole('button', { name: /^Add your key/ }).waitFor();
    }
  });

  test(`on a ${device} the month is a chart and a table with costs, and limits hold until the operator’s are back`, async (t) => {
    const page = await openPage(world.account, viewport, 'ai');
    t.after(() => page.context().close());
    await page.getByText('letter-writer').first().waitFor();
    await page.getByText(/ tokens used by your apps$/).waitFor();
    await page.getByText('Figures by model').click();
    const table = page.getByRole('table');
    const figures = await table.innerText();
    assert.match(figures, /large openai\s+1\s+100,903\s+45,865\s+\$0\.99/);
    assert.match(figures, /gpt-1 openai\s+1\s+100,903\s+45,865\s+unknown/);
    assert.match(figures, /Removed apps\s+\$0\.14\s+small openai\s+\d/);
    await page.getByText(/^Estimated cost: at least \$1\.\d\d\. No price is known for 1 model\./).waitFor();
    await settingsFit(page);
    await look(page, device, 'ai', [
      page.getByRole('heading', { name: 'AI' }),
      table,
      page.getByRole('heading', { name: 'Limits' }),
    ]);

    const app = page
      .getByRole('listitem')
      .filter({ has: page.getByRole('button', { name: /limits of letter-writer$/ }) });
    await app.getByText(/ of 2,000,000 tokens used this month/).waitFor();
    await app.getByText('The operator’s limits: 2,000,000 tokens a month, 60 calls a minute.').waitFor();
    await app.getByRole('button', { name: 'Change the limits of letter-writer' }).click();
    await page.keyboard.press('Escape');
    await page.locator(':focus').filter({ hasText: 'Change the limits of letter-writer' }).press('Enter');
    const form = page.locator('form.limit-form');
    const field = page.getByLabel('Tokens a month for letter-writer');
    const rate = page.getByLabel('Calls a minute for letter-writer');
    await page.locator(':focus').fill('much');
    assert.equal(await field.inputValue(), 'much', 'who opens the form with the keyboard is in its first field');
    await field.press('Enter');
    await form.getByText('Enter a whole number of tokens, such as 100,000.').waitFor();
    await field.fill('3,000,000');
    await field.press('Enter');
    await form.getByText('The operator allows at most 2,000,000 tokens a month. Enter that or less.').waitFor();
    await field.scrollIntoViewIfNeeded();
    await look(page, device, 'ai-limit');
    await field.fill('1,000');
    await rate.fill('0');
    await rate.press('Enter');
    await form.getByText('Enter a whole number of calls, at least 1.').waitFor();
    await rate.fill('30');
    await rate.press('Enter');
    await app
      .getByText(
        'Your limits: 1,000 tokens a month, 30 calls a minute. The operator allows 2,000,000 tokens and 60 calls.',
      )
      .waitFor();
    await page.getByText('The platform refuses further AI calls of letter-writer until next month.').waitFor();
    await assert.rejects(ask(writer, 'small'), (error) => {
      assert.ok(error instanceof OpenAI.RateLimitError);
      assert.match(error.message, /budget/);
      return true;
    });
    await page.goto(`${world.core.origin}/#/settings/apps/letter-writer`);
    await page.getByText(/ of 1,000 tokens used this month/).waitFor();
    await settingsFit(page);
    await look(page, device, 'app-ai', [page.getByRole('heading', { name: 'AI', exact: true })]);
    await page.getByRole('button', { name: 'Change the limits of letter-writer' }).click();
    await page.getByRole('button', { name: 'Use the operator’s limits' }).click();
    await page.getByText(/ of 2,000,000 tokens used this month/).waitFor();
    await ask(writer, 'small');
  });

  test(`on a ${device} who has no app with AI is told so, and without any provider what to do`, async (t) => {
    const page = await openPage(newcomer, viewport, 'ai');
    t.after(() => page.context().close());
    await page.getByText('None of your apps uses AI').waitFor();
    await look(page, device, 'ai-no-app');
    writeFileSync(world.file, JSON.stringify({ providers: [] }));
    world.core.core.context.settings.reloadFile();
    await page.reload();
    await page.getByText('This platform has no AI provider yet', { exact: true }).waitFor();
    await look(page, device, 'ai-no-provider');
    nameModels();
  });
}
