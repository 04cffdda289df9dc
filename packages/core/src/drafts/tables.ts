// Apps that apps made: those that wait for their person, which apps came of them, and what went wrong in their pages.
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
    /** Those of its versions that the person accepted as drafts, and did not publish by hand. */
    made_versions: { account_key: string; app_id: string; version: string; hash: string };
    app_page_errors: {
      /** Of the app in whose page it happened. */
      installation_id: InstallationId;
      /** Of the report and the version: what happens again is counted. */
      digest: Buffer;
      version: string;
      /** JSON, of the contract. */
      report: string;
      times: number;
      last_at: Date;
    };
    /** Where the pages of one that waits are served for a while. */
    app_draft_previews: { draft_id: DraftId; host_label: string; app_id: string; expires_at: Date };
  }
}

export const tables = {
  app_drafts: {},
  made_apps: {},
  made_versions: {},
  app_page_errors: {},
  app_draft_previews: {},
} satisfies OwnedTables;
