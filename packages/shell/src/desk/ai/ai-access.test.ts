import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { askedModels, modelsInWords } from './ai-access.ts';

test('the models that are asked for', () => {
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
