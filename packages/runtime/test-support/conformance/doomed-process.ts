// Starts doomed.ts, a Runtime in its own process for tests that kill it, and reads its messages.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '../../../../tests/support/wait.ts';
import type { Place } from '../place.ts';
import type { DoomedAbout, DoomedReport } from './doomed.ts';
import type { DriverUnderTest } from './under-test.ts';

export interface Doomed {
  readonly child: ChildProcess;
  /** Resolves when its workloads run, and the last start has begun. */
  readonly ready: Promise<DoomedReport>;
}

export function startDoomed(
  under: DriverUnderTest,
  place: Place,
  what: Pick<DoomedAbout, 'sources' | 'last' | 'network'>,
): Doomed {
  const script = fileURLToPath(new URL('doomed.ts', import.meta.url));
  // A descriptor leaked by the parent of the platform, far above those that Node manages.
  const secret = join(place.folder, 'left-open');
  writeFileSync(secret, 'secret');
  const stdio: ('ignore' | 'pipe' | 'inherit' | number)[] = ['ignore', 'pipe', 'inherit'];
  const descriptor = openSync(secret, 'r');
  stdio[90] = descriptor;
  const { module, options, network, timeFactor = 1 } = under;
  const about: DoomedAbout = {
    ...{ module: module.href, options, folder: place.folder, timeFactor },
    ...(network === undefined ? {} : { network }),
    ...what,
  };
  const child = spawn(process.execPath, [script, JSON.stringify(about)], {
    stdio: Array.from(stdio, (entry) => entry ?? 'ignore'),
  });
  closeSync(descriptor);
  let text = '';
  child.stdout?.on('data', (chunk) => {
    text += chunk;
  });
  const ready = until('the workloads to run', () => text.endsWith('\n') && text, 30_000 * timeFactor);
  return { child, ready: ready.then((line) => JSON.parse(line) as DoomedReport) };
}

export async function killDoomed(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}
