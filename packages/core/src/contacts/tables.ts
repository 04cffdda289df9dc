// The address book of each account.
import type { ContactId } from '@platform/contract';
import type { OwnedTables } from '../database/schema.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    contacts: {
      id: ContactId;
      account_key: string;
      /** Normalised, so that one person is one address. */
      address: string;
      external: boolean;
      transport_user_id: string | null;
      resolved_at: Date | null;
      label: string;
      note: string;
      created_at: Date;
    };
  }
}

export const tables = { contacts: {} } satisfies OwnedTables;
