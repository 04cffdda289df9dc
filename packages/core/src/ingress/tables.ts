// The Ingresses, how they join and prove who they are, and the requests that they counted.
import type { InstallationId } from '@platform/contract';
import type { Generated } from 'kysely';
import type { OwnedTables, OwnedViews } from '../database/schema.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    ingresses: {
      id: string;
      name: string;
      public_key: Buffer;
      credential_hash: Buffer;
      credential_expires_at: Date;
      beside_node: string | null;
      local: boolean;
      link: Generated<string | null>;
      joined_at: Date;
      report_run: string | null;
      report_sequence: string | null;
    };
    ingress_tokens: { token_hash: Buffer; expires_at: Date; used_by: Buffer | null };
    ingress_challenges: { nonce_hash: Buffer; ingress_id: string; expires_at: Date };
    public_requests: { installation_id: InstallationId; day: Date; outcome: string; count: Bigint };
    known_ingresses: Pick<DatabaseSchema['ingresses'], 'id' | 'public_key' | 'link'>;
    counted_requests: Pick<DatabaseSchema['public_requests'], 'installation_id' | 'day' | 'outcome' | 'count'>;
  }
}

export const tables = {
  ingresses: {},
  ingress_tokens: {},
  ingress_challenges: {},
  public_requests: {},
} satisfies OwnedTables;

export const views = {
  known_ingresses: 'Which Ingresses there are, and where nodes reach them.',
  counted_requests: 'What came to the public address of an app.',
} satisfies OwnedViews;
