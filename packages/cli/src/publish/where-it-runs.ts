// Whether a platform has a machine for the backend of a package: publishing does not depend on it, installing does.
import { type MachineKind, processorNames, type WorkloadManifest } from '@platform/contract';

/** What an author should know before waiting for somebody to install it; `null` where a machine can run the backend. */
export function nowhereToRun(
  { runtime, processor }: Pick<WorkloadManifest, 'runtime' | 'processor'>,
  machines: readonly MachineKind[],
): string | null {
  if (machines.length === 0)
    return 'This platform has no machine that runs backends, so nobody can install this version now. Its operator can add one: ./platform node join';
  const able = machines.filter(({ runtimes }) => runtimes.includes(runtime));
  if (able.some((machine) => processor === undefined || machine.processor === processor)) return null;
  if (runtime === 'oci')
    return 'No machine of this platform runs container images, so nobody can install this version now. Machines with the driver "docker" do (PLATFORM_RUNTIME_DRIVER).';
  if (able.length > 0 && processor !== undefined)
    return `No machine of this platform has a processor for this backend (${processorNames[processor]}), so nobody can install this version now.`;
  return `No machine of this platform runs backends of runtime "${runtime}", so nobody can install this version now.`;
}
