// Promises of the last line of the doctor: a machine is called ready where nothing is amiss, and nowhere else.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StartError } from '@platform/core/start';
import { isPassing, SUMMARY, worstOf } from './finding.ts';

test('of all findings the worst decides, in any order', () => {
  assert.equal(worstOf([]), 'good');
  assert.equal(worstOf(['good', 'good']), 'good');
  assert.equal(worstOf(['warning', 'good']), 'warning');
  assert.equal(worstOf(['bad', 'warning', 'good']), 'bad');
  assert.equal(worstOf(['good', 'warning', 'bad']), 'bad');
});

test('only where all is good anything is called ready', () => {
  assert.match(SUMMARY.good, /ready/);
  for (const verdict of ['warning', 'bad'] as const)
    assert.doesNotMatch(SUMMARY[verdict], /ready|fine|good|ok\b|healthy/i);
});

test('a start that is under way passes, and a wrong key does not', () => {
  assert.equal(isPassing(new StartError('platform_starting', '')), true);
  assert.equal(isPassing(new StartError('master_key_wrong', '')), false);
  assert.equal(isPassing(new Error('x')), false);
});
