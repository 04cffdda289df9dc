// Named leases of background work.
import type { OwnedTables } from '../database/schema.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    periodic_tasks: { name: string; next_at: Date };
  }
}

export const tables = {
  periodic_tasks: {},
} satisfies OwnedTables;
