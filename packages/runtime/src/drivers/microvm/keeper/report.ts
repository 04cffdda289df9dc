// What the keeper reports to the driver besides its exit code.
import { writeSync } from 'node:fs';
import type { KeeperReport } from '../places.ts';

/** `reportDescriptor` of drivers/process/launch.ts. */
const DESCRIPTOR = 5;

export function report(said: KeeperReport): void {
  try {
    writeSync(DESCRIPTOR, `${JSON.stringify(said)}\n`);
  } catch {
    // The reader is gone or too slow: the exit code carries the rest.
  }
}
