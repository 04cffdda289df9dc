// The guarded time in the process of a command, which notes nothing and runs no sweep.
import { randomBytes } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { DatabaseSchema } from '../database/schema.ts';
import { createLog } from '../log.ts';
import { ClockGuard, type Time } from './clock-guard.ts';
import { machineTime } from './machine-time.ts';

export async function timeOf(
  database: Kysely<DatabaseSchema>,
): Promise<{ readonly clock: () => Date; readonly time: Time }> {
  const machine = machineTime(() => new Date(), randomBytes);
  const time = await ClockGuard.open(machine, { database, log: createLog('fatal') });
  return { clock: time.now, time };
}
