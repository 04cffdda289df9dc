// Access to what lies below the prefix of one installation, for as long as something is done with it.
import type { InstallationId } from '@platform/contract';
import { createDialer, openDialingPool } from '@platform/http';
import { storeOrigin } from '@platform/http/s3';
import type { ObjectStore } from '../config/config.ts';
import type { CoreContext } from '../context.ts';
import { ObjectsOfPrefix } from './objects-of-prefix.ts';
import { prefixOf } from './prefix.ts';

/** @param over after it was aborted no request is sent any more */
export async function withObjectsOf<Result>(
  { config }: Pick<CoreContext, 'config'>,
  { store, id, over }: { readonly store: ObjectStore; readonly id: InstallationId; readonly over: AbortSignal },
  work: (objects: ObjectsOfPrefix) => Promise<Result>,
): Promise<Result> {
  const origin = storeOrigin(store);
  const ca = config.outbound.ca ?? undefined;
  const pool = openDialingPool(origin.origin, { dialer: createDialer(), allow: [origin.origin], ca });
  try {
    return await work(new ObjectsOfPrefix({ ...store, origin, pool }, prefixOf(id), over));
  } finally {
    await pool.destroy();
  }
}
