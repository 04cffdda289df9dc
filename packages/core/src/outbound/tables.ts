// Which secret a slot of an installed app uses.
import type { InstallationId } from '@platform/contract';
import type { SlotDeclaration } from '../catalog/face.ts';
import type { OwnedTables } from '../database/schema.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    secret_bindings: {
      installation_id: InstallationId;
      slot: string;
      account_key: string;
      secret_name: string;
      declaration_hash: string;
      declaration: Json<Omit<SlotDeclaration, 'name'>>;
      inject_in: 'header' | 'query';
      inject_name: string;
      inject_scheme: string;
    };
  }
}

export const tables = {
  secret_bindings: {
    readBy: {
      secrets: 'what a secret is bound to, in the list of secrets',
      placement: 'which slots a Gateway may use, in the one statement of assignments',
    },
  },
} satisfies OwnedTables;
