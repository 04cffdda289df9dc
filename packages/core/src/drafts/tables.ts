// Apps that apps made: those that wait for their person, and which apps came of them.
import type { DraftId, InstallationId, Manifest } from '@platform/contract';
import type { Json, OwnedTables } from '../database/schema.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    app_drafts: {
      id: DraftId;
      account_key: string;
      /** That made it. */
      installation_id: InstallationId;
      app_id: string;
      version: string;
      hash: string;
      manifest: Json<Manifest>;
      package: Buffer;
      /** Of its files. */
      bytes: number;
      created_at: Date;
      expires_at: Date;
      /** Somebody accepts it, until then at the latest. */
      deciding_until: Date | null;
    };
    made_apps: { account_key: string; app_id: string; made_by: string; created_at: Date };
  }
}

export const tables = { app_drafts: {}, made_apps: {} } satisfies OwnedTables;
