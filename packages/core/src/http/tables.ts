// How much of its rate each caller has left.
import type { OwnedTables } from '../database/schema.ts';

export const tables = { rate_buckets: {} } satisfies OwnedTables;
