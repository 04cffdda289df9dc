// What images of backends take on the disks of nodes.
import type { InstallationId } from '@platform/contract';
import type { OwnedTables } from '../database/schema.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    installation_images: { installation_id: InstallationId; version: string; bytes: Bigint };
  }
}

export const tables = { installation_images: {} } satisfies OwnedTables;
