// The time between the request to delete an account and its deletion.
import { limits } from '@platform/contract';

export const GRACE_MILLISECONDS = limits.deletionGrace.value * 24 * 60 * 60 * 1000;

/** When an account is deleted whose owner asked for that at `requestedAt`. */
export function deletionOf(requestedAt: Date | null): Date | null {
  return requestedAt === null ? null : new Date(requestedAt.getTime() + GRACE_MILLISECONDS);
}
