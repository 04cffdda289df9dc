// Secrets of accounts, sealed.
import type { OwnedTables, OwnedViews } from '../database/schema.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    account_secrets: {
      account_key: string;
      name: string;
      sealed: Buffer;
      created_at: Date;
      last_used_at: Date | null;
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
