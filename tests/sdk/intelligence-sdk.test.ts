// The SDK's AI calls through a real Gateway and a real core to a scripted provider.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { PlatformServicesClient } from '@platform/sdk';
import { type IntelligenceWorld, startIntelligenceWorld } from '../support/intelligence-world.ts';

const messages = [{ role: 'user', content: 'Say hello.' }];

let world: IntelligenceWorld;
before(async () => {
  world = await startIntelligenceWorld();
});
after(() => world?.close());

test('a workload streams a chat, reads a provider’s refusal, and is refused by the platform with its code', async () => {
  const { environment, settled } = await world.openApp('chatter', ['openai:small', 'openai:429', 'anthropic:small']);
  const platform = PlatformServicesClient.fromEnv(environment);
  const openai = platform.intelligence('openai');
  assert.equal(openai.baseUrl, environment.OPENAI_BASE_URL);
  assert.equal(openai.apiKey, environment.OPENAI_API_KEY);

  const streamed = await openai.request('chat/completions', { body: { model: 'small', messages, stream: true } });
  assert.match(await streamed.text(), /Hello.*data: \[DONE\]/s);
  assert.equal((await settled()).tokens, 16);
  const busy = await openai.request('chat/completions', { body: { model: '429', messages } });
  assert.equal(busy.status, 429);

  const refused = { name: 'PlatformError', code: 'grant_missing', status: 403 };
  await assert.rejects(openai.request('chat/completions', { body: { model: 'large', messages } }), refused);
  const anthropic = platform.intelligence('anthropic');
  const body = { model: 'large', max_tokens: 9, messages };
  const headers = { 'anthropic-version': '2023-06-01' };
  await assert.rejects(anthropic.request('v1/messages', { body, headers }), refused);
  await world.account.fetch('/v1/apps/chatter/intelligence', { method: 'PUT', body: { monthlyTokens: 16 } });
  await assert.rejects(openai.request('chat/completions', { body: { model: 'small', messages } }), (error) => {
    assert.ok(error instanceof Error && 'code' in error && 'retryAfter' in error);
    assert.equal(error.code, 'budget_exhausted');
    assert.ok(Number(error.retryAfter) > 0);
    return true;
  });
});
