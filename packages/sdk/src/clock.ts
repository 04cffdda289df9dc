// Time, which tests control.

export interface Clock {
  /** Monotonic time in milliseconds. */
  now(): number;
  /** Runs `action` later; returns how to cancel it. Keeps no process alive unless `holds` says so. */
  after(milliseconds: number, action: () => void, holds?: boolean): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, action, holds = false) {
    // A number in browsers and in Deno.
    const timer: number | { unref?(): void } = setTimeout(action, milliseconds);
    if (!holds && typeof timer === 'object') timer.unref?.();
    return () => clearTimeout(timer as number);
  },
};

/** Resolves after a time; rejects with the signal's reason when that aborts before. */
export function pause(clock: Clock, milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(
      milliseconds,
      () => {
        stopFollowing();
        resolve();
      },
      true,
    );
    const stopFollowing = onAbort(signal, () => {
      cancel();
      reject(signal.reason);
    });
  });
}

/**
 * Calls `action` when the signal aborts, at once if it has, never without one. Returns how to stop following it. The listener is on a signal of
 * its own, because Node warns of more than ten on one.
 */
export function onAbort(signal: AbortSignal | undefined, action: () => void): () => void {
  if (signal === undefined) return () => {};
  if (signal.aborted) {
    action();
    return () => {};
  }
  const own = AbortSignal.any([signal]);
  own.addEventListener('abort', action, { once: true });
  return () => own.removeEventListener('abort', action);
}
