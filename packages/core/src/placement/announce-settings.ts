// Brings settings of the platform that assignments depend on, such as a changed file of providers or another object store, to
// the nodes: they read their assignments again when the revision grows.
import { type PermissionId, permissions } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import type { Granted } from '../policy.ts';
import { assignmentsChanged } from './change-assignments.ts';
import { keepAnnounced } from './queries.ts';

/** What follows from every grant there is follows from the settings alone. */
const EVERYTHING: Granted = {
  appId: 'any',
  grants: (Object.keys(permissions) as PermissionId[]).map((id) => ({ id, resources: ['*'] })),
  manifest: {},
};

export async function announceSettings({ database, policies }: CoreContext): Promise<void> {
  const settings = JSON.stringify(policies.of(EVERYTHING, null));
  await database.transaction().execute(async (trx) => {
    if (await keepAnnounced(trx, settings)) await assignmentsChanged(trx, null);
  });
}
