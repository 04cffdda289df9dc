// A Runtime alone in its process, for reconcile-cpu.ts: told to begin, it says how much processor time it has used when
// the next list of assignments has been carried out.
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { startGateway } from '@platform/gateway';
import { startRuntime } from '@platform/runtime';
import { createNodeMetrics } from '@platform/runtime/metrics';
import { makePlace } from '../../packages/runtime/test-support/place.ts';

const [coreOrigin = '', nodeCredential = ''] = process.argv.slice(2);
const place = makePlace();
const silent = () => undefined;
let begun: NodeJS.CpuUsage | undefined;
/** After the list is carried out: what it set going, such as looking after packages, is part of the price. */
const AFTERWARDS_MILLISECONDS = 100;

const runtime = await startRuntime({
  dataDirectory: place.folder,
  coreOrigin,
  coreHost: 'core.test',
  nodeCredential,
  nodeOrigin: 'http://node.platform.localhost:8788',
  listenHost: '127.0.0.1',
  listenPort: 0,
  clock: () => new Date(),
  random: randomBytes,
  log: { debug: silent, info: silent, warn: silent, error: silent },
  startGateway,
  metrics: { ...createNodeMetrics(), reconciled: () => void report() },
});
await runtime.registered;

async function report(): Promise<void> {
  if (begun === undefined) return;
  await delay(AFTERWARDS_MILLISECONDS);
  const { user, system } = process.cpuUsage(begun);
  begun = undefined;
  process.send?.((user + system) / 1_000);
}

process.on('message', () => {
  begun = process.cpuUsage();
  process.send?.('begun');
});
process.once('SIGTERM', async () => {
  await runtime.stop();
  place.remove();
  process.exit(0);
});
process.send?.('ready');
