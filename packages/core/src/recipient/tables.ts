// The recipient of each account, as its shell sealed it.
import type { RecipientWrapping } from '@platform/contract';
import type { OwnedTables } from '../database/schema.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    account_recipients: { account_key: string; version: number; public_key: string };
    recipient_wrappings: {
      account_key: string;
      /** As passkeys are named outwards. */
      passkey_id: string;
      salt: RecipientWrapping['salt'];
      sealed: string;
    };
  }
}

export const tables = { account_recipients: {}, recipient_wrappings: {} } satisfies OwnedTables;
