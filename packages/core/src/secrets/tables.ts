// Secrets of accounts, sealed.
import type { OwnedTables } from '../database/schema.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    account_secrets: {
      account_key: string;
      name: string;
      sealed: Buffer;
      created_at: Date;
      last_used_at: Date | null;
    };
  }
}

export const tables = {
  account_secrets: { readBy: { outbound: 'the secret of a call, in the one statement that decides about it' } },
} satisfies OwnedTables;
