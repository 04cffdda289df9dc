// The process of core-process.ts: reads its order from standard input, starts core, reports that, and ends with its
// parent.
import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline';
import { createCore } from '@platform/core';
import type { CoreProcessOrder } from './core-process.ts';
import { unlimitedRates } from './rates.ts';

const quiet = () => undefined;

createInterface({ input: process.stdin })
  .once('line', (line) => void start(JSON.parse(line) as CoreProcessOrder))
  .once('close', () => process.exit(0));

/** As `kill -9` does; nothing happens after it. */
function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => undefined);
}

async function start(order: CoreProcessOrder): Promise<void> {
  const core = await createCore({
    config: order.config,
    databaseUrl: order.databaseUrl,
    masterKey: Buffer.from(order.masterKey, 'base64url'),
    clock: () => new Date(),
    random: randomBytes,
    log: { debug: quiet, info: quiet, warn: quiet, error: (fields) => console.error(fields) },
    systemPackages: order.systemPackages,
    rates: { ...unlimitedRates, ...order.rates },
    push: order.push,
    schedules: order.schedules,
    at: (point) => (point === order.dieAt ? die() : undefined),
  });
  process.once('SIGTERM', () => void core.stop().then(() => process.exit(0)));
  process.stdout.write('listening\n');
}
