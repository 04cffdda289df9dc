// On a disk with nothing left but the reserve, what apps may write into the database beside it waits: people still
// register, sign in and remove things.
import { refuse } from '@platform/contract';
import { isDiskFull } from '../config/disk-space.ts';

const RETRY_SECONDS = 60;

/**
 * @param folder on the disk of the database
 * @returns what a route that fills the database calls first; it throws RefusalError `unavailable`
 */
export function leavingReserve(folder: string): () => void {
  return () => {
    if (isDiskFull(folder))
      throw refuse('unavailable', 'The disk of the platform is full. Its operator has to make space.', {
        retryAfter: RETRY_SECONDS,
      });
  };
}
