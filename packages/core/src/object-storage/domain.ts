// The object storage domain: core says where the store is, and deletes what nobody has any more; all other bytes pass
// through the Gateway alone.
import type { DomainRoute } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { deletingObjects } from './abandoned-objects.ts';
import { objectStoragePolicy } from './policy.ts';
import { insertAbandonedObjects } from './queries.ts';
import { storeOf } from './store-access.ts';

export function objectStorageDomain(context: CoreContext): Domain<DomainRoute<'objectStorage'>> {
  return {
    handlers: {
      'gateway.objectStorage': async ({ caller }) => ({ status: 200, body: await storeOf(context, caller) }),
    },
    jobs: [deletingObjects(context)],
    policy: objectStoragePolicy(context),
    accountDeleted: (trx, accountKey) => insertAbandonedObjects(trx, accountKey, context.clock()),
  };
}
