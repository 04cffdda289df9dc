// With which clients reach backends.
import type { InstallationId } from '@platform/contract';
import type { OwnedTables } from '../database/schema.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    data_plane_capabilities: {
      token_hash: Buffer;
      installation_id: InstallationId;
      /** `null`: of the backend itself. */
      session_id: string | null;
      created_at: Date;
      expires_at: Date;
    };
  }
}

export const tables = { data_plane_capabilities: {} } satisfies OwnedTables;
