// The refusal of every request that would start or reach a backend that came with an update and was not reviewed.
import { refuse } from '@platform/contract';

export function unreviewedRefusal(): Error {
  return refuse(
    'workload_unavailable',
    'The backend of this app came with an update and stays off until the owner of the app allows it in Settings → Apps.',
  );
}
