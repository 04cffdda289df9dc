// A part that runs and answers nothing is ended, so that its supervisor restarts it; one that answers is left alone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PartProgram } from './part-process.ts';

const program = (pingEvery: number) =>
  new PartProgram({ name: 'Core', program: new URL('../../test-support/hanging-part.ts', import.meta.url), pingEvery });

test('a part that leaves six pings unanswered is killed, and its end says so', async () => {
  const part = await program(50).start('hang');
  assert.equal(part.report, 'serving');
  assert.match(await part.exited, /^Core did not answer for \d+ s\. Core was killed by SIGKILL\.$/);
});

test('a part that answers outlives many pings, and ends when it is stopped', async () => {
  // Six of them are more than a machine may keep it from answering.
  const pingEvery = 700;
  const part = await program(pingEvery).start('serve');
  // Each is answered after the pings before it, over the same channel.
  const begun = performance.now();
  while (performance.now() - begun < 8 * pingEvery) await part.metrics();
  await part.stop();
  assert.equal(await part.exited, 'Core ended with code 0.');
});
