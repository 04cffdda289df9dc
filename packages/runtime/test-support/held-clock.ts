// A clock that stands still until a test moves it.
import type { Clock } from '../src/clock.ts';

export interface HeldClock extends Clock {
  /** Moves the time and runs what has become due, in order. */
  advance(milliseconds: number): void;
  /** Sets the time of day by so much, while no time passes. */
  set(milliseconds: number): void;
  /** How long until each timer, soonest first. */
  timers(): number[];
}

export function holdClock(start = new Date('2026-01-01T00:00:00.000Z')): HeldClock {
  let now = start.getTime();
  let off = 0;
  let timers: { due: number; action: () => void }[] = [];
  return {
    now: () => new Date(now + off),
    elapsed: () => now,
    set(milliseconds) {
      off += milliseconds;
    },
    after(milliseconds, action) {
      const timer = { due: now + milliseconds, action };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    advance(milliseconds) {
      const end = now + milliseconds;
      for (;;) {
        const [next] = timers.filter((timer) => timer.due <= end).sort((a, b) => a.due - b.due);
        if (next === undefined) break;
        now = next.due;
        timers = timers.filter((timer) => timer !== next);
        next.action();
      }
      now = end;
    },
    timers: () => timers.map((timer) => timer.due - now).sort((a, b) => a - b),
  };
}
