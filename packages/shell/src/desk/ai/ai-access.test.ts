import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { AccountProvider } from '@platform/contract';
import { askedModels, missingForAi, modelsInWords } from './ai-access.ts';

function provider(id: string, source: AccountProvider['source']): AccountProvider {
  return { provider: id, name: id.toUpperCase(), keySet: false, platformKey: false, source, models: [] };
}

test('an app is told what is missing: a provider, that provider, or a key', () => {
  assert.match(missingForAi(['openai:*'], []) ?? '', /no AI provider yet\. The operator can add one/);
  assert.match(
    missingForAi(['openai:*', 'other:x'], [provider('local', 'platform')]) ?? '',
    /no AI provider “openai” or “other”/,
  );
  const keyless = [provider('openai', null), provider('local', 'platform')];
  assert.equal(missingForAi(['openai:*'], keyless), 'There is no key for OPENAI yet. Add yours in Settings → AI.');
});

test('nothing is missing where one of the models can be used, or none is asked for', () => {
  const providers = [provider('openai', null), provider('local', 'platform')];
  for (const patterns of [[], ['*'], ['openai:small', 'local:*'], ['lo*'], ['local:llama3.2']])
    assert.equal(missingForAi(patterns, providers), null, patterns.join());
  assert.deepEqual(askedModels([{ id: 'intelligence.use', resources: ['openai:*'] }]), ['openai:*']);
  assert.deepEqual(askedModels([{ id: 'network.public', resources: ['*'] }]), []);
});

test('patterns of models in words', () => {
  assert.deepEqual(['*', 'openai:*', 'openai:gpt-*', 'openai:gpt-5', 'local:llama3.2:3b', 'open*'].map(modelsInWords), [
    'any',
    'any of openai',
    'any of openai starting with “gpt-”',
    'gpt-5 of openai',
    'llama3.2:3b of local',
    'any starting with “open”',
  ]);
});
