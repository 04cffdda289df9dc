// Content collections, their items, members, admissions and invitations; files and to whom they are open; the bytes of all.
import type {
  CollectionId,
  ContentInvitation,
  ContentInvitationId,
  ContentRole,
  FileAccess,
  FileId,
  FileTransfer,
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
    content_bodies: {
      id: string;
      space_id: string;
      size: string;
      used: boolean;
      created_at: Date;
      read_until: Date | null;
      former: Generated<boolean>;
    };
    content_pieces: {
      body_id: string;
      number: number;
      /** `null` for one that lies in the object store. */
      bytes: Buffer | null;
      object_key: string | null;
      sha256: Buffer | null;
    };
    content_objects: { key: string; created_at: Date; loose: Generated<boolean> };
    content_doomed_objects: { key: string };
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
    content_files: {
      id: FileId;
      space_id: string;
      installation_id: InstallationId | null;
      name: string;
      media_type: string;
      etag: string;
      size: string;
      body_id: string;
      created_at: Date;
      changed_at: Date;
    };
    content_file_entries: {
      file_id: FileId;
      /** Of the file. */
      owner_key: string | null;
      app_id: string | null;
      account_key: string | null;
      access: FileAccess;
    };
    content_transfers: {
      file_id: FileId;
      account_key: string;
      app_id: string;
      access: FileTransfer['access'];
      since: Date;
    };
    kept_content: Pick<DatabaseSchema['content_spaces'], 'owner_key' | 'bytes'>;
  }
}

export const tables = {
  content_spaces: {},
  content_bodies: {},
  content_pieces: {},
  content_objects: {},
  content_doomed_objects: {},
  content_collections: {},
  content_items: {},
  content_members: {},
  content_admissions: {},
  content_invitations: {},
  content_notices: {},
  content_files: {},
  content_file_entries: {},
  content_transfers: {},
} satisfies OwnedTables;

export const views = {
  kept_content: 'How much of its disk space an account uses for collections and files.',
} satisfies OwnedViews;
