// The installations of a node: each is made of what the Runtime works with, and core gets what becomes of it.
import { availableParallelism } from 'node:os';
import { Installation, type InstallationParts } from './lifecycle/installation.ts';
import { createSlots } from './lifecycle/slots.ts';
import type { WorkloadParts } from './lifecycle/workload.ts';
import type { NodeMeans } from './node-means.ts';
import { createFleet, createReporter, type Fleet, type Reporter } from './reconcile.ts';
import type { RuntimeOptions } from './runtime-options.ts';
import { createTally, type Tally } from './tally.ts';

export interface NodeFleet {
  readonly fleet: Fleet;
  readonly reporter: Reporter;
  /** What went through its Gateways. */
  readonly tally: Tally;
}

export function openFleet(options: RuntimeOptions, means: NodeMeans): NodeFleet {
  const { log, metrics } = options;
  const tally = createTally();
  const slots = createSlots(Math.max(2, availableParallelism()));
  const reporter = createReporter(means.core, (id) => fleet.find(id)?.status(), log);
  const parts: InstallationParts = {
    ...means,
    workload: workloadParts(options, means, tally),
    log,
    slots,
    onStatus(id) {
      reporter.changed(id);
      const status = fleet.find(id)?.status();
      if (status !== undefined) metrics?.changed(status);
    },
  };
  const fleet = createFleet({
    packages: means.packages,
    runnables: means.runnables,
    driver: means.driver,
    log,
    make: (assignment) => new Installation(parts, assignment, means.survivors.take(assignment.installationId)),
  });
  return { fleet, reporter, tally };
}

function workloadParts(options: RuntimeOptions, means: NodeMeans, tally: Tally): WorkloadParts {
  const { coreOrigin, coreHost, coreKey, outbound, startGateway, metrics, random, log } = options;
  return {
    ...means,
    ...means.link,
    coreOrigin,
    coreHost,
    ...(coreKey === undefined ? {} : { coreKey }),
    outbound: outbound ?? { privateOrigins: [], ca: null },
    startGateway,
    metrics,
    tally,
    random,
    log,
  };
}
