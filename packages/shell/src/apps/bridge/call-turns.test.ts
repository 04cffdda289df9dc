// Turns of an app's calls: few at once over all its documents, in order, whatever becomes of those before, and each app for itself.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CALLS_UNDER_WAY, createCallTurns } from './call-turns.ts';

test('only a few calls of an app are under way, however many ports it had, and none of them waits for another app', async () => {
  const turns = createCallTurns();
  const begun: number[] = [];
  const gates = Array.from({ length: 3 * CALLS_UNDER_WAY }, () => Promise.withResolvers<number>());
  const answers = gates.map(({ promise }, index) =>
    turns.take('slow', () => {
      begun.push(index);
      return promise;
    }),
  );
  assert.equal(await turns.take('other', async () => 'at once'), 'at once');
  assert.equal(begun.length, CALLS_UNDER_WAY);
  for (const [index, gate] of gates.entries()) {
    if (index === 0) gate.reject(new Error('refused'));
    else gate.resolve(index);
  }
  await assert.rejects(answers[0] ?? Promise.resolve(), /refused/);
  assert.deepEqual(await Promise.all(answers.slice(1)), [...gates.keys()].slice(1));
  assert.deepEqual(begun, [...gates.keys()]);
  assert.equal(await turns.take('slow', async () => 'again'), 'again');
});
