// Nodes, how they join and prove who they are, and what went through their Gateways.
import type { NodeHeartbeat } from '@platform/contract';
import type { ColumnType, Generated } from 'kysely';
import type { OwnedTables } from '../database/schema.ts';

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
      traffic: NullableJson<NonNullable<NodeHeartbeat['traffic']>>;
    };
    node_tokens: { token_hash: Buffer; labels: string[]; expires_at: Date; used_by: Buffer | null };
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
  }
}

export const tables = {
  nodes: {
    readBy: {
      clients: 'whether a node asks about capabilities',
      disk: 'the node on which a volume lies, for the operator',
      installations:
        'where a backend is reached, at every launch, its node for the operator, and the key of that node at every call',
      intelligence: 'who runs the machine that a call is made on',
      members: 'whether the node that confirms a revision is still there',
      'object-storage': 'whether the node of a backend is the platform’s own',
      placement: 'what nodes offer, in the statement that chooses one',
      topology: 'which nodes clients reach through Ingresses',
    },
  },
  node_tokens: {},
  node_challenges: {},
  traffic_hours: {},
} satisfies OwnedTables;
