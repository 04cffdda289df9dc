// The platform as a user starts it, with a file of AI providers: a real workload uses the stock clients with the
// variables it finds, and the file is read again on SIGHUP.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import type { AppIntelligence } from '@platform/contract';
import { rolldown } from 'rolldown';
import { openBackend } from '../support/backend.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { buildTestPackage, testManifest } from '../support/packages.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/scripted-provider.ts';
import { until } from '../support/wait.ts';

const KEY = 'sk-canary-system-0b7e';

const BACKEND = `
import { createServer } from 'node:http';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';

const messages = [{ role: 'user', content: 'Say hello.' }];
const answers = {
  async '/chat'() {
    const stream = await new OpenAI().chat.completions.create({ model: 'small', messages, stream: true });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    return text;
  },
  '/message': () => new Anthropic().messages.stream({ model: 'small', max_tokens: 99, messages }).finalText(),
  '/environment': async () => JSON.stringify(process.env),
};
createServer((request, response) => {
  const answer = answers[request.url] ?? (async () => '');
  answer().then((text) => response.end(text), (error) => response.writeHead(502).end(String(error)));
}).listen(Number(process.env.PORT));
`;

let folder: string;
let provider: ScriptedProvider;
let place: PlatformPlace;
let platform: PlatformProcess;
let account: TestAccount;

const file = () => path.join(folder, 'providers.json');

function entry(id: string, more: object): object {
  return {
    id,
    platformKeyFile: 'key',
    environment: { baseUrl: `${id.toUpperCase()}_BASE_URL`, apiKey: `${id.toUpperCase()}_API_KEY` },
    ...more,
  };
}

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'intelligence-'));
  provider = await startScriptedProvider();
  await writeFile(path.join(folder, 'ca.pem'), provider.cert);
  await writeFile(path.join(folder, 'key'), KEY, { mode: 0o600 });
  await write([openai()]);
  place = await platformPlace({
    PLATFORM_INTELLIGENCE_FILE: file(),
    NODE_EXTRA_CA_CERTS: path.join(folder, 'ca.pem'),
  });
  platform = await startPlatform(place);
  account = await registerAccount(platform, 'asker');
  await publish();
});
after(async () => {
  await platform?.stop();
  await place?.remove();
  await provider?.close();
  await rm(folder, { recursive: true });
});

const openai = () => entry('openai', { baseUrl: `${provider.origin}/v1`, dialect: 'openai' });
const anthropic = () => entry('anthropic', { baseUrl: provider.origin, dialect: 'anthropic' });

async function write(providers: readonly unknown[]): Promise<void> {
  await writeFile(file(), JSON.stringify({ providers }));
}

async function publish(): Promise<void> {
  const source = path.join(import.meta.dirname, `.backend-${process.pid}.mjs`);
  await writeFile(source, BACKEND);
  try {
    const bundle = await rolldown({ input: source, platform: 'node', logLevel: 'silent' });
    const { output } = await bundle.generate({ format: 'esm', codeSplitting: false });
    await bundle.close();
    const permissions = [{ id: 'intelligence.use', resources: ['openai:small', 'anthropic:*'] }];
    const workload = { runtime: 'node', entry: 'main.mjs', resources: { memoryMiB: 512 } };
    const manifest = testManifest('asking', { workload, permissions });
    const files = { 'frontend/index.html': '<!doctype html><title>t</title>', 'workload/main.mjs': output[0].code };
    const published = await account.fetch('/v1/catalog/asking/versions/1.0.0', {
      method: 'PUT',
      headers: { 'content-type': 'application/gzip' },
      body: await buildTestPackage({ manifest, files }),
    });
    assert.equal(published.status, 201, published.text);
    await account.browser.take('/v1/apps', { body: { appId: 'asking' } });
  } finally {
    await rm(source);
  }
}

const usage = async () => (await account.browser.take<AppIntelligence>('/v1/apps/asking/intelligence')).usage;

test('a workload chats with the stock client and the variables it was given, and its use is counted', async () => {
  const ask = await openBackend(place, account, 'asking');
  const answer = await ask('/chat');
  assert.deepEqual([answer.status, answer.text], [200, 'Hello from the scripted provider']);
  assert.equal(provider.seen.at(-1)?.headers.authorization, `Bearer ${KEY}`);
  await until('the call to be counted', async () => ((await usage()).requests === 1 ? true : undefined));
  assert.deepEqual(await usage(), {
    month: new Date().toISOString().slice(0, 7),
    requests: 1,
    tokens: 16,
    reserved: 0,
    models: [{ provider: 'openai', model: 'small', requests: 1, inputTokens: 11, outputTokens: 5, cost: null }],
  });
  const environment = JSON.parse((await ask('/environment')).text);
  assert.match(environment.OPENAI_BASE_URL, /^http:\/\/127\.0\.0\.1:\d+\/v1\/services\/intelligence\/openai$/);
  assert.equal(environment.OPENAI_API_KEY, environment.PLATFORM_GATEWAY_TOKEN);
  assert.equal(environment.ANTHROPIC_BASE_URL, undefined);
});

test('SIGHUP reads the file again: a workload that gains a variable is started anew, and a wrong file changes nothing', async () => {
  await write([openai(), anthropic()]);
  process.kill(platform.pid, 'SIGHUP');
  const ask = await openBackend(place, account, 'asking');
  await until('the workload to know the second provider', async () => {
    const { status, text } = await ask('/environment');
    return status === 200 ? JSON.parse(text).ANTHROPIC_API_KEY : undefined;
  });
  const answer = await ask('/message');
  assert.deepEqual([answer.status, answer.text], [200, 'Hello from the scripted provider']);
  await writeFile(file(), '{ "providers": [');
  process.kill(platform.pid, 'SIGHUP');
  await until(
    'the wrong file to be reported',
    async () => /what was read before stays in force.*it is not JSON/.exec(platform.output()) ?? undefined,
  );
  assert.equal((await ask('/message')).status, 200);
});

test('the provider’s key is in no log, no environment and no file of the platform', async () => {
  const ask = await openBackend(place, account, 'asking');
  assert.doesNotMatch((await ask('/environment')).text, /sk-canary/);
  assert.doesNotMatch(platform.output(), /sk-canary/);
  const { items } = await account.browser.take<{ items: unknown[] }>('/v1/apps/asking/logs?limit=200');
  assert.doesNotMatch(JSON.stringify(items), /sk-canary/);
  for (const pid of await processesOf(platform.pid)) {
    const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
    assert.doesNotMatch(environment, /sk-canary/, `process ${pid}`);
  }
});

/** A process and all below it. */
async function processesOf(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const below = await Promise.all(
    children
      .split(' ')
      .filter(Boolean)
      .map((child) => processesOf(Number(child))),
  );
  return [pid, ...below.flat()];
}
