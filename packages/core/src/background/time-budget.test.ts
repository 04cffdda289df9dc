// What counts of a job's time: its work, and not what it waits for.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OverBudgetError } from './thread-pool.ts';
import { TimeBudget } from './time-budget.ts';

test('only the time between resume and pause is counted', (t) => {
  let now = 0;
  t.mock.timers.enable({ apis: ['setTimeout'] });
  t.mock.method(performance, 'now', () => now);
  const pass = (milliseconds: number) => {
    now += milliseconds;
    t.mock.timers.tick(milliseconds);
  };
  const budget = new TimeBudget(1_000);
  pass(5_000);
  budget.resume();
  pass(600);
  budget.pause();
  pass(5_000);
  budget.resume();
  pass(399);
  assert.equal(budget.signal.aborted, false);
  pass(1);
  assert.ok(budget.signal.reason instanceof OverBudgetError);
  assert.equal(budget.signal.reason.message, 'it took longer than 1 s');
});
