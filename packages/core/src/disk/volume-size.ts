// How much disk the volume of a workload may take: what its account and its node are charged for it.
import type { WorkloadManifest } from '@platform/contract';

/**
 * MiB of the volume that this workload is granted, 0 without one. Everything that counts volumes asks here.
 *
 * @param workload as it is in force for the installation
 */
export function volumeMiBOf(workload: WorkloadManifest | undefined): number {
  return workload?.volume === true ? workload.resources.diskMiB : 0;
}
