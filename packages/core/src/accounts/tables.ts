// Accounts, the passkeys and sessions that open them, and the ceremonies under way.
import type { ConfirmedOperation } from '@platform/contract';
import type { Generated } from 'kysely';
import type { OwnedTables } from '../database/schema.ts';

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
    };
    author_tokens: {
      id: string;
      token_hash: Buffer;
      account_key: string;
      machine: string;
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
      account_key: string | null;
      account_name: string | null;
      session_id: string | null;
      enrolment_hash: Buffer | null;
      /** Of the invitation that a registration was begun with. */
      invitation_hash: Buffer | null;
      expires_at: Date;
    };
  }
}

export const tables = {
  accounts: {
    readBy: {
      disk: 'whose volumes and packages take how much, for the operator',
      catalog: 'the name of the owner of an app, in its list; whether that account is about to be deleted',
      installations: 'who an installation acts for, and whether that account is suspended or paused: at every request',
      leases: 'locked against a pause while a lease is made',
      nodes:
        'whose apps are bound to a node, for the operator; whether an account is paused, at every call to a backend',
      'object-storage': 'the plan of an account, at each look of a Gateway for its store',
      schedules:
        'locked while a schedule is added; whether an account is paused, in the statements that look for what is due',
      placement:
        'whether an account is paused or suspended, and its plan, in the assignments of a node; its name in rules',
      topology: 'whether an account is paused or suspended, whose apps then have no public routes',
    },
  },
  former_account_names: {},
  invitations: {},
  passkeys: {},
  sessions: {
    readBy: {
      clients: 'a capability of a client lasts as long as its session; locked while one is made',
      installations: 'a frontend capability lasts as long as its session',
    },
  },
  author_requests: {},
  author_tokens: {},
  enrolment_links: {},
  challenges: {},
} satisfies OwnedTables;
