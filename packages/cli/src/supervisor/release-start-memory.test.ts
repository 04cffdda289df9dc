// What a start left behind is collected some time after it, and not before.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { releaseStartMemory } from './release-start-memory.ts';

test('what only the start needed is collected ten seconds after it', async (t) => {
  const left = new WeakRef({ modules: 'read and compiled' });
  // A weak reference keeps its object for the job in which it was made.
  await new Promise((resolve) => setImmediate(resolve));
  t.mock.timers.enable({ apis: ['setTimeout'] });
  releaseStartMemory();
  t.mock.timers.tick(10_000);
  assert.equal(left.deref(), undefined);
  assert.equal('gc' in globalThis, false);
});
