// Search: entries, words, and pending updates of the external index.
import type { InstallationId } from '@platform/contract';
import type { Generated } from 'kysely';
import type { OwnedTables } from '../database/schema.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    search_entries: {
      installation_id: InstallationId;
      id: string;
      account_key: string;
      app_id: string;
      title: string;
      kind: string;
      url: string;
      digest: Buffer;
      document: string;
    };
    search_words: {
      installation_id: InstallationId;
      word: string;
      account_key: string;
      entries: number;
      grams: string;
      remains: string[];
    };
    search_feeds: {
      engine: 'opensearch';
      address: string;
      index_name: string;
      obsolete: Generated<string[]>;
      state: Generated<'filling' | 'draining' | 'ready'>;
      filled_to: Generated<string>;
    };
    search_outbox: {
      installation_id: InstallationId;
      entry_id: string;
      account_key: string;
      sequence: Generated<string>;
    };
  }
}

export const tables = {
  search_entries: {},
  search_words: {},
  search_feeds: {},
  search_outbox: {},
} satisfies OwnedTables;
