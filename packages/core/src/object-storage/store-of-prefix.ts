// Access to what lies below one prefix, for as long as something is done with it.
import type { InstallationId } from '@platform/contract';
import { createDialer, openDialingPool } from '@platform/http';
import { storeOrigin } from '@platform/http/s3';
import type { ObjectStore } from '../config/config.ts';
import type { CoreContext } from '../context.ts';
import { ObjectsOfPrefix } from './objects-of-prefix.ts';
import { prefixOf } from './prefix.ts';

/** What lies below a prefix, with a pool of connections of its own. */
export interface OpenObjects {
  readonly objects: ObjectsOfPrefix;
  close(): Promise<void>;
}

interface Place {
  readonly store: ObjectStore;
  readonly prefix: string;
  /** After it was aborted no request is sent any more. */
  readonly over: AbortSignal;
}

/** To be closed. */
export function openObjects({ config }: Pick<CoreContext, 'config'>, { store, prefix, over }: Place): OpenObjects {
  const origin = storeOrigin(store);
  const ca = config.outbound.ca ?? undefined;
  const pool = openDialingPool(origin.origin, { dialer: createDialer(), allow: [origin.origin], ca });
  return { objects: new ObjectsOfPrefix({ ...store, origin, pool }, prefix, over), close: () => pool.destroy() };
}

/** @param over after it was aborted no request is sent any more */
export async function withObjectsOf<Result>(
  context: Pick<CoreContext, 'config'>,
  { store, id, over }: { readonly store: ObjectStore; readonly id: InstallationId; readonly over: AbortSignal },
  work: (objects: ObjectsOfPrefix) => Promise<Result>,
): Promise<Result> {
  const { objects, close } = openObjects(context, { store, prefix: prefixOf(id), over });
  try {
    return await work(objects);
  } finally {
    await close();
  }
}
