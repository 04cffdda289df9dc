// Time and the operator's log as the Runtime sees them, so that a test can hold both.
import { uptime as bootSeconds } from 'node:os';

/** Milliseconds since the machine started, sleep included (CLOCK_BOOTTIME). */
export function machineUptime(): number {
  return bootSeconds() * 1_000;
}

export interface Clock {
  now(): Date;
  /** Milliseconds, sleep included, that no change of the clock moves: for how long something takes. */
  elapsed(): number;
  /** Runs `action` once after some milliseconds; returns how to cancel it. Never keeps the process alive. */
  after(milliseconds: number, action: () => void): () => void;
}

export function systemClock(now: () => Date): Clock {
  return {
    now,
    elapsed: machineUptime,
    after(milliseconds, action) {
      const timer = setTimeout(action, milliseconds);
      timer.unref();
      return () => clearTimeout(timer);
    },
  };
}

type Write = (fields: object, message: string) => void;

/** The operator's log, as pino writes it. Nothing secret goes into it. */
export interface Log {
  readonly debug: Write;
  readonly info: Write;
  readonly warn: Write;
  readonly error: Write;
}
