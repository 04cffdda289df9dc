// What serving apps offer, as they said last, and the record of calls.
import type { InstallationId, ToolOutcome } from '@platform/contract';
import type { Json, OwnedTables } from '../database/schema.ts';
import type { Offer } from './served/offer.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    served_tools: {
      installation_id: InstallationId;
      /** That said it; another version is asked anew. */
      version: string;
      offer: Json<Offer>;
      listed_at: Date;
    };
    tool_calls: {
      /** UUIDv7, so that it orders them. */
      id: string;
      account_key: string;
      at: Date;
      caller: string;
      tool: string;
      outcome: ToolOutcome;
      milliseconds: number;
      arguments_hash: Buffer;
    };
  }
}

export const tables = { served_tools: {}, tool_calls: {} } satisfies OwnedTables;
