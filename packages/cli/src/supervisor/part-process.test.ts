// A part that runs and answers nothing is ended, so that its supervisor restarts it; one that answers is left alone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PartProgram } from './part-process.ts';

const PING_EVERY = 50;
const program = () =>
  new PartProgram<'hang' | 'serve', 'serving'>(
    'Core',
    new URL('../../test-support/hanging-part.ts', import.meta.url),
    /^PLATFORM_/,
    PING_EVERY,
  );

test('a part that leaves six pings unanswered is killed, and its end says so', async () => {
  const part = await program().start('hang');
  assert.equal(part.report, 'serving');
  assert.match(await part.exited, /^Core did not answer for \d+ s\. Core was killed by SIGKILL\.$/);
});

test('a part that answers outlives many pings, and ends when it is stopped', async () => {
  const part = await program().start('serve');
  // Each is answered after the pings before it, over the same channel.
  const begun = performance.now();
  while (performance.now() - begun < 20 * PING_EVERY) await part.metrics();
  await part.stop();
  assert.equal(await part.exited, 'Core ended with code 0.');
});
