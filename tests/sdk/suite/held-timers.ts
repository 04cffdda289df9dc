// Holds back the timers of a runtime that are long, until a case lets them go: the renewals of leases.

export interface HeldTimers {
  /** Lets go those that were set for exactly this long, and forgets them. @returns how many there were */
  fire(milliseconds: number): number;
  /** Gives the runtime its own timers back. */
  restore(): void;
}

const LONG_MILLISECONDS = 10_000;

export function holdTimers(): HeldTimers {
  const { setTimeout: ownSet, clearTimeout: ownClear } = globalThis;
  const held = new Map<unknown, { readonly milliseconds: number; readonly action: () => void }>();
  const set = (action: () => void, milliseconds = 0): unknown => {
    if (milliseconds < LONG_MILLISECONDS) return ownSet(action, milliseconds);
    const timer = { unref: () => timer };
    held.set(timer, { milliseconds, action });
    return timer;
  };
  const clear = (timer: unknown): void => {
    if (!held.delete(timer)) ownClear(timer as number);
  };
  Object.assign(globalThis, { setTimeout: set, clearTimeout: clear });
  return {
    fire(milliseconds) {
      const due = [...held].filter(([, timer]) => timer.milliseconds === milliseconds);
      for (const [timer, { action }] of due) {
        held.delete(timer);
        action();
      }
      return due.length;
    },
    restore() {
      Object.assign(globalThis, { setTimeout: ownSet, clearTimeout: ownClear });
    },
  };
}
