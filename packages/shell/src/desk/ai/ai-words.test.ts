import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { ModelUse } from '@platform/contract';
import {
  type AppUse,
  appsOf,
  COLOURS,
  costInWords,
  limitsInWords,
  modelsOf,
  money,
  monthInWords,
  partsOf,
  shortCost,
  sourceInWords,
  tokens,
  wholeNumber,
} from './ai-words.ts';

function app(appId: string, models: Readonly<Record<string, number>>): AppUse {
  const uses = Object.entries(models).map(([model, amount]) => ({
    provider: 'openai',
    model,
    requests: 1,
    inputTokens: amount,
    outputTokens: 1,
    cost: null,
  }));
  return { appId, name: appId, models: uses };
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
  const one = app('one', { small: 10 });
  const [row] = one.models;
  assert.ok(row);
  const used = { ...one, models: [{ ...row, model: '', inputTokens: 0, outputTokens: 0 }, row] };
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

test('apps stand by what they used, and the removed ones last, as one', () => {
  const use = (appId: string | null, inputTokens: number) => ({ ...priced(null, inputTokens), appId });
  const models = [use(null, 90), use('small', 1), use('large', 5), use('small', 3)];
  const apps = appsOf({ month: '2026-11', currency: 'USD', models }, (appId) => appId.toUpperCase());
  assert.deepEqual(
    apps.map(({ appId, name, models: own }) => [appId, name, own.length]),
    [
      ['large', 'LARGE', 1],
      ['small', 'SMALL', 2],
      [null, 'Removed apps', 1],
    ],
  );
});

function priced(cost: number | null, inputTokens = 10, model = 'one'): ModelUse {
  return { provider: 'openai', model, requests: 1, inputTokens, outputTokens: 0, cost };
}

test('a cost is an estimate as far as prices are known, and says how far that is', () => {
  assert.equal(costInWords([], 'USD'), null);
  assert.equal(costInWords([priced(null, 0)], 'USD'), null);
  assert.equal(costInWords([priced(1.5), priced(0.25)], 'USD'), 'Estimated cost: $1.75.');
  assert.equal(costInWords([priced(0)], 'EUR'), 'Estimated cost: €0.00.');
  assert.equal(costInWords([priced(null)], 'USD'), 'Cost unknown: the operator set no price.');
  assert.equal(
    costInWords([priced(2), priced(null), priced(null), priced(null, 1, 'two')], 'USD'),
    'Estimated cost: at least $2.00. No price is known for 2 models.',
  );
  assert.equal(shortCost([priced(1), priced(null)], 'USD'), 'at least $1.00');
  assert.equal(shortCost([priced(1), priced(1)], 'USD'), '$2.00');
  assert.equal(shortCost([priced(null)], 'USD'), 'unknown');
  assert.equal(money(0.004, 'USD'), '< $0.01');
  assert.equal(money(0.4, 'JPY'), '< ¥1');
  assert.equal(money(1_234_567.891, 'CHF').replace('\u00a0', ' '), 'CHF 1,234,567.89');
});

test('limits say whose they are', () => {
  const operatorLimits = { requestsPerMinute: 60, monthlyTokens: 1_000_000 };
  assert.equal(
    limitsInWords({ limits: operatorLimits, operatorLimits }),
    'The operator’s limits: 1,000,000 tokens a month, 60 calls a minute.',
  );
  assert.equal(
    limitsInWords({ limits: { ...operatorLimits, monthlyTokens: 1 }, operatorLimits }),
    'Your limits: 1 token a month, 60 calls a minute. The operator allows 1,000,000 tokens.',
  );
});
