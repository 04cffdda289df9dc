// Two transactions that wait for each other: PostgreSQL ends one of them, which has then changed nothing and can begin anew.
import { setTimeout as wait } from 'node:timers/promises';

/** So often it is begun. */
const MOST_ATTEMPTS = 8;
/** Milliseconds before the second; before each further one it is twice as long, so that the other one gets through. */
const FIRST_WAIT = 20;

/** @param attempt one transaction, or one statement outside of any */
export async function untilNoDeadlock<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!isDeadlock(error) || attempts === MOST_ATTEMPTS) throw error;
      await wait(FIRST_WAIT * 2 ** (attempts - 1));
    }
  }
}

/** PostgreSQL ended the transaction because it and another one waited for each other. */
export function isDeadlock(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '40P01';
}
