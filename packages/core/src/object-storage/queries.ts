// All SQL of raw object storage.
import type { InstallationId } from '@platform/contract';
import type { Executor } from '../database/schema.ts';
import type { Entitlement } from '../placement/offers-storage.ts';

/** `undefined` when it is not installed, or runs nowhere. */
export function selectEntitlement(db: Executor, installationId: InstallationId): Promise<Entitlement | undefined> {
  return db
    .selectFrom('installations as i')
    .innerJoin('accounts as a', 'a.key', 'i.account_key')
    .innerJoin('nodes as n', 'n.id', 'i.node_id')
    .select(['a.plan', 'n.labels'])
    .where('i.id', '=', installationId)
    .where('i.removed_at', 'is', null)
    .executeTakeFirst();
}
