// Clients outside the platform, what they asked for, what they were allowed, and their tokens.
import type { Generated } from 'kysely';
import type { Json, OwnedTables } from '../database/schema.ts';

/** What oidc-provider keeps of a request or token. Its id, which is the secret, is not among it. */
export type Payload = Readonly<Record<string, unknown>>;

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    connection_clients: {
      id: string;
      name: string;
      redirect_uris: string[];
      created_at: Date;
      /** When a person last allowed it something. */
      used_at: Generated<Date | null>;
    };
    connection_requests: {
      id_hash: Buffer;
      payload: Json<Payload>;
      created_at: Date;
      expires_at: Date;
      /** Who decided; `null` while nobody has. */
      account_key: Generated<string | null>;
      continuation_hash: Generated<Buffer | null>;
    };
    connections: {
      id: string;
      account_key: string;
      client_id: string;
      client_name: string;
      client_host: string;
      client_origin: string;
      /** `null` for the tools of all apps. */
      app_id: string | null;
      scopes: string[];
      /** The one that allowed it. */
      passkey_id: string;
      created_at: Date;
      last_used_at: Generated<Date | null>;
    };
    connection_tokens: {
      token_hash: Buffer;
      connection_id: string;
      kind: 'code' | 'access' | 'refresh';
      payload: Json<Payload>;
      created_at: Date;
      expires_at: Date;
      /** When a code or refresh token was exchanged. */
      used_at: Generated<Date | null>;
    };
  }
}

export const tables = {
  connection_clients: {},
  connection_requests: {},
  connections: {},
  connection_tokens: {},
} satisfies OwnedTables;
