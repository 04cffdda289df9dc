// The examples Chat and Repository Issues as a person meets them, in real Chromium against a whole platform. Chat has a secret
// slot here too: installed with a secret bound in the review, it says what is missing without a provider, streams an answer,
// is in the chart of Settings → AI, and is refused in words when its limit is lowered. The AI provider and the outside
// service are scripted FAKES on loopback.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import type { Manifest } from '@platform/contract';
import type { Browser, Locator, Page } from 'playwright-core';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { publishExample } from '../support/publish.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/scripted-provider.ts';
import { startTlsUpstream, type TlsUpstream } from '../support/tls-upstream.ts';
import { until } from '../support/wait.ts';
import { DEVICES, launchBrowser, pressInPrompt } from './browser.ts';
import { look } from './look.ts';
import { signedInContext } from './signed-in.ts';

const TOKEN = 'canary-chat-token-90c1';
const KEY = 'sk-canary-chat-47ab';

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
let publisher: TestAccount;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'chat-'));
  provider = await startScriptedProvider();
  tracker = await startTlsUpstream();
  const issues = ['The map is blank in the evening', 'Export forgets the last row'];
  tracker.answer = (req, res, { body }) => {
    if (req.method === 'POST') issues.unshift(JSON.parse(body).title);
    const listed = issues.map((title, index) => ({ number: issues.length - index, title }));
    res
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify(req.method === 'POST' ? listed[0] : listed));
  };
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
  publisher = await registerAccount(platform, 'publisher');
  await publishChatWithSlot();
  await publishRepoIssues();
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

/** Chat, which has a slot for the tracker too. */
async function publishChatWithSlot(): Promise<void> {
  const change = ({ workload, permissions }: Manifest) => ({
    name: 'Issue Chat',
    summary: 'Talks about the issues of your tracker.',
    workload: { ...workload, entry: 'main.mjs' },
    permissions: [
      ...permissions,
      { id: 'secrets.use', resources: ['tracker'], reason: 'Signs in to your tracker.' },
      { id: 'network.connect', resources: [tracker.origin], reason: 'Reads issues.' },
    ],
    secretSlots: [{ name: 'tracker', origin: tracker.origin, pathPrefix: '/api', methods: ['GET'] }],
  });
  await publishExample(publisher, 'issue-chat', { example: 'chat', change, more: { 'workload/main.mjs': MAIN } });
}

/** Repository Issues, with the tracker in the place of GitHub. */
async function publishRepoIssues(): Promise<void> {
  const change = (manifest: Manifest) => ({
    ...JSON.parse(JSON.stringify(manifest).replaceAll('https://api.github.com', tracker.origin)),
    name: 'Tracker Issues',
  });
  await publishExample(publisher, 'tracker-issues', { example: 'repo-issues', change });
}

/** A model, also one that does something special and is not listed. */
async function choose(models: Locator, model: string): Promise<void> {
  await models.waitFor();
  await models.evaluate((select: HTMLSelectElement, id) => select.add(new Option(id)), model);
  await models.selectOption(model);
}

async function openChat(page: Page) {
  await page.goto(`${platform.origin}/#/app/issue-chat`);
  return page.frameLocator('iframe[title="Issue Chat"]');
}

for (const [device, viewport] of DEVICES) {
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
    await review.getByText('Use AI models, within your budget', { exact: true }).waitFor();
    const choice = review.getByLabel(`Which secret may go to ${new URL(tracker.origin).host}?`);
    await choice.selectOption({ label: 'Add a secret …' });
    await review.getByLabel('Name', { exact: true }).fill('tracker');
    await review.getByLabel('Key or token').fill(TOKEN);
    await look(page, device, 'chat-review', [
      review.getByText('Use AI models, within your budget', { exact: true }),
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
    await choose(models, 'slow');
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
    assert.match(await page.getByRole('table').innerText(), /slow openai\s+1\s+11\s+5\b/);
    await look(page, device, 'chat-in-settings', [
      page.getByRole('heading', { name: 'AI', exact: true }),
      page.getByRole('table'),
    ]);
    await page.getByRole('button', { name: 'Change the limits of Issue Chat' }).click();
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

  test(`on a ${device} an answer is stopped by hand, and a question waits for who left before its answer`, async (t) => {
    await offer([scripted()]);
    const account = await registerAccount(platform, `${device}-leaver`);
    await account.browser.take('/v1/apps', { body: { appId: 'chat' } });
    const context = await signedInContext({ browser, platform, account }, viewport);
    t.after(() => context.close());
    const page = await context.newPage();
    await page.goto(`${platform.origin}/#/app/chat`);
    const chat = page.frameLocator('iframe[title="Chat"]');
    const field = chat.getByLabel('Message', { exact: true });
    const answers = chat.getByRole('log').getByRole('listitem');
    const ask = async (model: string, question: string) => {
      await choose(chat.getByLabel('Model'), model);
      await field.fill(question);
      await field.press('Enter');
    };

    const aborted = provider.aborted();
    await ask('slow', 'What is there to see?');
    await chat.getByText('Hello from', { exact: true }).waitFor();
    await chat.getByRole('button', { name: 'Stop' }).press('Enter');
    await chat.getByRole('button', { name: 'Send' }).waitFor();
    await until('the provider to be left', () => provider.aborted() > aborted);
    assert.deepEqual(await answers.getByText('Hello from', { exact: true }).count(), 1);

    await ask('hang', 'And tomorrow?');
    await until('the question to arrive', () => provider.seen.at(-1)?.body.includes('And tomorrow?'));
    await page.goto(`${platform.origin}/#/settings/ai`);
    await page.getByRole('heading', { name: 'AI', exact: true }).waitFor();
    await page.goto(`${platform.origin}/#/app/chat`);
    await answers.nth(1).waitFor();
    assert.equal(await answers.count(), 2);
    assert.equal(await field.inputValue(), 'And tomorrow?');
    await ask('small', 'Never mind.');
    await chat.getByText('16 tokens for this answer, 16 tokens in this chat.').waitFor();
    await chat.getByRole('button', { name: 'New chat' }).click();
    await chat.getByText('Ask anything.').waitFor();
    assert.equal(await answers.count(), 0);
  });

  test(`on a ${device} Repository Issues uses the secret that the person has already`, async (t) => {
    const account = await registerAccount(platform, `${device}-reader`);
    await account.fetch('/v1/account/secrets/tracker', { method: 'PUT', body: { value: TOKEN } });
    const context = await signedInContext({ browser, platform, account }, viewport);
    t.after(() => context.close());
    const page = await context.newPage();
    await page.goto(`${platform.origin}/#/app/store`);
    await page.frameLocator('iframe[title="Store"]').getByRole('button', { name: 'Install Tracker Issues' }).click();
    const review = page.getByRole('dialog', { name: 'Install Tracker Issues?' });
    await review.getByLabel(/^Which secret may go to/).selectOption('tracker');
    await pressInPrompt(
      review.getByRole('button', { name: 'Install', exact: true }),
      page.getByRole('heading', { name: 'Tracker Issues is installed' }),
    );
    await page.getByRole('button', { name: 'Done' }).click();
    await page.goto(`${platform.origin}/#/app/tracker-issues`);
    const app = page.frameLocator('iframe[title="Tracker Issues"]');
    await app.getByLabel('Repository').fill('octocat/hello');
    await app.getByRole('button', { name: 'Show issues' }).click();
    await app.getByText('Export forgets the last row').waitFor();
    assert.ok(tracker.arrived.at(-1)?.rawHeaders.includes(`Bearer ${TOKEN}`));
    await app.getByLabel('New issue').fill(`The ${device} app starts twice`);
    await app.getByRole('button', { name: 'File it' }).click();
    await app.getByText(/^Filed as #/).waitFor();
    await look(page, device, 'repo-issues');
  });
}

test('neither the secret nor the provider’s key is in the log', () => {
  assert.doesNotMatch(platform.output(), /canary/);
});
