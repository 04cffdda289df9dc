// Content collections, their items, members, admissions and invitations, and the bytes of all that is kept.
import type {
  CollectionId,
  ContentInvitation,
  ContentInvitationId,
  ContentRole,
  InstallationId,
  MemberId,
  NotificationId,
} from '@platform/contract';
import type { Generated } from 'kysely';
import type { Json, OwnedTables, OwnedViews } from '../database/schema.ts';
import type { ContentNotice } from './notices/notice.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    content_spaces: {
      id: string;
      owner_key: string | null;
      bytes: Generated<string>;
      ends_at: Date | null;
    };
    content_bodies: { id: string; space_id: string; size: string; used: boolean; created_at: Date };
    content_pieces: { body_id: string; number: number; bytes: Buffer };
    content_collections: {
      id: CollectionId;
      space_id: string;
      kind: string;
      name: string;
      parent_id: CollectionId | null;
      created_at: Date;
      change: Generated<string>;
      forgotten: Generated<string>;
      items: Generated<number>;
      deletions: Generated<number>;
    };
    content_items: {
      collection_id: CollectionId;
      key: string;
      change: string;
      changed_at: Date;
      etag: string | null;
      size: number | null;
      body_id: string | null;
    };
    content_members: {
      id: MemberId;
      collection_id: CollectionId;
      account_key: string;
      role: ContentRole;
      since: Date;
    };
    content_admissions: { collection_id: CollectionId; installation_id: InstallationId; admitted_at: Date };
    content_invitations: {
      id: ContentInvitationId;
      collection_id: CollectionId;
      account_key: string;
      invited_by: string;
      app_id: string;
      role: ContentInvitation['role'];
      created_at: Date;
      expires_at: Date;
      answer: 'accepted' | 'declined' | 'withdrawn' | null;
    };
    content_notices: {
      id: NotificationId;
      account_key: string;
      notice: Json<ContentNotice>;
      occurred_at: Date;
      due_at: Date;
      attempts: Generated<number>;
    };
    kept_content: Pick<DatabaseSchema['content_spaces'], 'owner_key' | 'bytes'>;
  }
}

export const tables = {
  content_spaces: {},
  content_bodies: {},
  content_pieces: {},
  content_collections: {},
  content_items: {},
  content_members: {},
  content_admissions: {},
  content_invitations: {},
  content_notices: {},
} satisfies OwnedTables;

export const views = {
  kept_content: 'How much of its disk space an account uses for collections and files.',
} satisfies OwnedViews;
