// Accounts for which the homeserver may have something new: each is synced once for however many times it was marked, a few
// at a time. One whose sync fails, or left something to wait for, is synced again, later each time.
import type { Log } from '../log.ts';
import { HomeserverGoneError } from '../matrix/homeserver.ts';

export interface Dirty {
  mark(accountId: string): void;
  /** Marks one that waits for something, unless it will be synced again anyway. */
  remind(accountId: string): void;
  /** Resolves when nothing is marked any more. */
  settled(): Promise<void>;
  /** How many are marked. */
  waiting(): number;
  close(): Promise<void>;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
const FIRST_WAIT_MS = 100;

/**
 * @param sync takes in what is new. @returns the most milliseconds until it should be done again though nobody marks it, as what
 * it waits for is not announced; `null` where it waits for nothing
 *
 * @param atOnce of all accounts
 */
export function openDirty(sync: (accountId: string) => Promise<number | null>, log: Log, atOnce: number): Dirty {
  const marked = new Set<string>();
  const running = new Map<string, Promise<void>>();
  const failures = new Map<string, number>();
  /** Of syncs after which an account waits. */
  const waits = new Map<string, number>();
  const timers = new Map<string, NodeJS.Timeout>();
  /** What was said of a failure, until something goes well: one cause has all accounts fail. */
  let said = '';
  let isClosed = false;

  function later(accountId: string, milliseconds: number): void {
    if (isClosed) return;
    clearTimeout(timers.get(accountId));
    const timer = setTimeout(() => {
      timers.delete(accountId);
      mark(accountId);
    }, milliseconds);
    timers.set(accountId, timer.unref());
  }

  async function run(accountId: string): Promise<void> {
    try {
      const longest = await sync(accountId);
      failures.delete(accountId);
      said = '';
      if (longest === null) {
        waits.delete(accountId);
        return;
      }
      const count = waits.get(accountId) ?? 0;
      waits.set(accountId, count + 1);
      later(accountId, Math.min(longest, FIRST_WAIT_MS * 2 ** Math.min(count, 20)));
    } catch (error) {
      const count = (failures.get(accountId) ?? 0) + 1;
      failures.set(accountId, count);
      const { message } = error as Error;
      if (message !== said && (!(error instanceof HomeserverGoneError) || count === 1))
        log.warn({ err: error, accountId }, 'the news of an account could not be taken in');
      said = message;
      later(accountId, Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(count, 10)));
    }
  }

  function next(): void {
    for (const accountId of marked) {
      if (isClosed || running.size >= atOnce) return;
      // What came during its sync is for the one after it.
      if (running.has(accountId)) continue;
      marked.delete(accountId);
      const done = run(accountId).finally(() => {
        running.delete(accountId);
        next();
      });
      running.set(accountId, done);
    }
  }

  function mark(accountId: string): void {
    if (isClosed) return;
    marked.add(accountId);
    next();
  }

  const settled = async (): Promise<void> => {
    while (running.size > 0) await Promise.all(running.values());
  };

  return {
    mark,
    remind(accountId) {
      if (!timers.has(accountId) && !running.has(accountId)) mark(accountId);
    },
    settled,
    waiting: () => marked.size,
    async close() {
      isClosed = true;
      for (const timer of timers.values()) clearTimeout(timer);
      await settled();
    },
  };
}
