// Secrets of accounts, sealed.
import type { Generated } from 'kysely';
import type { OwnedTables, OwnedViews } from '../database/schema.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    account_secrets: {
      account_key: string;
      name: string;
      sealed: Buffer;
      created_at: Date;
      last_used_at: Date | null;
      /** When the value was stored, and in which session; `null` for those from before this was kept. */
      stored_at: Generated<Date | null>;
      stored_in: Generated<string | null>;
    };
    sealed_secrets: Pick<DatabaseSchema['account_secrets'], 'account_key' | 'name' | 'sealed' | 'last_used_at'>;
  }
}

export const tables = {
  account_secrets: {},
} satisfies OwnedTables;

export const views = {
  sealed_secrets: 'The secrets of accounts, sealed.',
} satisfies OwnedViews;
