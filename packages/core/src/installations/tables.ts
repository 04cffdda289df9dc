// Installed apps, which of them is the home screen, and the capabilities of their frontends.
import type { BackendResources, Grant, InstallationId } from '@platform/contract';
import type { ColumnType, Generated } from 'kysely';
import type { OwnedTables, OwnedViews } from '../database/schema.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    installations: {
      id: InstallationId;
      account_key: string;
      app_id: string;
      /** `NULL` in rows of removed apps whose version was deleted; no statement reads it there. */
      version: string;
      host_label: string;
      endpoint_id: string;
      generation: Generated<number>;
      grants: Json<Grant[]>;
      /** Held, and without effect until a version requests it. */
      set_aside: ColumnType<Grant[], string | undefined, string>;
      /** `null` in a row of a version that knew no snapshots of resources. */
      resources: NullableJson<BackendResources>;
      revision: Bigint;
      stopped: Generated<boolean>;
      /** 'owner', 'operator' or `app:<id>`, while `stopped`; `null` where that was not kept. */
      stopped_by: string | null;
      node_id: string | null;
      epoch: Bigint;
      has_volume: Generated<boolean>;
      volume_store: string | null;
      waiting: Generated<boolean>;
      held_by: string | null;
      wanted_hosting: string | null;
      installed_at: Date;
      removed_at: Date | null;
      /** The version before the last update, which its owner can go back to. */
      former_version: string | null;
      /** Until then nobody can delete it. */
      former_kept_until: Date | null;
      /** Raised when data-plane capabilities end before their time. */
      clients_revision: Generated<string>;
    };
    abandoned_volumes: {
      installation_id: InstallationId;
      node_id: string | null;
      volume_store: string | null;
      due_at: Date;
      attempts: Generated<number>;
    };
    data_deletions: { installation_id: InstallationId; requested_at: Date; due_at: Date; attempts: Generated<number> };
    launchers: { account_key: string; app_id: string };
    frontend_capabilities: {
      token_hash: Buffer;
      kind: 'launch' | 'frontend';
      installation_id: InstallationId;
      session_id: string;
      expires_at: Date;
    };
    installed_apps: Omit<DatabaseSchema['kept_installations'], 'removed_at'>;
    kept_installations: Omit<DatabaseSchema['installations'], 'stopped_by' | 'installed_at' | 'set_aside'>;
    running_deletions: Pick<DatabaseSchema['data_deletions'], 'installation_id'>;
  }
}

export const tables = {
  installations: {
    // Where an installation runs is decided by placement and is a part of its row, because every request, launch and
    // assignment needs both (docs/decisions/core-domains.md).
    columnsOf: {
      placement: ['node_id', 'waiting', 'held_by', 'wanted_hosting', 'has_volume', 'volume_store', 'epoch'],
      catalog: ['version'],
      clients: ['clients_revision'],
    },
  },
  abandoned_volumes: {},
  data_deletions: {},
  launchers: {},
  frontend_capabilities: {},
} satisfies OwnedTables;

export const views = {
  installed_apps: 'What is installed.',
  kept_installations: 'What is installed, and what was removed and may have left data, or a process that still ends.',
  running_deletions: 'Whose data is being deleted.',
} satisfies OwnedViews;
