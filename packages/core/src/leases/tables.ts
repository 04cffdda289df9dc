// Work leases.
import type { InstallationId } from '@platform/contract';
import type { OwnedTables } from '../database/schema.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    work_leases: {
      id: string;
      installation_id: InstallationId;
      duration_seconds: number;
      reason: string | null;
      expires_at: Date;
    };
  }
}

export const tables = {
  work_leases: {},
} satisfies OwnedTables;
