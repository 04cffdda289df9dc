import assert from 'node:assert/strict';
import { test } from 'node:test';
import { costOf } from './cost.ts';

test('tokens cost what the operator wrote for a million of them', () => {
  const use = { inputTokens: 2_000_000, outputTokens: 500_000 };
  assert.equal(costOf(use, { inputPrice: 0.25, outputPrice: 2 }), 1.5);
  assert.equal(costOf(use, { inputPrice: 0, outputPrice: 0 }), 0, 'a model server of one’s own');
});

test('a price that is not known is no price of nothing', () => {
  const use = { inputTokens: 10, outputTokens: 10 };
  assert.equal(costOf(use, undefined), null);
  assert.equal(costOf(use, {}), null);
  assert.equal(costOf(use, { inputPrice: 1 }), null);
  assert.equal(costOf({ inputTokens: 1_000_000, outputTokens: 0 }, { inputPrice: 1 }), 1, 'embeddings have no output');
});
