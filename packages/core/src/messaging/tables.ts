// Who takes part in messaging, and the conversations of the transport that comes with the platform.
import type { ConversationState, NotificationId } from '@platform/contract';
import type { Generated } from 'kysely';
import type { OwnedTables } from '../database/schema.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    /** The server name of all addresses, from the first provisioning on. At most one row. */
    messaging_server: { only_one: Generated<boolean>; name: string; kept_at: Date };
    messaging_accounts: {
      account_key: string;
      provisioned_at: Date;
      /** The bridge was asked about it, and may know it. */
      bridged: Generated<boolean>;
      /** Counts what changed for the account; whoever raises it holds the lock of its row until the commit. */
      changes: Bigint;
      /** What its messages take, sealed. */
      sent_bytes: Bigint;
    };
    /** `low` and `high` are its two accounts, by their keys. */
    conversations: {
      id: string;
      low_key: string;
      high_key: string;
      /** Its account was deleted. */
      low_gone: Generated<boolean>;
      high_gone: Generated<boolean>;
      /** The key of its messages, sealed. */
      sealed_key: Buffer;
      created_at: Date;
    };
    /** A conversation as one of its accounts has it. */
    conversation_sides: {
      account_key: string;
      conversation_id: string;
      state: ConversationState;
      blocked: boolean;
      /** It was open once. */
      was_open: boolean;
      declined_at: Date | null;
      /** Its last request to the other side, and messages since while that is not accepted. */
      asked_at: Date | null;
      asked_messages: number;
      unread: number;
      /** The change up to which it is read. */
      read_change: Bigint;
      last_message_at: Date | null;
      /** The change of the last message, or of the beginning: the order of lists. */
      latest_change: Bigint;
      /** The last change of anything. */
      changed: Bigint;
    };
    conversation_messages: {
      id: string;
      conversation_id: string;
      from_low: boolean;
      sealed: Buffer;
      sent_at: Date;
      /** The change by which it came to a side; `null` for a side that it never came to. */
      low_change: Bigint | null;
      high_change: Bigint | null;
      /** Of the app that sent it. */
      installation_id: string;
      transaction_id: string;
    };
    /** Jobs: to become notifications. */
    message_notices: {
      id: NotificationId;
      account_key: string;
      conversation_id: string;
      occurred_at: Date;
      due_at: Date;
      attempts: Generated<number>;
    };
    /** Whom an account wrote to through the bridge, and when first. */
    bridge_requests: { account_key: string; user_id: string; asked_at: Date };
    /** Jobs: accounts that were deleted, and that the bridge is to forget. */
    bridge_removals: { account_key: string; name: string; due_at: Date; attempts: Generated<number> };
    /** What apps sent through the bridge. */
    bridge_sends: {
      installation_id: string;
      transaction_id: string;
      account_key: string;
      /** Of the conversation and the body, under a key. */
      digest: Buffer;
    };
  }
}

export const tables = {
  messaging_server: {},
  messaging_accounts: {},
  conversations: {},
  conversation_sides: {},
  conversation_messages: {},
  message_notices: {},
  bridge_requests: {},
  bridge_sends: {},
  bridge_removals: {},
} satisfies OwnedTables;
