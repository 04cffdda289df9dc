// What the backend of an app may use of its machine (contract 3): what a manifest asks for, what an installation was
// granted, and what both allow. Free of zod, for the pages that bundle it.
import type { BackendResources } from './domains/grants.ts';
import type { WorkloadManifest } from './domains/packages.ts';

/** What a manifest that says nothing asks for, without a volume. More is shown as more in a review. */
export const standardResources: BackendResources = {
  mode: 'automatic',
  memoryMiB: 256,
  cpus: 1,
  pids: 64,
  diskMiB: 0,
};
/** The size of a volume for which a manifest names none. */
export const standardDiskMiB = 1_024;

/** Granted to an app that had no backend when it was reviewed. */
export const noResources: BackendResources = { mode: 'automatic', memoryMiB: 0, cpus: 0, pids: 0, diskMiB: 0 };

type Asking = Pick<WorkloadManifest, 'mode' | 'resources' | 'volume'>;

/** What a backend asks for; `diskMiB` is 0 without a volume. */
export function askedResources({ mode, resources, volume }: Asking): BackendResources {
  const { memoryMiB, cpus, pids, diskMiB } = resources;
  return { mode, memoryMiB, cpus, pids, diskMiB: volume ? diskMiB : 0 };
}

export type ResourceName = keyof BackendResources;

/** What of `asked` goes beyond `granted`, in the order in which a review shows it; empty when all is covered. */
export function resourcesBeyond(granted: BackendResources, asked: BackendResources): ResourceName[] {
  const amounts = (['memoryMiB', 'diskMiB', 'cpus', 'pids'] as const).filter((name) => asked[name] > granted[name]);
  return asked.mode === 'always' && granted.mode !== 'always' ? ['mode', ...amounts] : amounts;
}

/**
 * What stays granted at a change of version: of each the smaller. Of the disk what was granted, since a volume that
 * exists does not shrink. A first backend gets the standard at most, and no volume.
 */
export function carriedResources(held: BackendResources, asked: BackendResources): BackendResources {
  const { mode, memoryMiB, cpus, pids } = held.memoryMiB === 0 ? standardResources : held;
  return {
    mode: mode === 'always' && asked.mode === 'always' ? 'always' : 'automatic',
    memoryMiB: Math.min(memoryMiB, asked.memoryMiB),
    cpus: Math.min(cpus, asked.cpus),
    pids: Math.min(pids, asked.pids),
    diskMiB: held.diskMiB,
  };
}

/** What is granted when a person accepts all that a version asks for; a volume keeps its size. */
export function acceptedResources(held: BackendResources, asked: BackendResources): BackendResources {
  return { ...asked, diskMiB: Math.max(held.diskMiB, asked.diskMiB) };
}

/**
 * What holds for a backend now. `granted` is the snapshot of its installation; `null` in a row that a version of the
 * platform without snapshots wrote: such a backend has what its manifest asks for.
 */
export function resourcesInForce(workload: Asking, granted: BackendResources | null): BackendResources {
  const asked = askedResources(workload);
  return granted === null ? asked : carriedResources(granted, asked);
}

/** The backend within its snapshot: so it is placed, started and shown, whatever its manifest asks for. */
export function grantedWorkload(workload: WorkloadManifest, granted: BackendResources | null): WorkloadManifest {
  const { mode, memoryMiB, cpus, pids, diskMiB } = resourcesInForce(workload, granted);
  return {
    ...workload,
    mode,
    // Counts with a volume only.
    resources: { memoryMiB, cpus, pids, diskMiB: Math.max(1, diskMiB) },
    volume: workload.volume && diskMiB > 0,
  };
}
