// Apps, their versions, and the packages of these.
import type { Manifest } from '@platform/contract';
import type { Generated } from 'kysely';
import type { OwnedTables } from '../database/schema.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    package_blobs: { hash: string; size: Bigint; unpacked: Bigint | null; created_at: Date };
    apps: { app_id: string; owner_key: string | null; system: Generated<boolean>; created_at: Date };
    app_versions: {
      app_id: string;
      version: string;
      package_hash: string;
      manifest: Json<Manifest>;
      newest: boolean;
      published_at: Date;
    };
    withdrawn_versions: { app_id: string; version: string; package_hash: string };
  }
}

export const tables = {
  package_blobs: { readBy: { disk: 'the size of packages' } },
  withdrawn_versions: {},
  apps: {
    readBy: {
      disk: 'which packages count for an account',
      installations: 'who owns an installed app, and whether it comes with the platform',
    },
  },
  app_versions: {
    readBy: {
      disk: 'which packages there are, and the volume that a version declares',
      installations: 'the manifest of an installed version: at every launch and list',
      nodes: 'what the backends on a node reserve, and whether an app has one to call',
      outbound: 'the secret slots of an installed version, at every outbound call',
      placement: 'the workload of an installed version, in the assignments of a node and in every placement',
      topology: 'the public routes that an installed version declares',
    },
  },
} satisfies OwnedTables;
