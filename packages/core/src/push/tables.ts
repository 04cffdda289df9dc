// Web push: the key of the platform, subscriptions of browsers, and the outbox.
import type { NotificationId } from '@platform/contract';
import type { Generated } from 'kysely';
import type { OwnedTables } from '../database/schema.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    push_keys: { name: 'vapid'; public_key: string; sealed_private_key: Buffer; created_at: Date };
    push_subscriptions: {
      id: string;
      account_key: string;
      session_id: string;
      expires_at: Date;
      endpoint_hash: Buffer;
      sealed: Buffer;
      created_at: Date;
      due_at: Date | null;
      lease: string | null;
      leased_until: Date | null;
    };
    push_messages: {
      sequence: Generated<string>;
      subscription_id: string;
      notification_id: NotificationId;
      topic: string | null;
      urgency: 'very-low' | 'low' | 'normal' | 'high';
      sealed: Buffer;
      expires_at: Date;
      attempts: Generated<number>;
      shortened: Generated<boolean>;
    };
  }
}

export const tables = {
  push_keys: {},
  push_subscriptions: {},
  push_messages: {},
} satisfies OwnedTables;
