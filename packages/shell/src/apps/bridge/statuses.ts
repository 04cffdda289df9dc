// The states of backends, as far as a grant shows them: whether they run. What they use and carry is for their owner alone.
import type { BackendStatus, InstalledApp, WorkloadStatus } from '@platform/contract';
import { coveredBy } from './grants.ts';
import type { ShellSide } from './shell-side.ts';

export function onlyStatus({ state, since, reason, restarts, stoppedBy }: WorkloadStatus): WorkloadStatus {
  return {
    state,
    since,
    restarts,
    ...(reason === undefined ? {} : { reason }),
    ...(stoppedBy === undefined ? {} : { stoppedBy }),
  };
}

/** Installed apps with a backend that these resources cover. */
export async function appsWithBackend(shell: ShellSide, resources: readonly string[]): Promise<InstalledApp[]> {
  const apps = await shell.installedApps();
  return apps.filter(({ appId, hasWorkload }) => hasWorkload && coveredBy(resources, appId));
}

export async function statusOf(shell: ShellSide, appId: string): Promise<BackendStatus> {
  return { appId, status: onlyStatus(await shell.statusOf(appId)) };
}

/** Leaves out those whose node does not answer. */
export async function readableStatuses(shell: ShellSide, resources: readonly string[]): Promise<BackendStatus[]> {
  const statuses: BackendStatus[] = [];
  // One after another: the connections to core are few, and the person's own clicks need them too.
  for (const { appId } of await appsWithBackend(shell, resources)) {
    const status = await statusOf(shell, appId).catch(() => null);
    if (status !== null) statuses.push(status);
  }
  return statuses;
}
