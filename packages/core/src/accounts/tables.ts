// Accounts, the passkeys and sessions that open them, and the ceremonies under way.
import type { ConfirmedOperation } from '@platform/contract';
import type { Generated } from 'kysely';
import type { OwnedTables, OwnedViews } from '../database/schema.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    accounts: {
      key: string;
      name: string;
      created_at: Date;
      suspended_at: Date | null;
      paused_at: Date | null;
      /** When its owner asked for its deletion; it follows after the grace. */
      deletion_requested_at: Generated<Date | null>;
      /** Until then one replica deletes it. */
      deletion_leased_until: Generated<Date | null>;
      /** NULL: the operator's default. */
      plan: Generated<'free' | 'paid' | null>;
      /** When it was made the master at the console; of one account at most. */
      named_master_at: Generated<Date | null>;
      /** When it put the guide for operators away. */
      guide_dismissed_at: Generated<Date | null>;
    };
    passkeys: {
      id: string;
      account_key: string;
      public_key: Buffer;
      counter: Bigint;
      transports: string[];
      backup_eligible: boolean;
      backed_up: boolean;
      label: string;
      created_at: Date;
      last_used_at: Date | null;
    };
    sessions: {
      id: string;
      token_hash: Buffer;
      account_key: string;
      /** The passkey that opened it; `null` for those from before this was kept. */
      passkey_id: string | null;
      /** Whether the registration of the account opened it. */
      registered: Generated<boolean>;
      user_agent: string | null;
      created_at: Date;
      last_used_at: Date;
      expires_at: Date;
    };
    invitations: { id: string; token_hash: Buffer; account_name: string | null; created_at: Date; expires_at: Date };
    former_account_names: { name: string };
    author_requests: {
      token_hash: Buffer;
      code_hash: Buffer;
      machine: string;
      address: string;
      created_at: Date;
      expires_at: Date;
      /** Who decided; `null` while nobody has. */
      account_key: string | null;
      allowed: boolean | null;
      /** With which passkey it was allowed. */
      passkey_id: Generated<string | null>;
    };
    author_tokens: {
      id: string;
      token_hash: Buffer;
      account_key: string;
      machine: string;
      /** The one that allowed it; `null` for those from before this was kept. */
      passkey_id: Generated<string | null>;
      created_at: Date;
      last_used_at: Date;
      expires_at: Date;
    };
    enrolment_links: { token_hash: Buffer; account_key: string; expires_at: Date };
    challenges: {
      id: string;
      challenge: Buffer;
      operation: 'register' | 'login' | 'add-passkey' | 'enrol' | 'confirm';
      /** Of `confirm`: the operation that it confirms. */
      confirms: Generated<ConfirmedOperation | null>;
      /** Of `confirm`: the one thing that it is about, for operations that are about one. */
      subject: Generated<string | null>;
      account_key: string | null;
      account_name: string | null;
      session_id: string | null;
      enrolment_hash: Buffer | null;
      /** Of the invitation that a registration was begun with. */
      invitation_hash: Buffer | null;
      /** Until when the same challenge may be given again; NULL for random ones, which never are. */
      repeats_until: Generated<Date | null>;
      expires_at: Date;
    };
    used_confirmations: { hash: Buffer; expires_at: Date };
    account_states: Pick<
      DatabaseSchema['accounts'],
      'key' | 'name' | 'suspended_at' | 'paused_at' | 'deletion_requested_at' | 'plan' | 'named_master_at'
    >;
    session_terms: Pick<DatabaseSchema['sessions'], 'id' | 'account_key' | 'expires_at'>;
  }
}

export const tables = {
  accounts: {},
  former_account_names: {},
  invitations: {},
  passkeys: {},
  sessions: {},
  author_requests: {},
  author_tokens: {},
  enrolment_links: {},
  challenges: {},
  used_confirmations: {},
} satisfies OwnedTables;

export const views = {
  account_states:
    'Who an account is, whether it is paused, suspended or about to be deleted, its plan, and whether it was named the master.',
  session_terms: 'Whose a session is, and how long it lasts.',
} satisfies OwnedViews;
