// Notifications, and what each person decided about them.
import type { InstallationId, Notification, NotificationId } from '@platform/contract';
import type { Generated } from 'kysely';
import type { Json, OwnedTables } from '../database/schema.ts';
import type { SecurityEvent } from '../security-events.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    notifications: {
      id: NotificationId;
      sequence: Generated<string>;
      account_key: string;
      /** `null` for those of the platform itself. */
      installation_id: InstallationId | null;
      app_id: string;
      topic: string;
      title: string;
      body: string;
      priority: Notification['priority'];
      presentation: NullableJson<NonNullable<Notification['presentation']>>;
      delivery: Notification['delivery'];
      dedupe_key: string | null;
      created_at: Date;
      expires_at: Date | null;
      read_at: Date | null;
    };
    /** Jobs: to become notifications. */
    security_notices: {
      id: NotificationId;
      account_key: string;
      session_id: string;
      event: Json<SecurityEvent>;
      occurred_at: Date;
      due_at: Date;
      attempts: Generated<number>;
    };
    notification_settings: { account_key: string; system: boolean; web_push: boolean; flashes: boolean };
    notification_mutes: { account_key: string; app_id: string; topic: string | null };
  }
}

export const tables = {
  notifications: {},
  security_notices: {},
  notification_settings: {},
  notification_mutes: {},
} satisfies OwnedTables;
