// Schedules, and their runs that are due.
import type { OwnedTables } from '../database/schema.ts';

export const tables = {
  account_schedules: {},
  schedule_runs: {},
} satisfies OwnedTables;
