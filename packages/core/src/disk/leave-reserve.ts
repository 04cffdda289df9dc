// On a disk with nothing left but the reserve, what apps may write into the database beside it waits: people still
// register, sign in and remove things.
import { type RateLimitName, refuse } from '@platform/contract';
import { isDiskFull } from '../config/disk-space.ts';
import type { TakeRate } from '../http/rate-limit.ts';

/** The rates of routes by which apps add to the database. */
const WRITES: ReadonlySet<RateLimitName> = new Set(['notification', 'searchWrite']);
const RETRY_SECONDS = 60;

/** @param folder on the disk of the database */
export function leavingReserve(takeRate: TakeRate, folder: string): TakeRate {
  return (name, subject) => {
    if (WRITES.has(name) && isDiskFull(folder))
      return Promise.reject(
        refuse('unavailable', 'The disk of the platform is full. Its operator has to make space.', {
          retryAfter: RETRY_SECONDS,
        }),
      );
    return takeRate(name, subject);
  };
}
