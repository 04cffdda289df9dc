// Nodes, how they join and prove who they are, and what went through their Gateways.
import type { NodeHeartbeat } from '@platform/contract';
import type { ColumnType, Generated } from 'kysely';
import type { OwnedTables, OwnedViews } from '../database/schema.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    nodes: {
      id: string;
      name: string;
      credential_hash: Buffer;
      control_url: string | null;
      control_credential: Buffer | null;
      inbound_origin: string | null;
      seen_at: Date | null;
      public_key: Buffer | null;
      credential_expires_at: Generated<Date>;
      labels: Generated<string[]>;
      local: Generated<boolean>;
      leased: Generated<boolean>;
      beat: ColumnType<string, never, never>;
      lost_at: Date | null;
      lost_after_milliseconds: Generated<string>;
      cordoned_at: Date | null;
      joined_at: Date | null;
      memory_mib: number | null;
      cpus: number | null;
      driver: string | null;
      mechanism: string | null;
      runtimes: Generated<string[]>;
      processor: string | null;
      version: string | null;
      shared_store: string | null;
      disk_mib: number | null;
      disk_full: Generated<boolean>;
      asks_capabilities: boolean | null;
      load_cpus: number | null;
      load_memory_mib: number | null;
      /** What it can give backends; `null` where it does not say it. */
      gives: string[] | null;
      traffic: NullableJson<NonNullable<NodeHeartbeat['traffic']>>;
    };
    node_tokens: {
      token_hash: Buffer;
      labels: string[];
      expires_at: Date;
      used_by: Buffer | null;
      /** The node that gets the key of whoever uses it. */
      adopts: string | null;
    };
    node_challenges: { nonce_hash: Buffer; node_id: string; expires_at: Date };
    traffic_hours: {
      hour: Date;
      outbound_requests: Bigint;
      outbound_sent: Bigint;
      outbound_received: Bigint;
      inbound_requests: Bigint;
      inbound_sent: Bigint;
      inbound_received: Bigint;
    };
    known_nodes: Pick<
      DatabaseSchema['nodes'],
      | 'id'
      | 'name'
      | 'public_key'
      | 'credential_hash'
      | 'control_url'
      | 'inbound_origin'
      | 'labels'
      | 'local'
      | 'leased'
      | 'beat'
      | 'lost_at'
      | 'cordoned_at'
      | 'memory_mib'
      | 'runtimes'
      | 'processor'
      | 'shared_store'
      | 'disk_mib'
      | 'disk_full'
      | 'asks_capabilities'
      | 'cpus'
      | 'gives'
    >;
  }
}

export const tables = {
  nodes: {},
  node_tokens: {},
  node_challenges: {},
  traffic_hours: {},
} satisfies OwnedTables;

export const views = {
  known_nodes: 'What nodes offer, and where they are reached.',
} satisfies OwnedViews;
