// What nodes run: the revision they follow, the credentials of workloads, what nodes report, and the rules of the operator.
import type { InstallationId } from '@platform/contract';
import type { Generated } from 'kysely';
import type { OwnedTables } from '../database/schema.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    revisions: { name: string; value: Bigint };
    core_credentials: {
      installation_id: InstallationId;
      token_hash: Buffer;
      node_id: string;
      epoch: Bigint;
      envelope_key: Buffer | null;
      created_at: Date;
    };
    installation_status: {
      installation_id: InstallationId;
      node_id: string;
      state: 'stopped' | 'starting' | 'running' | 'failed';
      since: Date;
      reason: string | null;
      restarts: number;
      last_exit: NullableJson<{ at: string; reason: string }>;
      unenforced: Generated<string[]>;
    };
    udp_ports: {
      installation_id: InstallationId;
      name: string;
      node_id: string | null;
      host: string;
      host_port: number;
      container_port: number;
      closed: string | null;
    };
  }
}

export const tables = {
  revisions: {},
  core_credentials: { readBy: { installations: 'which workload presents a credential: at every request' } },
  installation_status: {
    readBy: {
      installations: 'the state of backends, in lists',
      nodes: 'how many backends of a node run, for the operator',
    },
  },
  udp_ports: {},
  placement_rules: {},
  reserved_labels: { readBy: { nodes: 'which labels of a node are reserved, for the operator' } },
} satisfies OwnedTables;
