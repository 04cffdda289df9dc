// The example Chat on a whole platform, from its Store, its AI provider a scripted FAKE on loopback: what it says without
// a provider, what its page gets with one, and what it says when the platform refuses.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { type AskBackend, openBackend } from '../support/backend.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import type { RawAnswer } from '../support/raw-http.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/scripted-provider.ts';
import { until } from '../support/wait.ts';

const KEY = 'sk-canary-chat-31d8';

let folder: string;
let provider: ScriptedProvider;
let place: PlatformPlace;
let platform: PlatformProcess;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'chat-'));
  provider = await startScriptedProvider();
  await writeFile(path.join(folder, 'ca.pem'), provider.cert);
  await writeFile(path.join(folder, 'key'), KEY, { mode: 0o600 });
  await write();
  place = await platformPlace({
    PLATFORM_INTELLIGENCE_FILE: path.join(folder, 'providers.json'),
    NODE_EXTRA_CA_CERTS: path.join(folder, 'ca.pem'),
  });
  platform = await startPlatform(place);
});
after(async () => {
  await platform?.stop();
  await place?.remove();
  await provider?.close();
  await rm(folder, { recursive: true });
});

const ENTRY = { id: 'any', dialect: 'openai', platformKeyFile: 'key' };
const NAMES = { baseUrl: 'OPENAI_BASE_URL', apiKey: 'OPENAI_API_KEY' };

/** The file of the operator. */
async function write(...providers: readonly object[]): Promise<void> {
  await writeFile(path.join(folder, 'providers.json'), JSON.stringify({ providers }));
}

/** Somebody who installed Chat, and asks as its page does. */
async function newcomer(name: string): Promise<{ readonly account: TestAccount; readonly ask: AskBackend }> {
  const account = await registerAccount(platform, name);
  await account.browser.take('/v1/apps', { body: { appId: 'chat' } });
  const ask = await openBackend(place, account, 'chat');
  return { account, ask };
}

/** With the provider's path below `prefix`, so that it is seen which entry of the file a call went to. */
async function offer(ask: AskBackend, prefix: string, more: object = {}): Promise<RawAnswer> {
  await write({ ...ENTRY, baseUrl: `${provider.origin}/v1/${prefix}`, ...more });
  process.kill(platform.pid, 'SIGHUP');
  return until(`Chat to use ${prefix}`, async () => {
    const answer = await ask('/models');
    return answer.status === 200 && provider.seen.at(-1)?.path === `/v1/${prefix}/models` ? answer : undefined;
  });
}

const question = (model: string) => ({ model, messages: [{ role: 'user', content: 'Say hello.' }] });
const linesOf = ({ text }: RawAnswer) => [...text.matchAll(/.+/g)].map(([line]) => JSON.parse(line));

test('without a provider it says who can add one, and with one it goes on', async () => {
  await write();
  process.kill(platform.pid, 'SIGHUP');
  const { ask } = await newcomer('early');
  const answer = await until('the providers to be gone', async () => {
    const said = await ask('/models');
    return said.status === 503 ? said : undefined;
  });
  assert.match(answer.text, /"unavailable".*no AI provider.*operator/);
  assert.deepEqual((await offer(ask, 'later')).json, { models: ['small', 'large', 'gpt-1'] });
});

for (const [names, more] of [
  ['the neutral names', {}],
  ['the names of the stock client', { environment: NAMES }],
] as const)
  test(`with ${names} of the variables it passes an answer on in pieces`, async () => {
    const prefix = names.replaceAll(' ', '-');
    const { ask } = await newcomer(prefix);
    await offer(ask, prefix, more);
    const words = ['Hello', ' from', ' the', ' scripted', ' provider'];
    const lines = linesOf(await ask('/answer', question('small')));
    assert.deepEqual(lines, [...words.map((text) => ({ text })), { tokens: 16 }]);
    const last = provider.seen.at(-1);
    assert.equal(last?.path, `/v1/${prefix}/chat/completions`);
    assert.equal(last?.headers.authorization, `Bearer ${KEY}`);
  });

test('what the provider and the platform refuse comes in words, before an answer and inside one', async () => {
  const { account, ask } = await newcomer('refused');
  await offer(ask, 'refusing', { environment: NAMES });
  const failed = await ask('/answer', question('400'));
  assert.deepEqual([failed.status, failed.json], [502, { code: 'upstream_failed', detail: 'scripted 400' }]);
  const inside = linesOf(await ask('/answer', question('error-inside')));
  assert.deepEqual(inside.at(-1), { problem: 'The server had an error.' });
  assert.equal(linesOf(await ask('/answer', question('half'))).at(-1).problem, 'The answer broke off. Try again.');
  assert.equal((await ask('/elsewhere')).status, 404);
  await account.fetch('/v1/apps/chat/intelligence', { method: 'PUT', body: { monthlyTokens: 1 } });
  const refused = await ask('/answer', question('small'));
  assert.equal(refused.status, 429, refused.text);
  assert.match(refused.text, /"budget_exhausted".*budget for the month.*Settings → AI/);
  const { items } = await account.browser.take<{ items: unknown[] }>('/v1/apps/chat/logs?limit=200');
  assert.doesNotMatch(JSON.stringify(items), /sk-canary/);
});
