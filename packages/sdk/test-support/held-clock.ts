// A clock that stands still until a test moves it.
import type { Clock } from '../src/clock.ts';

export interface HeldClock extends Clock {
  /** Lets time pass, and runs what becomes due. */
  advance(milliseconds: number): void;
  /** How many timers are set. */
  timers(): number;
  /** Milliseconds until the first of them; `undefined` without any. */
  next(): number | undefined;
}

export function heldClock(): HeldClock {
  let now = 0;
  let timers: { due: number; action: () => void }[] = [];
  return {
    now: () => now,
    after(milliseconds, action) {
      const timer = { due: now + milliseconds, action };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    advance(milliseconds) {
      now += milliseconds;
      for (const timer of timers.filter(({ due }) => due <= now)) {
        timers = timers.filter((other) => other !== timer);
        timer.action();
      }
    },
    timers: () => timers.length,
    next: () => (timers.length === 0 ? undefined : Math.min(...timers.map(({ due }) => due)) - now),
  };
}

/** Lets everything happen that needs no time of the held clock. */
export async function until(condition: () => boolean): Promise<void> {
  const begun = performance.now();
  while (!condition()) {
    if (performance.now() - begun > 15_000) throw new Error(`waited in vain for: ${condition}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
