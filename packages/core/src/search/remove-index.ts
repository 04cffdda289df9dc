// Forgets what an app indexed, as a part of removing the app.
import type { InstallationId } from '@platform/contract';
import type { Transaction } from 'kysely';
import type { DatabaseSchema } from '../database/schema.ts';
import { deleteIndex, lockIndex } from './index-queries.ts';

/** Waits for a change of the index that is under way; later ones find the installation gone. */
export async function removeIndex(trx: Transaction<DatabaseSchema>, installationId: InstallationId): Promise<void> {
  await lockIndex(trx, installationId);
  await deleteIndex(trx, installationId);
}
