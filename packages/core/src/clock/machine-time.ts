// What a machine knows of time besides the time of day: how long it has been on, sleep included.
import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';

/** A time of day, and how long the machine had been on then. */
export interface Reading {
  readonly at: Date;
  readonly uptimeMilliseconds: number;
}

export interface MachineTime {
  /** The time of day; may be wrong and may jump. */
  readonly clock: () => Date;
  /** Milliseconds since the machine started, also while it slept; unaffected by what the clock is set to. */
  readonly uptime: () => number;
  /** Names this start of the machine. */
  readonly boot: string;
  /** PostgreSQL's clock in place of what it answers, for tests that move all clocks. */
  readonly database?: () => Date;
}

/** Of the machine that this process runs on. */
export function machineTime(clock: () => Date, random: (bytes: number) => Buffer): MachineTime {
  return { clock, uptime: () => uptime() * 1_000, boot: bootId() ?? random(16).toString('hex') };
}

/** Only Linux has one. Elsewhere each process counts as a start of its own, so nothing but the record vouches for the time. */
function bootId(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return null;
  }
}
