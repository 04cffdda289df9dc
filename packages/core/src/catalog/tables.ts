// Apps, their versions, and the packages of these.
import type { Manifest } from '@platform/contract';
import type { Generated } from 'kysely';
import type { OwnedTables, OwnedViews } from '../database/schema.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    package_blobs: {
      hash: string;
      size: Bigint;
      unpacked: Bigint | null;
      frontend_digest: string | null;
      created_at: Date;
    };
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
    published_apps: Pick<DatabaseSchema['apps'], 'app_id' | 'owner_key' | 'system'>;
    published_versions: Pick<
      DatabaseSchema['app_versions'],
      'app_id' | 'version' | 'package_hash' | 'manifest' | 'newest'
    >;
    stored_packages: Pick<DatabaseSchema['package_blobs'], 'hash' | 'size' | 'unpacked'>;
  }
}

export const tables = {
  package_blobs: {},
  withdrawn_versions: {},
  apps: {},
  app_versions: {},
} satisfies OwnedTables;

export const views = {
  published_apps: 'Who publishes an app, and whether it comes with the platform.',
  published_versions: 'The manifest and the package of each version.',
  stored_packages: 'How large packages are.',
} satisfies OwnedViews;
