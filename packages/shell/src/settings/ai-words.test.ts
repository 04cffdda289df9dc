import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { AppIntelligence } from '@platform/contract';
import {
  type AppUse,
  COLOURS,
  modelsOf,
  monthInWords,
  partsOf,
  sourceInWords,
  tokens,
  wholeNumber,
} from './ai-words.ts';

function app(appId: string, models: Readonly<Record<string, number>>): AppUse {
  const rows = Object.entries(models).map(([model, amount]) => ({
    provider: 'openai',
    model,
    requests: 1,
    inputTokens: amount,
    outputTokens: 1,
    cost: null,
  }));
  const usage: AppIntelligence['usage'] = { month: '2026-11', requests: 1, tokens: 0, reserved: 0, models: rows };
  const limits = { requestsPerMinute: 1, monthlyTokens: 1 };
  return { appId, name: appId, intelligence: { limits, operatorLimits: limits, currency: 'USD', usage } };
}

test('a model has the same colour in every app, the most used the first', () => {
  const apps = [app('one', { small: 10, large: 5 }), app('two', { large: 50 })];
  const models = modelsOf(apps);
  assert.deepEqual(models, ['large', 'small']);
  assert.deepEqual(
    apps.map((each) => partsOf(each, models)),
    [
      [
        { label: 'large', tokens: 6, colour: 0 },
        { label: 'small', tokens: 11, colour: 1 },
      ],
      [{ label: 'large', tokens: 51, colour: 0 }],
    ],
  );
});

test('models beyond the colours are one part', () => {
  const many = app(
    'many',
    Object.fromEntries(Array.from({ length: COLOURS + 3 }, (_, place) => [`m${place}`, 100 - place])),
  );
  const parts = partsOf(many, modelsOf([many]));
  assert.equal(parts.length, COLOURS + 1);
  assert.deepEqual(parts.at(-1), { label: 'other models', colour: COLOURS, tokens: 96 + 95 + 94 - 3 + 3 });
});

test('calls that name no model go by their provider', () => {
  assert.deepEqual(modelsOf([app('one', { '': 3 })]), ['openai, no model']);
});

test('a model whose calls took no tokens has no colour', () => {
  const { intelligence, ...names } = app('one', { small: 10 });
  const [row] = intelligence.usage.models;
  assert.ok(row);
  const models = [{ ...row, model: '', inputTokens: 0, outputTokens: 0 }, row];
  const used = { ...names, intelligence: { ...intelligence, usage: { ...intelligence.usage, models } } };
  assert.deepEqual(modelsOf([used]), ['small']);
  assert.deepEqual(partsOf(used, ['small']), [{ label: 'small', tokens: 11, colour: 0 }]);
});

test('numbers are read as people write them', () => {
  for (const text of ['1000000', '1,000,000', ' 1 000 000 ', '1.000.000', '1’000’000', '1000,000'])
    assert.equal(wholeNumber(text), 1_000_000, text);
  assert.equal(wholeNumber('0'), 0);
  for (const text of ['', '1.5', '-1', '1e6', 'many', '1,00', '9'.repeat(16)])
    assert.equal(wholeNumber(text), null, text);
});

test('months, tokens and keys in words', () => {
  assert.equal(monthInWords('2026-01'), 'January 2026');
  assert.equal(tokens(1), '1 token');
  assert.equal(tokens(12_300), '12,300 tokens');
  const provider = { provider: 'a', name: 'A', models: [], keySet: false, platformKey: false };
  assert.equal(sourceInWords({ ...provider, source: null }), 'Apps can’t use it without a key');
  assert.equal(sourceInWords({ ...provider, keySet: true, source: 'account' }), 'Your key is used');
});
