// The process of core-process.ts: reads its order from standard input, starts core, reports that, holds callers at
// moments, and ends with its parent.
import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline';
import { createCore, type Point } from '@platform/core';
import type { CoreProcessOrder } from './core-process.ts';
import { moments } from './held-moments.ts';
import { unlimitedRates } from './rates.ts';

const quiet = () => undefined;

const held = moments();
const releases = new Map<string, () => void>();

createInterface({ input: process.stdin })
  .once('line', (line) => void start(JSON.parse(line) as CoreProcessOrder))
  .on('line', follow)
  .once('close', () => process.exit(0));

/** What the parent wants later on: `hold <point>` and `release <point>`. */
function follow(line: string): void {
  const [verb, point] = line.split(' ') as [string, Point];
  if (verb === 'release') releases.get(point)?.();
  if (verb !== 'hold') return;
  const { reached, release } = held.hold(point);
  releases.set(point, release);
  void reached.then(() => process.stdout.write(`reached ${point}\n`));
}

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
    log: { debug: quiet, info: quiet, warn: quiet, error: order.quiet ? quiet : (fields) => console.error(fields) },
    systemPackages: order.systemPackages,
    rates: { ...unlimitedRates, ...order.rates },
    push: order.push,
    schedules: order.schedules,
    at: (point) => (point === order.dieAt ? die() : held.at(point)),
  });
  process.once('SIGTERM', () => void core.stop().then(() => process.exit(0)));
  process.stdout.write('listening\n');
}
