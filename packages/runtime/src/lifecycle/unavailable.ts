// Why the backend of an app cannot be reached now, in words for its caller.
import { refuse } from '@platform/contract';

const RETRY_AFTER_SECONDS = 5;

export function unavailable(reason: string | undefined) {
  return refuse('workload_unavailable', `The backend of the app is not available. ${reason ?? ''}`.trim(), {
    retryAfter: RETRY_AFTER_SECONDS,
  });
}

/** Nothing is wrong: a machine that is slow or busy needs longer than anybody should wait for one answer. */
export function stillStarting() {
  return refuse(
    'workload_unavailable',
    `The app’s backend is still starting. Try again in ${RETRY_AFTER_SECONDS} seconds.`,
    { retryAfter: RETRY_AFTER_SECONDS },
  );
}
