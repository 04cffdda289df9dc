// What the backend of an app may use of its machine (contract 3): what a manifest asks for, what an installation was
// granted, and what both allow. Free of zod, for the pages that bundle it.
import type { BackendResources } from './domains/grants.ts';
import type { WorkloadManifest } from './domains/packages.ts';

/** What a manifest that says nothing asks for, without a volume. More is shown as more in a review. */
export const standardResources: BackendResources = {
  mode: 'automatic',
  idleSeconds: 300,
  memoryMiB: 256,
  cpus: 1,
  pids: 64,
  diskMiB: 0,
};
/** The size of a volume for which a manifest names none. */
export const standardDiskMiB = 1_024;

/** The snapshot of an app that had no backend when it was reviewed: one that comes with an update does not run. */
export const noResources: BackendResources = {
  mode: 'automatic',
  idleSeconds: 0,
  memoryMiB: 0,
  cpus: 0,
  pids: 0,
  diskMiB: 0,
};

type Asking = Pick<WorkloadManifest, 'mode' | 'idleSeconds' | 'resources' | 'volume'>;

/** What a backend asks for; `diskMiB` is 0 without a volume. */
export function askedResources({ mode, idleSeconds, resources, volume }: Asking): BackendResources {
  const { memoryMiB, cpus, pids, diskMiB } = resources;
  return { mode, idleSeconds, memoryMiB, cpus, pids, diskMiB: volume ? diskMiB : 0 };
}

export type ResourceName = keyof BackendResources;

/** What of `asked` goes beyond `granted`, in the order in which a review shows it; empty when all is covered. */
export function resourcesBeyond(granted: BackendResources, asked: BackendResources): ResourceName[] {
  const amounts = (['memoryMiB', 'diskMiB', 'cpus', 'pids'] as const).filter((name) => asked[name] > granted[name]);
  if (granted.mode === 'always') return amounts;
  if (asked.mode === 'always') return ['mode', ...amounts];
  return asked.idleSeconds > heldIdleSeconds(granted, asked) ? ['idleSeconds', ...amounts] : amounts;
}

/** How long after its last use a backend may stay awake; what runs all the time was granted any time. */
function heldIdleSeconds(held: BackendResources, asked: BackendResources): number {
  if (held.mode === 'always' && asked.mode !== 'always') return asked.idleSeconds;
  // Absent in a row of a former version of the platform, which went by the manifest.
  return held.idleSeconds ?? asked.idleSeconds;
}

/** Whether a review granted a backend at all; nothing can run in no memory. */
export function grantsBackend({ memoryMiB }: BackendResources): boolean {
  return memoryMiB > 0;
}

/**
 * What stays granted at a change of version: of each the smaller, and no backend where none was granted. Of the disk what
 * was granted, since a volume that exists does not shrink.
 */
export function carriedResources(held: BackendResources, asked: BackendResources): BackendResources {
  return {
    mode: held.mode === 'always' && asked.mode === 'always' ? 'always' : 'automatic',
    idleSeconds: Math.min(heldIdleSeconds(held, asked), asked.idleSeconds),
    memoryMiB: Math.min(held.memoryMiB, asked.memoryMiB),
    cpus: Math.min(held.cpus, asked.cpus),
    pids: Math.min(held.pids, asked.pids),
    diskMiB: held.diskMiB,
  };
}

/** What is granted when a person accepts all that a version asks for; a volume keeps its size. */
export function acceptedResources(held: BackendResources, asked: BackendResources): BackendResources {
  return { ...asked, diskMiB: Math.max(held.diskMiB, asked.diskMiB) };
}

/**
 * What holds for a backend now; `null` while its owner has not reviewed it, and it does not run. `granted` is the snapshot
 * of its installation; `null` in a row that a version of the platform without snapshots wrote: such a backend has what its
 * manifest asks for.
 */
export function resourcesInForce(workload: Asking, granted: BackendResources | null): BackendResources | null {
  const asked = askedResources(workload);
  if (granted === null) return asked;
  return grantsBackend(granted) ? carriedResources(granted, asked) : null;
}

/**
 * The backend within its snapshot: so it is placed, started and shown, whatever its manifest asks for. `undefined` without
 * a backend, and for one that its owner has not reviewed.
 */
export function grantedWorkload(
  workload: WorkloadManifest | undefined,
  granted: BackendResources | null,
): WorkloadManifest | undefined {
  const inForce = workload === undefined ? null : resourcesInForce(workload, granted);
  if (workload === undefined || inForce === null) return undefined;
  const { mode, idleSeconds, memoryMiB, cpus, pids, diskMiB } = inForce;
  return {
    ...workload,
    mode,
    idleSeconds,
    // Counts with a volume only.
    resources: { memoryMiB, cpus, pids, diskMiB: Math.max(1, diskMiB) },
    volume: workload.volume && diskMiB > 0,
  };
}
