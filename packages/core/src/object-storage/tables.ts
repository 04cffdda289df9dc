// Which installations may have objects, and objects of installations that are gone, until they are deleted. The store
// holds everything else.
import type { InstallationId } from '@platform/contract';
import type { Generated } from 'kysely';
import type { OwnedTables, OwnedViews } from '../database/schema.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    object_prefixes: { installation_id: InstallationId };
    abandoned_objects: {
      installation_id: InstallationId;
      due_at: Date;
      attempts: Generated<number>;
      abandoned_at: Generated<Date>;
    };
    object_owners: Pick<DatabaseSchema['object_prefixes'], 'installation_id'>;
  }
}

export const tables = {
  object_prefixes: {},
  abandoned_objects: {},
} satisfies OwnedTables;

export const views = {
  object_owners: 'Which installations may have objects in the store.',
} satisfies OwnedViews;
