// An AI app as a person meets it, in real Chromium against a whole platform: the example Chat, which has a secret slot here
// too. Installed with a secret bound in the review, it says what is missing without a provider, streams an answer, is in
// the chart of Settings → AI, and is refused in words when its limit is lowered. The AI provider and the outside service
// are scripted FAKES on loopback.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { planPackage } from '@platform/cli/packaging';
import { buildSdk } from '@platform/sdk/build';
import type { Browser, Page } from 'playwright-core';
import { registerAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/scripted-provider.ts';
import { startTlsUpstream, type TlsUpstream } from '../support/tls-upstream.ts';
import { until } from '../support/wait.ts';
import { DESKTOP, launchBrowser, PHONE, pressInPrompt } from './browser.ts';
import { look } from './look.ts';
import { signedInContext } from './signed-in.ts';

const TOKEN = 'canary-chat-token-90c1';
const KEY = 'sk-canary-chat-47ab';
const CHAT = path.join(import.meta.dirname, '../../examples/chat');

/** The backend of Chat, and one call through the slot when it starts. */
const MAIN = `
  import './server.mjs';
  import { PlatformServicesClient } from './platform-sdk.mjs';
  const answer = await PlatformServicesClient.fromEnv().outbound('tracker').request('/issues');
  console.log('The tracker answered', answer.status);
`;

let folder: string;
let provider: ScriptedProvider;
let tracker: TlsUpstream;
let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'chat-'));
  provider = await startScriptedProvider();
  tracker = await startTlsUpstream();
  await writeFile(path.join(folder, 'ca.pem'), provider.cert);
  await writeFile(path.join(folder, 'key'), KEY, { mode: 0o600 });
  await offer([]);
  place = await platformPlace({
    PLATFORM_RUNTIME_DRIVER: 'process',
    PLATFORM_INTELLIGENCE_FILE: path.join(folder, 'providers.json'),
    PLATFORM_OUTBOUND_PRIVATE_ORIGINS: tracker.origin,
    PLATFORM_OUTBOUND_CA_FILE: tracker.caFile,
    NODE_EXTRA_CA_CERTS: path.join(folder, 'ca.pem'),
  });
  platform = await startPlatform(place);
  browser = await launchBrowser();
  await publishWithSlot();
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
  await tracker?.close();
  await provider?.close();
  await rm(folder, { recursive: true });
});

/** The operator's file; a platform that runs reads it at the signal. */
async function offer(providers: readonly object[]): Promise<void> {
  await writeFile(path.join(folder, 'providers.json'), JSON.stringify({ providers, monthlyTokens: 100_000 }));
  if (platform !== undefined) process.kill(platform.pid, 'SIGHUP');
}

function scripted(): object {
  const environment = { baseUrl: 'OPENAI_BASE_URL', apiKey: 'OPENAI_API_KEY' };
  const models = ['small', 'large', 'slow'].map((id) => ({ id }));
  const baseUrl = `${provider.origin}/v1`;
  return { id: 'openai', name: 'OpenAI', baseUrl, dialect: 'openai', platformKeyFile: 'key', environment, models };
}

async function publishWithSlot(): Promise<void> {
  const { manifest, files } = await planPackage({ folder: CHAT, sdk: await buildSdk() });
  const contents: Record<string, Buffer | string> = { 'workload/main.mjs': MAIN };
  for (const { name, source } of files.filter(({ name }) => name !== 'manifest.json'))
    contents[name] = 'bytes' in source ? source.bytes : await readFile(source.path);
  const publisher = await registerAccount(platform, 'publisher');
  const more = {
    name: 'Issue Chat',
    summary: 'Talks about the issues of your tracker.',
    workload: { ...manifest.workload, entry: 'main.mjs' },
    permissions: [
      ...manifest.permissions,
      { id: 'secrets.use', resources: ['tracker'], reason: 'Signs in to your tracker.' },
      { id: 'network.connect', resources: [tracker.origin], reason: 'Reads issues.' },
    ],
    secretSlots: [{ name: 'tracker', origin: tracker.origin, pathPrefix: '/api', methods: ['GET'] }],
  };
  await publishTestApp(publisher, 'issue-chat', { ...manifest, id: 'issue-chat', ...more }, contents);
}

async function openChat(page: Page) {
  await page.goto(`${platform.origin}/#/app/issue-chat`);
  return page.frameLocator('iframe[title="Issue Chat"]');
}

for (const [device, viewport] of [
  ['desktop', DESKTOP],
  ['phone', PHONE],
] as const)
  test(`on a ${device} an app with a slot and AI is installed, bound, talked to, measured and limited`, async (t) => {
    await offer([]);
    const account = await registerAccount(platform, `${device}-user`);
    const context = await signedInContext({ browser, platform, account }, viewport);
    t.after(() => context.close());
    const page = await context.newPage();

    // The review: what it may do, and the secret for its slot.
    await page.goto(`${platform.origin}/#/app/store`);
    await page.frameLocator('iframe[title="Store"]').getByRole('button', { name: 'Install Issue Chat' }).click();
    const review = page.getByRole('dialog', { name: 'Install Issue Chat?' });
    await review.getByText('use AI models').waitFor();
    const choice = review.getByLabel(`Which secret may go to ${new URL(tracker.origin).host}?`);
    await choice.selectOption({ label: 'Add a secret …' });
    await review.getByLabel('Name', { exact: true }).fill('tracker');
    await review.getByLabel('Key or token').fill(TOKEN);
    await look(page, device, 'chat-review', [
      review.getByText('use AI models'),
      review.getByRole('heading', { name: 'Secrets it can use without seeing them' }),
    ]);
    await pressInPrompt(
      review.getByRole('button', { name: 'Install', exact: true }),
      page.getByRole('heading', { name: 'Issue Chat is installed' }),
    );
    await page.getByRole('button', { name: 'Done' }).click();

    // Without a provider: one line that says how to add one. Its slot works.
    tracker.arrived.length = 0;
    const chat = await openChat(page);
    await chat.getByText('no AI provider').waitFor();
    const call = await until('the backend to call its slot', () => tracker.arrived.at(-1));
    assert.equal(call.target, '/api/issues');
    assert.ok(call.rawHeaders.includes(`Bearer ${TOKEN}`));
    await look(page, device, 'chat-no-provider');
    await offer([scripted()]);
    const models = chat.getByLabel('Model');
    await until('Chat to find the provider', async () => {
      const again = chat.getByRole('button', { name: 'Try again' });
      if (await again.isVisible()) await again.click();
      return (await models.isVisible()) || undefined;
    });
    await chat.getByText('Ask anything.').waitFor();
    await look(page, device, 'chat-empty');

    // Streamed: the first words are on the page while the provider holds back the rest.
    const field = chat.getByLabel('Message', { exact: true });
    const answers = chat.getByRole('log').getByRole('listitem');
    await models.evaluate((select: HTMLSelectElement) => select.add(new Option('slow')));
    await models.selectOption('slow');
    const ended = provider.billed.requests;
    await field.fill('Which issues should we look at first?');
    await field.press('Enter');
    await chat.getByText('Hello from', { exact: true }).waitFor();
    assert.equal(provider.billed.requests, ended, 'the answer has not ended');
    await look(page, device, 'chat-streaming');
    provider.release();
    await chat.getByText('Hello from the scripted provider').waitFor();
    await chat.getByText('16 tokens for this answer, 16 tokens in this chat.').waitFor();
    // By keys alone: a second question, on two lines, from the field that still has the focus.
    await models.selectOption('small');
    await field.focus();
    await page.keyboard.type('And after that?');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('Name two, please.');
    await page.keyboard.press('Enter');
    await chat.getByText('16 tokens for this answer, 32 tokens in this chat.').waitFor();
    assert.equal(await answers.count(), 4);
    await look(page, device, 'chat');

    // What it used, and a lower limit.
    await page.goto(`${platform.origin}/#/settings/ai`);
    await page.getByText(/^32 tokens used by your apps$/).waitFor();
    await page.getByText('Figures by model').click();
    assert.match(await page.getByRole('table').innerText(), /slow openai\s+1\s+11\s+5\s+16/);
    await look(page, device, 'chat-in-settings', [
      page.getByRole('heading', { name: 'AI', exact: true }),
      page.getByRole('table'),
    ]);
    await page.getByRole('button', { name: 'Change the limit of Issue Chat' }).click();
    const limit = page.getByLabel('Tokens a month for Issue Chat');
    await limit.fill('30');
    await limit.press('Enter');
    await page.getByText('The platform refuses further AI calls of Issue Chat until next month.').waitFor();

    // The chat is as it was left, and the platform's refusal is on the page, with the question back in the field.
    await openChat(page);
    await models.waitFor();
    assert.equal(await answers.count(), 4);
    await field.fill('One more thing?');
    await chat.getByRole('button', { name: 'Send' }).click();
    await chat.getByText(/are left of this app’s budget for the month\. Settings → AI shows its limit\./).waitFor();
    assert.equal(await field.inputValue(), 'One more thing?');
    assert.equal(await answers.count(), 4);
    await look(page, device, 'chat-refused');
    assert.ok(!(await page.content()).includes(TOKEN));
  });

test('neither the secret nor the provider’s key is in the log', () => {
  assert.doesNotMatch(platform.output(), /canary/);
});
