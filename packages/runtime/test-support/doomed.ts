// Runs in a process of its own that a test kills: launches a workload that spreads, and says when it has.

import { until } from '../../../tests/support/wait.ts';
import type { Way } from '../src/drivers/process/mechanism.ts';
import { openBench } from './sandboxes.ts';

const [way, dataDirectory, app, mode] = process.argv.slice(2);
if (way === undefined || dataDirectory === undefined || app === undefined) throw new Error('way, data folder, app');
const bench = await openBench(dataDirectory, way as Way);
const running = await bench.start({
  app,
  ...(mode === 'executable' ? { entry: { path: 'server', runtime: 'binary' } } : {}),
  attachGateway: async () => {
    // Killed in the middle of the launch: the workload must not get to run at all.
    if (mode === 'during') {
      process.stdout.write('ready\n');
      await new Promise(() => setInterval(() => undefined, 1_000));
    }
  },
});
await until('the workload to be up', () => running.output().includes('up'));
process.stdout.write(`ready ${running.output()}\n`);
setInterval(() => undefined, 1_000);
