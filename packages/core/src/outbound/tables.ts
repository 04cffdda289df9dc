// Which secret a slot of an installed app uses.
import type { InstallationId } from '@platform/contract';
import type { SlotDeclaration } from '../catalog/face.ts';
import type { OwnedTables, OwnedViews } from '../database/schema.ts';

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
    bound_secrets: Pick<
      DatabaseSchema['secret_bindings'],
      | 'installation_id'
      | 'slot'
      | 'account_key'
      | 'secret_name'
      | 'declaration_hash'
      | 'declaration'
      | 'inject_in'
      | 'inject_name'
      | 'inject_scheme'
    >;
  }
}

export const tables = {
  secret_bindings: {},
} satisfies OwnedTables;

export const views = {
  bound_secrets: 'Which secret each slot of an installed app uses.',
} satisfies OwnedViews;
