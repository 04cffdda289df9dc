// A part of the platform for part-process.test.ts: serves at once, and stops answering when it gets `hang` for its order.
import { runPart } from '../src/supervisor/run-part.ts';

runPart<'hang' | 'serve', 'serving'>(async (order) => {
  // After the report has been sent.
  if (order === 'hang') setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0), 50);
  else setInterval(() => undefined, 1_000).unref();
  return { report: 'serving' };
});
