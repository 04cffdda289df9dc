// Runs, their activities and their history.
import type { OwnedTables } from '../database/schema.ts';

export const tables = {
  workflow_runs: {},
  workflow_activities: {},
  workflow_history: {},
} satisfies OwnedTables;
