// The Runtime is killed without warning while a workload runs: what the next one finds.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { makePlace, type Place } from '../../testing/place.ts';
import { descendants } from '../../testing/processes.ts';
import { until } from '../../testing/wait.ts';
import { openBench } from './bench.ts';
import { lookAround } from './traces.ts';
import type { DriverUnderTest } from './under-test.ts';

export function runtimeKilledBehaviour(under: DriverUnderTest): void {
  const limit = (milliseconds: number) => milliseconds * (under.timeFactor ?? 1);

  test('when the Runtime is killed, the next one finds what the driver promises and nothing else', async (t) => {
    if (under.can.runtimeKilled !== 'ends') return t.skip('this driver hands its workloads to the next Runtime');
    const place = makePlace();
    t.after(() => place.remove());
    const { child, ready } = startDoomed(under, place, 'after');
    t.after(() => child.kill('SIGKILL'));
    const report = await ready;
    assert.doesNotMatch(report.descriptors.join(' '), /left-open/);
    const below = descendants(child.pid ?? 0);
    assert.ok(below.length > 0);
    await kill(child);
    await until('all of it to be gone', () => below.every((one) => !one.alive()), limit(20_000));
    await nothingIsLeft(t, place, [report.installationId]);
  });

  test('when the Runtime is killed during a start, the workload does not begin to run', async (t) => {
    const place = makePlace();
    t.after(() => place.remove());
    const { child, ready } = startDoomed(under, place, 'during');
    t.after(() => child.kill('SIGKILL'));
    const { installationId } = await ready;
    const below = descendants(child.pid ?? 0);
    await kill(child);
    await until('all of it to be gone', () => below.every((one) => !one.alive()), limit(20_000));
    await nothingIsLeft(t, place, [installationId]);
  });

  /** After the next Runtime has begun, which sweeps what the kernel keeps. */
  async function nothingIsLeft(t: TestContext, place: Place, words: readonly string[]): Promise<void> {
    const bench = await openBench(under, place);
    let open = true;
    t.after(() => open && bench.close());
    assert.deepEqual(lookAround(place.folder, words).named, []);
    assert.deepEqual((await under.traces?.(words)) ?? [], []);
    await bench.close();
    open = false;
    assert.deepEqual(lookAround(place.folder, [...words, place.folder]).named, []);
  }
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

interface DoomedReport {
  readonly installationId: string;
  readonly descriptors: readonly string[];
}

function startDoomed(
  under: DriverUnderTest,
  place: Place,
  mode: 'after' | 'during',
): { child: ChildProcess; ready: Promise<DoomedReport> } {
  const script = fileURLToPath(new URL('doomed.ts', import.meta.url));
  // A descriptor that whoever started the platform left open, far above those that Node looks after.
  const secret = join(place.folder, 'left-open');
  writeFileSync(secret, 'secret');
  const stdio: ('ignore' | 'pipe' | 'inherit' | number)[] = ['ignore', 'pipe', 'inherit'];
  stdio[90] = openSync(secret, 'r');
  const { module, options, network, timeFactor = 1 } = under;
  const about = JSON.stringify({ module: module.href, options, folder: place.folder, mode, network, timeFactor });
  const child = spawn(process.execPath, [script, about], { stdio: Array.from(stdio, (entry) => entry ?? 'ignore') });
  let text = '';
  child.stdout?.on('data', (chunk) => {
    text += chunk;
  });
  const ready = until('the workload to run', () => text.endsWith('\n') && text, 30_000 * timeFactor);
  return { child, ready: ready.then((line) => JSON.parse(line) as DoomedReport) };
}
