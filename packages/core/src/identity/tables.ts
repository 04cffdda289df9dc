// Which platform this database is of.
import type { Generated } from 'kysely';
import type { OwnedTables } from '../database/schema.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    platform_identity: { single: Generated<boolean>; id: Generated<string> };
  }
}

export const tables = { platform_identity: {} } satisfies OwnedTables;
