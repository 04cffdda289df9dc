// What the Gateway of an installation needs for the object store of the platform (specification 4.5, contract 4c).
import { RefusalError, refuse, type StoreOfInstallation } from '@platform/contract';
import { sealEnvelope } from '@platform/link';
import type { CoreContext } from '../context.ts';
import type { InstallationCaller } from '../installations/face.ts';
import { whyNoStorage } from './offers-storage.ts';
import { prefixOf } from './prefix.ts';
import { rememberPrefix, selectEntitlement } from './queries.ts';

/** @throws RefusalError `unavailable`, `plan_required`, `placement_not_allowed` */
export async function storeOf(context: CoreContext, caller: InstallationCaller): Promise<StoreOfInstallation> {
  const { config, database } = context;
  const entitlement = await selectEntitlement(database, caller.installationId);
  if (entitlement === undefined) throw refuse('not_found');
  const refusal = whyNoStorage(config, await context.settings.current(), entitlement);
  if (refusal !== null || config.objectStore === null) throw new RefusalError(refusal ?? { code: 'unavailable' });
  if (caller.envelopeKey === null)
    throw refuse(
      'unavailable',
      'The node of this backend runs an older version of the platform, which cannot receive secrets. Update it.',
    );
  const { credentials, ...store } = config.objectStore;
  const prefix = prefixOf(caller.installationId);
  // Before the first byte of it can be in the store.
  await rememberPrefix(database, caller.installationId);
  const plain = Buffer.from(JSON.stringify(credentials));
  const bound = [store.endpoint, store.region, store.bucket, prefix];
  const about = { purpose: 'object-storage', installationId: caller.installationId, bound };
  const envelope = await sealEnvelope(caller.envelopeKey, about, plain);
  plain.fill(0);
  return { ...store, prefix, envelope };
}
