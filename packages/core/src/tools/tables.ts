// What serving apps offer, as they said last, the record of calls, and proposals.
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
    tool_proposals: {
      /** `prop-` and a UUIDv7, so that it orders them. */
      id: string;
      account_key: string;
      /** The installation or connection. */
      caller_id: string;
      /** The app id, or the id of the connection. */
      caller: string;
      caller_name: string;
      caller_host: string | null;
      tool: string;
      title: string | null;
      description: string | null;
      /** `null` for a tool of the platform. */
      app_id: string | null;
      app_name: string | null;
      definition_hash: Buffer;
      confirms: boolean;
      /** JSON. */
      arguments: string;
      arguments_hash: Buffer;
      /** `running` from its approval until it has ended; a pending one has expired at `expires_at`. */
      state: 'pending' | 'running' | 'executed' | 'failed' | 'declined';
      created_at: Date;
      expires_at: Date;
      decided_at: Date | null;
      /** JSON. */
      result: string | null;
    };
  }
}

export const tables = { served_tools: {}, tool_calls: {}, tool_proposals: {} } satisfies OwnedTables;
