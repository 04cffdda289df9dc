// Public names, and the topology that Ingresses follow.
import type { InstallationId } from '@platform/contract';
import type { Generated } from 'kysely';
import type { OwnedTables } from '../database/schema.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    public_names: { installation_id: InstallationId; generation: number; label: string; computed_of: string | null };
    topology_state: { only_one: Generated<boolean>; revision: Bigint; floor: Bigint; domain: string | null };
    topology_routes: {
      label: string;
      app_id: string;
      installation_id: InstallationId;
      node_id: string | null;
      /** `null` of a name that is gone. */
      routes: string[] | null;
      revision: Bigint;
      changed_at: Date;
    };
    topology_nodes: {
      node_id: string;
      name: string;
      /** `null` of a node that serves no public requests any more. */
      url: string | null;
      key: Buffer | null;
      credential: Buffer | null;
      revision: Bigint;
      changed_at: Date;
    };
  }
}

export const tables = {
  public_names: {
    readBy: {
      ingress: 'whose requests an Ingress reports',
      installations: 'the internet address of an app, for its owner',
      placement: 'the public name of what a node runs, in the statement that reads its assignments',
    },
  },
  topology_state: { readBy: { ingress: 'how far behind an Ingress is, for the operator' } },
  topology_routes: {},
  topology_nodes: {
    readBy: { placement: 'whether a node takes public requests, in the statement that reads its assignments' },
  },
} satisfies OwnedTables;
