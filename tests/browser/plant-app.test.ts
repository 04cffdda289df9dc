// An agent makes an app for its person: from a template, reviewed with its source and a preview, opened, mended after an error in its page, and
// amended, on a desktop and on a phone. The model is scripted, all else is real. Pictures go to SCREENSHOT_DIR.
import { strict as assert } from 'node:assert';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import type { AppTemplate, Grant, InstalledApp, MadeSource, PageError } from '@platform/contract';
import { buildSdk } from '@platform/sdk/build';
import type { Browser, Frame, Page } from 'playwright-core';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { type Asked, type Played, startTurnProvider, type TurnProvider } from '../support/turn-provider.ts';
import { DEVICES, launchBrowser, noDialog, pressInPrompt } from './browser.ts';
import { look } from './look.ts';
import { AGENT_PAGE, AGENT_SCRIPT, AGENT_STYLE, AMENDED, BROKEN, MENDED, plantPage } from './plant-pages.ts';
import { signedInContext } from './signed-in.ts';

const PERMISSIONS: Grant[] = [
  { id: 'intelligence.use', resources: ['openai:*'] },
  { id: 'mcp.tools.call', resources: ['platform-apps.*'] },
  { id: 'apps.create', resources: ['*'] },
];

let folder: string;
let provider: TurnProvider;
let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;

before(async () => {
  provider = await startTurnProvider();
  folder = await mkdtemp(path.join(tmpdir(), 'plant-app-'));
  await writeFile(path.join(folder, 'key'), 'any-word', { mode: 0o600 });
  const openai = { id: 'openai', baseUrl: `${provider.origin}/v1`, dialect: 'openai', platformKeyFile: 'key' };
  const file = path.join(folder, 'providers.json');
  await writeFile(file, JSON.stringify({ providers: [openai] }));
  place = await platformPlace({ PLATFORM_INTELLIGENCE_FILE: file });
  platform = await startPlatform(place);
  const workload = { runtime: 'agent', agent: { instructions: 'instructions.md' } };
  await publishTestApp(
    await registerAccount(platform, 'publisher'),
    'gardener',
    { name: 'Gardener', workload, permissions: PERMISSIONS },
    {
      'workload/instructions.md': 'Make small apps for your person.',
      'frontend/index.html': AGENT_PAGE,
      'frontend/style.css': AGENT_STYLE,
      'frontend/page.js': AGENT_SCRIPT,
      'frontend/platform-sdk.js': await readFile((await buildSdk()).browser),
    },
  );
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
  await provider?.close();
  await rm(folder, { recursive: true, force: true });
});

/** What the tools answered since the person said something, as the model reads it. */
function answersIn({ messages }: Asked): unknown[] {
  const since = messages.slice(messages.findLastIndex(({ role }) => role === 'user'));
  return since
    .filter(({ role }) => role === 'tool')
    .map(({ content }) =>
      JSON.parse(/^<foreign-text .*>\n(.*)\n<\/foreign-text .*>$/s.exec(String(content))?.[1] ?? '{}'),
    );
}

type Turn = readonly ((answers: readonly unknown[]) => Played)[];

/** The next step goes by what the steps before came to. */
function play(turn: Turn): void {
  provider.play((asked) => {
    const answers = answersIn(asked);
    return turn[answers.length]?.(answers) ?? { text: 'Done.' };
  });
}

const callOf = (tool: string, given: object): Played => ({
  calls: [{ name: `platform-apps_${tool}`, arguments: given }],
});

function manifestOf(text: string, changes: object): string {
  return `${JSON.stringify({ ...JSON.parse(text), ...changes }, null, 2)}\n`;
}

const made = (appId: string): Turn => [
  () => callOf('templates', {}),
  ([answer]) => {
    const { templates } = answer as { templates: AppTemplate[] };
    const { files = {} } = templates.find(({ kind }) => kind === 'frontend') ?? {};
    const own = { id: appId, name: 'Plants', summary: 'Tells you which plant needs water.' };
    return callOf('create', {
      appId,
      files: {
        ...files,
        'manifest.json': manifestOf(files['manifest.json'] ?? '', own),
        'frontend/index.html': plantPage(files['frontend/index.html'] ?? ''),
        'frontend/app.js': BROKEN,
      },
    });
  },
  () => ({ text: 'I made an app for your plants. Look at it.' }),
];

const mended = (appId: string): Turn => [
  () => callOf('errors', { appId }),
  () => callOf('source', { appId }),
  ([errors, source]) => {
    const [{ message, line } = {}] = (errors as { errors: Partial<PageError>[] }).errors;
    assert.match(message ?? '', /wateredToday is not defined/);
    const { files } = source as MadeSource;
    const script = files.find(({ path }) => path === 'frontend/app.js')?.text ?? '';
    assert.match(script.split('\n')[(line ?? 0) - 1] ?? '', /wateredToday/, 'the line that is named');
    return changing(appId, files, '1.0.1', 'Watering works.', MENDED);
  },
  () => ({ text: 'I mended it.' }),
];

const amended = (appId: string): Turn => [
  () => callOf('source', { appId }),
  ([source]) => changing(appId, (source as MadeSource).files, '1.1.0', 'With your fern.', AMENDED),
  () => ({ text: 'Your fern is in it.' }),
];

function changing(appId: string, files: MadeSource['files'], version: string, changes: string, script: string): Played {
  const manifest = files.find(({ path }) => path === 'manifest.json')?.text ?? '';
  return callOf('change', {
    appId,
    files: { 'manifest.json': manifestOf(manifest, { version, changes }), 'frontend/app.js': script },
  });
}

async function agentOf(page: Page): Promise<Frame> {
  await page.goto(`${platform.origin}/#/app/gardener`);
  const frame = await (await page.waitForSelector('iframe[title="Gardener"]')).contentFrame();
  assert.ok(frame !== null);
  await frame.waitForSelector('body[data-ready]');
  return frame;
}

async function say(frame: Frame, text: string, end: string): Promise<void> {
  await frame.getByLabel('Message').fill(text);
  await frame.getByRole('button', { name: 'Send' }).click();
  await frame.getByText(end).waitFor();
}

async function versionOf(account: TestAccount, id: string): Promise<string | undefined> {
  const { items } = await account.browser.take<{ items: InstalledApp[] }>('/v1/apps');
  return items.find(({ appId }) => appId === id)?.version;
}

for (const [device, viewport] of DEVICES) {
  test(`on a ${device} an agent makes an app, mends it after an error, and amends it`, async (t) => {
    const account = await registerAccount(platform, `${device}-grower`);
    await account.browser.take('/v1/apps', { body: { appId: 'gardener', permissions: PERMISSIONS } });
    const appId = `green-${device}`;
    const context = await signedInContext({ browser, platform, account }, viewport);
    t.after(() => context.close());
    const page = await context.newPage();
    const review = page.getByRole('dialog');
    const plants = page.frameLocator('iframe[title="Plants"]');
    const preview = page.frameLocator('iframe[title="Preview of Plants"]');
    const press = async (name: string) => {
      await page.goto(`${platform.origin}/#/app/${appId}`);
      await plants.getByRole('button', { name }).click();
    };

    await t.test('it is made from a template, and shown as source and as a running preview', async () => {
      play(made(appId));
      const frame = await agentOf(page);
      await say(frame, 'Make me an app for my plants.', 'I made an app for your plants.');
      await look(page, device, 'plant-made');
      await frame.getByRole('button', { name: 'Review version 1.0.0' }).click();
      await review.getByRole('heading', { name: 'Add Plants?' }).waitFor();
      await look(page, device, 'plant-review');
      const line = review.getByText("const plants = ['Monstera', 'Ficus', 'Basil'];");
      await pressInPrompt(review.getByText('frontend/app.js'), line);
      await line.scrollIntoViewIfNeeded();
      await look(page, device, 'plant-source');
      assert.equal(await review.getByText('From this platform').count(), 2);
      await pressInPrompt(review.getByRole('button', { name: 'Try its page' }), preview.getByText('My plants'));
      await look(page, device, 'plant-preview');
      await preview.getByRole('button', { name: 'Water Ficus' }).click();
      await review.getByRole('button', { name: 'Back to the review' }).click();
      await review.getByRole('heading', { name: 'Add Plants?' }).waitFor();
      assert.equal(await page.locator('iframe[title="Preview of Plants"]').count(), 0);
      assert.equal(await versionOf(account, appId), undefined);
    });

    await t.test('it is added, and does not work: the page says so to who made it', async () => {
      const done = page.getByRole('heading', { name: 'Plants is installed' });
      await pressInPrompt(review.getByRole('button', { name: 'Add Plants', exact: true }), done);
      await page.getByRole('button', { name: 'Open Plants' }).click();
      const reported = page.waitForResponse((answer) => answer.url().endsWith('/page-errors'));
      await plants.getByRole('button', { name: 'Water Ficus' }).click();
      assert.deepEqual(await (await reported).json(), { kept: true });
      await look(page, device, 'plant-opened');
    });

    await t.test('it is mended, by what its page said, and the difference is reviewed', async () => {
      play(mended(appId));
      const frame = await agentOf(page);
      await say(frame, 'Nothing happens when I water one.', 'I mended it.');
      await frame.getByRole('button', { name: 'Review version 1.0.1' }).click();
      await review.getByRole('heading', { name: 'Change Plants?' }).waitFor();
      await pressInPrompt(review.getByText('frontend/app.js'), review.locator('.source-line.added').first());
      assert.equal(await review.locator('.source-line.removed').count(), 1);
      await review.locator('.source-line.added').first().scrollIntoViewIfNeeded();
      await look(page, device, 'plant-mended');
      await pressInPrompt(review.getByRole('button', { name: 'Change Plants', exact: true }), noDialog(page));
      assert.equal(await versionOf(account, appId), '1.0.1');
      await press('Water Ficus');
      await plants.getByText('Ficus was watered today.').waitFor();
    });

    await t.test('it is amended', async () => {
      play(amended(appId));
      const frame = await agentOf(page);
      await say(frame, 'I have a fern as well.', 'Your fern is in it.');
      await frame.getByRole('button', { name: 'Review version 1.1.0' }).click();
      const change = review.getByRole('button', { name: 'Change Plants', exact: true });
      await change.waitFor();
      await pressInPrompt(change, noDialog(page));
      await press('Water Fern');
      await plants.getByText('Fern was watered today.').waitFor();
      await look(page, device, 'plant-amended');
    });
  });
}
