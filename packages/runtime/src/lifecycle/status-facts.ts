// What the status of an installation says besides its state, and whether a new assignment changes its grants.
import { isDeepStrictEqual } from 'node:util';
import type { Assignment, InstallationStatus } from '@platform/contract';
import type { Workload, WorkloadParts } from './workload.ts';

export function unlimitedVolume(
  { driver, volumes }: WorkloadParts,
  { installationId, workload, volumeStore }: Assignment,
): string[] {
  if (!workload.volume || (driver.makesVolumes === true && volumeStore === undefined)) return [];
  const why = volumeStore === undefined ? volumes.unlimited(installationId) : 'a shared folder has no limits';
  return why === undefined ? [] : [`The size of its volume is not limited on this machine: ${why}.`];
}

/** Whether it has a volume on the disk of this machine. */
export function writesDisk({ workload, volumeStore }: Assignment): boolean {
  return workload.volume && volumeStore === undefined;
}

/** Of one that does not run, the numbers that are kept for it. */
export function publicPorts(
  workload: Workload | undefined,
  { udpPorts }: WorkloadParts,
  assignment: Assignment,
): Pick<InstallationStatus, 'publicPorts'> {
  const ports = workload?.publicPorts() ?? udpPorts.kept(assignment);
  return ports.length === 0 ? {} : { publicPorts: [...ports] };
}

export function sameGrants(one: Assignment, other: Assignment): boolean {
  const carriedOut = ({ network, udpPorts, gateway }: Assignment) => [network, udpPorts, gateway];
  return isDeepStrictEqual(carriedOut(one), carriedOut(other));
}
