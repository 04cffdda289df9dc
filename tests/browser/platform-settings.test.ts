// The master account sets what holds for the whole platform: from Fleet to the shell's own page, with a passkey for each change.
// The model server is a double. Pictures go to SCREENSHOT_DIR, by default screenshots/.
import { strict as assert } from 'node:assert';
import { globSync } from 'node:fs';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser, FrameLocator, Locator, Page } from 'playwright-core';
import { providersFile } from '../../packages/core/test-support/intelligence.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import { type ModelServerDouble, startModelServer } from '../support/model-server-double.ts';
import { DESKTOP, DEVICES, launchBrowser, newPerson, type Person } from './browser.ts';
import { look, settingsFit } from './look.ts';
import { signedInContext } from './signed-in.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const KEY = 'sk-canary-typed-in-fleet-4e2c';

const file = providersFile({
  providers: [
    {
      id: 'anthropic',
      name: 'Anthropic',
      baseUrl: 'https://api.anthropic.com',
      dialect: 'anthropic',
      platformKeyFile: 'key',
    },
  ],
  monthlyTokens: 2_000_000,
});

let world: Constellation;
let ollama: ModelServerDouble;
let browser: Browser;
let landlord: Person;
let page: Page;
let fleet: FrameLocator;

before(async () => {
  ollama = await startModelServer('ollama', ['llama3.2:latest', 'qwen3:8b', 'gemma3:4b']);
  world = await startConstellation({
    config: {
      masterAccount: 'landlord',
      registration: null,
      defaultPlan: null,
      intelligenceFile: file.file,
      shellDirectory: path.join(ROOT, 'packages/shell/dist'),
    },
    systemPackages: globSync('apps/*/dist/*.tgz', { cwd: ROOT }).map((name) => ({ path: path.join(ROOT, name) })),
    modelPlaces: [{ port: ollama.port, path: '/api/tags' }],
  });
  browser = await launchBrowser();
  landlord = await newPerson(browser, DESKTOP);
  page = landlord.page;
  await page.goto(world.origin);
  await page.getByLabel('Account name').fill('landlord');
  await page.getByRole('button', { name: 'Create account', exact: true }).click();
  await page.getByRole('button', { name: 'Account landlord' }).waitFor();
  fleet = page.frameLocator('iframe[title="Fleet"]');
});
after(async () => {
  await browser?.close();
  await world?.close();
  await ollama?.close();
  file.remove();
});

async function lookOnBoth(name: string, parts: readonly Locator[] = []): Promise<void> {
  for (const [device, viewport] of DEVICES) {
    await page.setViewportSize(viewport);
    await look(page, device, name, parts);
  }
  await page.setViewportSize(DESKTOP);
}

const rowOf = (text: string) => page.getByRole('listitem').filter({ hasText: text });
const confirmIn = (row: Locator) => row.getByRole('button', { name: 'Confirm with your passkey', exact: true });
const changes = () => page.getByRole('list', { name: 'Changes made here', exact: true }).getByRole('listitem');

test('Fleet shows the settings, and leads to the page that changes them', async () => {
  await page.goto(`${world.origin}/#/app/fleet`);
  await fleet.getByRole('button', { name: 'Settings', exact: true }).click();
  await fleet.getByText('Open to everyone', { exact: false }).waitFor();
  await lookOnBoth('fleet-settings');
  assert.deepEqual(ollama.seen, [], 'nobody looks for model servers before the page is opened');
  await fleet.getByRole('button', { name: 'Change settings …', exact: true }).click();
  await page.getByRole('heading', { name: 'Platform', exact: true }).waitFor();
  assert.match(page.url(), /#\/settings\/platform$/);
  await page.getByRole('button', { name: 'Use Ollama with your passkey', exact: true }).waitFor();
  await settingsFit(page);
  await lookOnBoth('platform-settings', [
    page.getByRole('heading', { name: 'Platform', exact: true }),
    page.getByRole('heading', { name: 'AI providers', exact: true }),
    page.getByRole('heading', { name: 'What each app may use of AI', exact: true }),
  ]);
});

test('who may register is changed with a passkey', async () => {
  const row = rowOf('Registration').first();
  await row.getByRole('button', { name: 'Change Registration', exact: true }).click();
  await row.getByRole('radio', { name: /^By invitation/ }).check();
  await lookOnBoth('platform-registration', [row]);
  await confirmIn(row).click();
  await row.getByText('By invitation. Only people with a link from you, made in Fleet.').waitFor();
  await changes().getByText('Registration: By invitation instead of the default').waitFor();
  await assert.rejects(registerAccount(world, 'stranger'), /invitation only/);
  assert.equal(await row.getByText('Default', { exact: true }).count(), 0);
});

test('what the file says cannot be changed here, and says so', async () => {
  const tokens = rowOf('Tokens a month').first();
  await tokens.getByText('Set on the server', { exact: true }).waitFor();
  await tokens.getByText(/PLATFORM_INTELLIGENCE_FILE.*can’t be changed here/).waitFor();
  assert.equal(await tokens.getByRole('button').count(), 0);
  const anthropic = rowOf('https://api.anthropic.com').first();
  await anthropic.getByText('Set on the server', { exact: true }).waitFor();
  assert.equal(await anthropic.getByRole('button').count(), 0);
});

test('a model server that was found is used with one press and a passkey', async () => {
  await rowOf(ollama.origin).getByText('llama3.2:latest, qwen3:8b, gemma3:4b').waitFor();
  await page.getByRole('button', { name: 'Use Ollama with your passkey', exact: true }).click();
  await page.getByRole('button', { name: 'Change Ollama', exact: true }).waitFor();
  await rowOf(ollama.origin).getByText('Everybody uses the platform’s key, or their own.').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Use Ollama with your passkey' }).count(), 0);
  const { intelligence } = await world.core.context.settings.read();
  assert.deepEqual(
    intelligence.providers.map(({ id, models }) => [id, models.length]),
    [
      ['anthropic', 0],
      ['ollama', 3],
    ],
  );
});

test('a provider is added with its key, changed and removed, and the key is never shown', async () => {
  await page.getByRole('button', { name: 'Add a provider', exact: true }).click();
  const form = page.getByRole('form', { name: 'Add a provider', exact: true });
  await form.getByLabel('Id', { exact: true }).fill('Open AI');
  await form.getByLabel('Address of the API', { exact: true }).fill('api.openai.com');
  await confirmIn(form).click();
  await form.getByText('Use 1 to 32 of a–z, 0–9 and -, such as openai.').waitFor();
  await form.getByText('Enter an address that starts with https:// or http://.').waitFor();
  await lookOnBoth('platform-provider-wrong', [form]);
  await form.getByLabel('Id', { exact: true }).fill('openai');
  await form.getByLabel('Name', { exact: true }).fill('OpenAI');
  await form.getByLabel('Address of the API', { exact: true }).fill('https://api.openai.com/v1');
  await form.getByLabel('API key of the platform', { exact: true }).fill(KEY);
  await form.getByLabel('Models', { exact: true }).fill('gpt-5-mini 0.25 2\ngpt-5');
  await confirmIn(form).click();
  const row = rowOf('openai · https://api.openai.com/v1').first();
  await row.getByText('2 models').waitFor();
  await changes().getByText('AI provider openai (https://api.openai.com/v1) was added, with a new key').waitFor();

  await row.getByRole('button', { name: 'Change OpenAI', exact: true }).click();
  await row.getByLabel('Address of the API', { exact: true }).fill('https://proxy.example/v1');
  await row.getByText('Another address: the keys that accounts set for this provider are deleted too.').waitFor();
  await lookOnBoth('platform-provider-moves', [row]);
  await row.getByLabel('Address of the API', { exact: true }).press('Escape');
  await page.reload();
  await row.getByText('2 models').waitFor();
  assert.ok(!(await page.content()).includes(KEY));

  await row.getByRole('button', { name: 'Remove OpenAI', exact: true }).click();
  await lookOnBoth('platform-provider-remove', [row]);
  await row.getByRole('button', { name: 'Remove', exact: true }).click();
  await changes().getByText('AI provider openai (https://api.openai.com/v1) was removed').waitFor();
  assert.equal(await page.getByText('openai · https://api.openai.com/v1').count(), 0);
  await lookOnBoth('platform-changes', [page.getByRole('heading', { name: 'Changes made here', exact: true })]);
});

test('a limit is typed, refused when it is none, and given back', async () => {
  const row = rowOf('Calls a minute').first();
  await row.getByRole('button', { name: 'Change Calls a minute', exact: true }).click();
  await row.getByLabel('Calls a minute', { exact: true }).fill('many');
  await row.getByLabel('Calls a minute', { exact: true }).press('Enter');
  assert.equal(await row.getByLabel('Calls a minute', { exact: true }).getAttribute('aria-invalid'), 'true');
  await row.getByLabel('Calls a minute', { exact: true }).fill('1,200');
  await row.getByLabel('Calls a minute', { exact: true }).press('Enter');
  await row.getByText('1,200', { exact: true }).waitFor();
  await row.getByRole('button', { name: 'Change Calls a minute', exact: true }).click();
  await row.getByRole('button', { name: 'Back to the default', exact: true }).click();
  await row.getByText('Default', { exact: true }).waitFor();
});

test('nobody but the master account sees anything of it', async (t) => {
  const confirmed = await world.core.context.pool.query("DELETE FROM platform_settings WHERE name = 'registration'");
  assert.equal(confirmed.rowCount, 1);
  const guest: TestAccount = await registerAccount(world, 'guest');
  for (const [device, viewport] of DEVICES) {
    const context = await signedInContext({ browser, platform: world, account: guest }, viewport);
    t.after(() => context.close());
    const other = await context.newPage();
    await other.goto(`${world.origin}/#/settings/platform`);
    await other.getByText('Only the master account can open this page', { exact: true }).waitFor();
    assert.equal(await other.getByRole('button', { name: /passkey/ }).count(), 0);
    await look(other, device, 'platform-not-master');
  }
});

test('without the passkey nothing changes', async () => {
  const row = rowOf('Default plan').first();
  await row.getByRole('button', { name: 'Change Default plan', exact: true }).click();
  await row.getByRole('radio', { name: /^Paid/ }).check();
  // Afterwards the authenticator answers no more.
  await landlord.verifies(false);
  await confirmIn(row).click();
  await row.getByText(/cancelled or timed out/).waitFor();
  assert.equal((await world.core.context.settings.read()).defaultPlan.source, 'default');
  // What Chromium does not know yet.
  const expected = /directive 'webrtc'/;
  assert.deepEqual(
    landlord.complaints.filter((complaint) => !expected.test(complaint)),
    [],
  );
});
