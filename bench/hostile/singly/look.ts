// What somebody who does no harm sees for some seconds: how long the answers to steady requests of their session and of their
// app take. Meanwhile the peaks of memory are read.
import { partOf } from '../../../tests/support/platform-process.ts';
import { residentOfTree } from '../../platform/process-memory.ts';
import { forgetPeak, peakSince } from './peak-memory.ts';
import type { Stage } from './stage.ts';

export interface Look {
  /** By what was asked, the milliseconds of each answer. */
  readonly times: Readonly<Record<string, readonly number[]>>;
  readonly failures: readonly string[];
  /** In MiB. The Gateways are in the node's process. */
  readonly peaks: { readonly core: number; readonly node: number; readonly all: number };
}

interface Probe {
  readonly every: number;
  ask(): Promise<{ readonly status: number }>;
}

function probesOf({ innocent: { account, backend } }: Stage): Readonly<Record<string, Probe>> {
  return {
    'GET /v1/apps': { every: 50, ask: () => account.fetch('/v1/apps') },
    'GET /v1/search': { every: 100, ask: () => account.fetch('/v1/search?q=innocent') },
    'their backend': { every: 50, ask: () => backend('/') },
    // Below the rate of an installation.
    'their app to core': { every: 100, ask: () => backend('/service') },
    'their app to the store': { every: 100, ask: () => backend('/object') },
  };
}

const WEIGHING_MILLISECONDS = 2_000;

export async function look(stage: Stage, seconds: number): Promise<Look> {
  const times: Record<string, number[]> = {};
  const failures: string[] = [];
  const until = performance.now() + 1_000 * seconds;
  const [core, node] = [await pidOf(stage, 'Core'), await pidOf(stage, 'Node')];
  await Promise.all([core, node].map(forgetPeak));
  let all = 0;
  const every = async (milliseconds: number, act: () => void) => {
    while (performance.now() < until) {
      act();
      await new Promise((resolve) => setTimeout(resolve, milliseconds));
    }
  };
  const probing = Object.entries(probesOf(stage)).map(async ([name, { every: interval, ask }]) => {
    const taken: number[] = [];
    times[name] = taken;
    const open: Promise<void>[] = [];
    await every(interval, () => void open.push(timed(ask, taken, (how) => failures.push(`${name}: ${how}`))));
    await Promise.all(open);
  });
  const weighing = every(WEIGHING_MILLISECONDS, () => {
    all = Math.max(all, residentOfTree(stage.platform.pid) / 2 ** 20);
  });
  await Promise.all([...probing, weighing]);
  return { times, failures, peaks: { core: await peakSince(core), node: await peakSince(node), all } };
}

async function timed(ask: Probe['ask'], taken: number[], failed: (how: string) => void): Promise<void> {
  const begun = performance.now();
  const how = await ask().then(
    ({ status }) => status,
    (cause: Error) => cause.message,
  );
  taken.push(performance.now() - begun);
  if (how !== 200) failed(String(how));
}

async function pidOf({ place }: Stage, part: 'Core' | 'Node'): Promise<number> {
  const { pid } = await partOf(place, part);
  if (pid === null) throw new Error(`${part} does not run`);
  return pid;
}
