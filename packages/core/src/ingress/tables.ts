// The Ingresses, how they join and prove who they are, and the requests that they counted.
import type { InstallationId } from '@platform/contract';
import type { Generated } from 'kysely';
import type { OwnedTables } from '../database/schema.ts';

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
  }
}

export const tables = {
  ingresses: {
    readBy: {
      members: 'whether the Ingress that confirms a revision is still there',
      placement: 'from which keys a node takes public requests, and where it connects to Ingresses',
    },
  },
  ingress_tokens: {},
  ingress_challenges: {},
  public_requests: { readBy: { installations: 'what came to the address of an app, for its owner' } },
} satisfies OwnedTables;
