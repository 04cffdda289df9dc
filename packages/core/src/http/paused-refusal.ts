// The refusals of every request that would start or reach an app of a paused or suspended account.
import { refuse } from '@platform/contract';

export function pausedRefusal(): Error {
  return refuse(
    'runtime_paused',
    'All apps of this account are paused. Resume them from the paused screen of the shell.',
  );
}

export function suspendedRefusal(): Error {
  return refuse('workload_unavailable', 'The account of this app is suspended.');
}
