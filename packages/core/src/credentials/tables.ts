// By what the master key of the database is recognised.
import type { Generated } from 'kysely';
import type { OwnedTables } from '../database/schema.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    master_key_check: { only_one: Generated<boolean>; proof: Buffer | null };
  }
}

export const tables = { master_key_check: {} } satisfies OwnedTables;
