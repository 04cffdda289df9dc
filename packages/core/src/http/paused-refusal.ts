// The refusals of every request that would start or reach an app of a paused or suspended account.
import { type RefusalError, refuse } from '@platform/contract';

export function pausedRefusal(): RefusalError {
  return refuse(
    'runtime_paused',
    'All apps of this account are paused. Resume them from the paused screen of the shell.',
  );
}

export function suspendedRefusal(): RefusalError {
  return refuse('workload_unavailable', 'The account of this app is suspended.');
}
