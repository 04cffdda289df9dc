// Installed apps, which of them is the home screen, and the capabilities of their frontends.
import type { BackendResources, Grant, InstallationId } from '@platform/contract';
import type { Generated } from 'kysely';
import type { OwnedTables } from '../database/schema.ts';

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
  }
}

export const tables = {
  installations: {
    readBy: {
      clients: 'whose backend a capability opens, and on which node; locked while one is made or ended',
      catalog:
        'a version that is installed, or that its owner can go back to, is not withdrawn and stays visible to them',
      disk: 'the size of volumes, and which versions are installed',
      home: 'which apps of an account are installed',
      intelligence: 'the node that a call is made on; whose an app is that used AI models',
      leases: 'locked against removal while a lease is made; which ones are of an account',
      nodes: 'what lies on a node',
      'object-storage': 'whose an installation is, and on which node',
      outbound: 'the installed version of a caller, at every outbound call',
      placement: 'what runs on a node, and what waits for one',
      secrets: 'the apps that use a secret',
      search: 'only entries of installed apps are found; locked against removal while an index is written',
      topology: 'of what a public route is computed',
      workflows: 'locked against removal while a run is created, which serialises the creation of its runs',
    },
    // Where an installation runs is decided by placement and is a part of its row, because every request, launch and
    // assignment needs both (docs/decisions/core-domains.md).
    columnsOf: {
      placement: ['node_id', 'waiting', 'held_by', 'wanted_hosting', 'has_volume', 'volume_store', 'epoch'],
      catalog: ['version'],
      clients: ['clients_revision'],
    },
  },
  abandoned_volumes: {},
  data_deletions: {
    readBy: {
      disk: 'which volumes are being deleted',
      placement: 'backends that are on no node while their data is deleted',
    },
  },
  launchers: {},
  frontend_capabilities: {},
} satisfies OwnedTables;
