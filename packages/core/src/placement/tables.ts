// What nodes run: the revision they follow, the credentials of workloads, what nodes report, and the rules of the operator.
import type { InstallationId } from '@platform/contract';
import type { Generated } from 'kysely';
import type { OwnedTables, OwnedViews } from '../database/schema.ts';

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
    workload_credentials: Pick<
      DatabaseSchema['core_credentials'],
      'installation_id' | 'token_hash' | 'node_id' | 'epoch' | 'envelope_key'
    >;
    backend_states: Pick<
      DatabaseSchema['installation_status'],
      'installation_id' | 'node_id' | 'state' | 'since' | 'reason' | 'restarts' | 'last_exit'
    >;
    reserved_node_labels: { label: string };
  }
}

export const tables = {
  revisions: {},
  core_credentials: {},
  installation_status: {},
  udp_ports: {},
  placement_rules: {},
  reserved_labels: {},
  announced_settings: {},
} satisfies OwnedTables;

export const views = {
  workload_credentials: 'What a running workload presents, and on which node it runs.',
  backend_states: 'The states of backends, as their nodes reported them.',
  reserved_node_labels: 'Which labels of nodes are reserved.',
} satisfies OwnedViews;
