// What a grant shows of another app: whether it runs. What it uses and carries is for its owner alone.
import type { WorkloadStatus } from '@platform/contract';

export function onlyStatus({ state, since, reason, restarts }: WorkloadStatus): WorkloadStatus {
  return { state, since, restarts, ...(reason === undefined ? {} : { reason }) };
}
