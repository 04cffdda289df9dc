// The Runtime of one node: turns what core wants into running, confined workloads. Read this file first. node-means.ts has what
// it works with, drivers/ the walls, lifecycle/ the states of a workload, open-fleet.ts its installations, listener/ the HTTP
// sides, follow-core.ts and reconcile.ts the talk with core.
import type { DriverReport } from './drivers/driver.ts';
import { followCore } from './follow-core.ts';
import { openSides } from './listener/open-sides.ts';
import { type NodeMeans, openMeans, Wanted } from './node-means.ts';
import { openFleet } from './open-fleet.ts';
import type { Runtime, RuntimeOptions } from './runtime-options.ts';

export type { DriverChoice } from './drivers/choose.ts';
export { probeDriver } from './drivers/open-driver.ts';
export type { GatewayOptions, GatewaySidecar, RunningGateway, StartGateway } from './gateway-port.ts';
export type { Runtime, RuntimeOptions } from './runtime-options.ts';
export { examineSharedVolumes } from './shared-volumes.ts';
export { examineVolumes, type VolumeState } from './volumes/examine-volumes.ts';

/** Resolves when it listens. @throws Error when the data folder, the driver or a port cannot be used */
export async function startRuntime(options: RuntimeOptions): Promise<Runtime> {
  const { log } = options;
  const stopping = new AbortController();
  const ending = stopping.signal;
  const wanted = new Wanted();
  const means = await openMeans(options, wanted, ending);
  const { driver, survivors, core } = means;
  const { fleet, reporter, tally } = openFleet(options, means);
  options.metrics?.watch({
    report: driver.report,
    statuses: () => [...fleet.all()].map((installation) => installation.status()),
    tally,
  });
  const sides = await openSides(options, { fleet, means, wanted, ending });
  const following = await followCore({ options, means, fleet, reporter, tally, sides, wanted, ending });
  return {
    listenerPort: sides.endpoints.port,
    sandbox: describeSandbox(driver.report, options.allowUnsandboxed === true),
    report: driver.report,
    because: means.because,
    registered: following.registered,
    async stop() {
      stopping.abort();
      driver.leave?.();
      await following.ended;
      const closing = sides.close();
      await Promise.all([survivors.endRest(), ...[...fleet.all()].map((installation) => installation.close())]);
      await Promise.all([closing, reporter.close()]);
      await leave(means, log);
      await sides.iroh?.close();
      await core.close();
      await driver.close();
      await sweepVolumes(means, log);
    },
  };
}

/** Of the time that a stop has. */
const LEAVE_MILLISECONDS = 2_000;

/** Others may run what ran here, at once; without core's answer they do when the lease has ended. */
async function leave({ core, survivors }: NodeMeans, log: RuntimeOptions['log']): Promise<void> {
  // What could not be ended may still run.
  if ([...survivors.left()].length > 0) return;
  await core.leave(AbortSignal.timeout(LEAVE_MILLISECONDS)).catch((error: unknown) => {
    log.debug({ err: error }, 'core was not told that this node stops');
  });
}

/** Unmounts what an earlier Runtime left, but not under a workload that outlived it. */
async function sweepVolumes({ volumes, survivors }: NodeMeans, log: RuntimeOptions['log']): Promise<void> {
  await volumes.sweep(survivors.left()).catch((error: unknown) => {
    log.warn({ err: error }, 'a former volume could not be unmounted');
  });
}

function describeSandbox(report: DriverReport, allowUnsandboxed: boolean): string {
  if (report.ok) {
    const weak = Object.entries(report.limits).flatMap(([name, by]) => (by === false ? [name] : []));
    const remark = weak.length === 0 ? '' : `; not limited here: ${weak.join(', ')}`;
    return `confined with ${report.mechanism}${remark}`;
  }
  const why = report.reasons[0] ?? 'the trial sandbox failed';
  return allowUnsandboxed ? `NOT confined (${why})` : `refused: no sandbox can be made (${why})`;
}
