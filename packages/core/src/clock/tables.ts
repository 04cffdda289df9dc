// The newest time on record, and what the operator said of it.
import type { OwnedTables } from '../database/schema.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    clock_readings: { boot: string; at: Date; uptime_milliseconds: number; maybe_off: boolean };
    clock_acceptances: { single: boolean; revision: number; boot: string; at: Date; uptime_milliseconds: number };
  }
}

export const tables = {
  clock_readings: {},
  clock_acceptances: {},
} satisfies OwnedTables;
