// Public names, and the topology that Ingresses follow.
import type { InstallationId } from '@platform/contract';
import type { Generated } from 'kysely';
import type { OwnedTables, OwnedViews } from '../database/schema.ts';

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
    public_labels: Pick<DatabaseSchema['public_names'], 'installation_id' | 'generation' | 'label'>;
    topology_revision: Pick<DatabaseSchema['topology_state'], 'revision'>;
    public_node_addresses: Pick<DatabaseSchema['topology_nodes'], 'node_id' | 'url'>;
  }
}

export const tables = {
  public_names: {},
  topology_state: {},
  topology_routes: {},
  topology_nodes: {},
} satisfies OwnedTables;

export const views = {
  public_labels: 'The public name of an installed app.',
  topology_revision: 'The newest revision of the topology.',
  public_node_addresses: 'Where a node takes public requests; `url` is NULL for one that takes none any more.',
} satisfies OwnedViews;
