// AI providers: the keys of accounts, what installations may use and used, and what calls under way hold.
import type { OwnedTables } from '../database/schema.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    intelligence_keys: {
      account_key: string;
      provider: string;
      sealed: Buffer | null;
      source: 'account' | 'platform' | null;
    };
  }
}

export const tables = {
  intelligence_keys: {},
  intelligence_meters: {},
  intelligence_usage: {},
  intelligence_reservations: {},
  // Of the former version; to be dropped in the next.
  intelligence_announced: {},
} satisfies OwnedTables;
