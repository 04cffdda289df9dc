// What one run of a workload uses, put together from its driver, its Gateway and its log, with the share of processors
// that it used lately.

import type { WorkloadManifest, WorkloadUse } from '@platform/contract';
import { MiB } from '@platform/contract/sizes';
import type { Clock } from '../clock.ts';
import type { WorkloadInstance } from '../drivers/driver.ts';

export interface UsageParts {
  readonly instance: Pick<WorkloadInstance, 'stats' | 'gateway'>;
  readonly resources: WorkloadManifest['resources'];
  /** Lines of its log that were dropped so far. */
  readonly logLinesDropped: () => number;
  /** Before its first process was; `null` when it was taken over from an earlier Runtime and worked unwatched before. */
  readonly startedAt: Date | null;
  readonly now: Clock['now'];
}

interface Sample {
  readonly at: number;
  readonly cpuMilliseconds: number;
}

/** Over less than this the share says little: what a limit lets through in a tenth of a second may be spent in a twentieth. */
const SHORTEST_SPAN = 1_000;
/** Samples closer than this are not kept, so that many watchers cost no memory. */
const SAMPLE_DISTANCE = 250;

/**
 * @returns a function that reads the use now; any number of watchers may call it at any time. The share is that since
 * the last reading which is at least a second old, or since the start of the run; of a run younger than a second, that of
 * its last second, at whose beginning it was not there. `null` until one that was taken over was watched for a second.
 */
export function createUsage(parts: UsageParts): () => Promise<WorkloadUse> {
  const { instance, resources, logLinesDropped, startedAt, now } = parts;
  /** Oldest first; only the first one may be older than the shortest span. */
  let samples: readonly Sample[] = startedAt === null ? [] : [{ at: startedAt.getTime(), cpuMilliseconds: 0 }];

  function shareOf(cpuMilliseconds: number | null): number | null {
    if (cpuMilliseconds === null) return null;
    const at = now().getTime();
    const [oldest = { at, cpuMilliseconds }, ...later] = samples;
    const old = later.filter((sample) => at - sample.at >= SHORTEST_SPAN);
    const base = old.at(-1) ?? oldest;
    const kept = later.slice(old.length);
    if (at - (kept.at(-1) ?? base).at >= SAMPLE_DISTANCE) kept.push({ at, cpuMilliseconds });
    samples = [base, ...kept];
    if (startedAt === null && at - base.at < SHORTEST_SPAN) return null;
    const span = Math.max(SHORTEST_SPAN, at - base.at);
    return Math.round((Math.max(0, cpuMilliseconds - base.cpuMilliseconds) / span) * 1_000) / 1_000;
  }

  return async () => {
    const { cpuMilliseconds, memoryBytes, memoryPeakBytes, publicNetwork } = await instance.stats();
    const traffic = instance.gateway.traffic();
    return {
      cpu: { milliseconds: cpuMilliseconds, share: shareOf(cpuMilliseconds), limit: resources.cpus },
      memory: { bytes: memoryBytes, peakBytes: memoryPeakBytes, limitBytes: resources.memoryMiB * MiB },
      network: { outbound: traffic.outbound, inbound: traffic.inbound, public: publicNetwork },
      logLinesDropped: logLinesDropped(),
    };
  };
}
