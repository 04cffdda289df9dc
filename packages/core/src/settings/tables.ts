// What the master account sets in Fleet, and the record of its changes.
import type { RecordedChange } from '@platform/contract';
import type { ColumnType } from 'kysely';
import type { Json, OwnedTables } from '../database/schema.ts';
import type { ProviderDetails } from './settings.ts';

/** The database counts. */
type Counted = ColumnType<string, never, never>;

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    /** `value` is JSON text where it is written. */
    platform_settings: { name: string; value: Json<object> };
    platform_providers: { id: string; details: Json<ProviderDetails>; sealed: Buffer | null; position: Counted };
    platform_changes: {
      number: Counted;
      changed_at: Date;
      account_name: string;
      change: Json<RecordedChange>;
    };
  }
}

export const tables = {
  platform_settings: {},
  platform_providers: {},
  platform_changes: {},
} satisfies OwnedTables;
