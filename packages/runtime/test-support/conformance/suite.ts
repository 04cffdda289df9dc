// The behaviours that every driver must show, tried with real workloads. A driver's test file calls this once for each
// way in which it can confine. Read bench.ts for how a workload is started, subject.ts for how code runs inside.
import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import { type ConformanceBench, openBench, type Started } from './bench.ts';
import { ENVIRONMENT_CANARY, environmentBehaviour } from './environment.ts';
import { executableBehaviour } from './executable.ts';
import { isolationBehaviour } from './isolation.ts';
import { lifecycleBehaviour } from './lifecycle.ts';
import { limitsBehaviour } from './limits.ts';
import { networkBehaviour } from './network.ts';
import { publicBehaviour } from './public.ts';
import { restartBehaviour } from './restart.ts';
import { runtimeKilledBehaviour } from './runtime-killed.ts';
import { tunnelBehaviour } from './tunnel.ts';
import { udpBehaviour } from './udp.ts';
import type { DriverUnderTest } from './under-test.ts';

/** What the groups share. Two workloads run for most of the time, since some drivers need seconds for one. */
export interface Suite {
  readonly under: DriverUnderTest;
  bench(): ConformanceBench;
  /** A workload with a volume that does what the test says. */
  subject(): Started;
  /** Another installation on the same node, which must never be touched. */
  neighbour(): Started;
}

/** @param more Behaviours that only this driver promises, with the same two workloads. */
export function driverConformance(under: DriverUnderTest, more?: (suite: Suite) => void): void {
  describe(`driver ${under.name}`, () => {
    let bench: ConformanceBench;
    let subject: Started;
    let neighbour: Started;
    const suite: Suite = { under, bench: () => bench, subject: () => subject, neighbour: () => neighbour };

    before(async () => {
      process.env.PLATFORM_CANARY = ENVIRONMENT_CANARY;
      bench = await openBench(under);
      assert.equal(bench.driver.report.ok, true, bench.driver.report.reasons.join(' '));
      subject = await bench.start({
        workload: { volume: true, environment: { COLOUR: 'blue' } },
      });
      neighbour = await bench.start({ workload: { volume: true } });
      await Promise.all([subject.listens(), neighbour.listens()]);
    });
    after(async () => {
      await Promise.all([subject?.stop(), neighbour?.stop()]);
      await bench?.close();
      bench?.place.remove();
      delete process.env.PLATFORM_CANARY;
    });

    environmentBehaviour(suite);
    isolationBehaviour(suite);
    networkBehaviour(suite);
    udpBehaviour(suite);
    tunnelBehaviour(suite);
    publicBehaviour(suite);
    // Each has a workload of its own.
    describe('limits and restart', { concurrency: under.parallel ?? 1 }, () => {
      limitsBehaviour(suite);
      restartBehaviour(suite);
    });
    more?.(suite);
  });
  // Each counts what is left, and has nothing beside it.
  describe(`driver ${under.name}, alone`, () => {
    lifecycleBehaviour(under);
    runtimeKilledBehaviour(under);
  });
  describe(`driver ${under.name}, with an executable`, () => executableBehaviour(under));
}
