// Which migrations were applied.
import type { OwnedTables } from './schema.ts';

export const tables = { schema_migrations: {} } satisfies OwnedTables;
