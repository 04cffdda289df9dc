// How much an app keeps in the object store: the store itself says it, a page at a time.
import type { InstallationId } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import type { ObjectsOfPrefix } from './objects-of-prefix.ts';
import { withObjectsOf } from './store-of-prefix.ts';

/** Of 1,000 objects each. More are not counted for a page that a person looks at. */
const MOST_PAGES = 5;
const MILLISECONDS = 3_000;

export interface ObjectUse {
  readonly bytes: number;
  /** Whether there are more objects than were counted. */
  readonly more: boolean;
}

/** `null` where the store cannot say it now, or there is none. */
export async function measureObjects(
  context: Pick<CoreContext, 'config' | 'stopping' | 'log'>,
  id: InstallationId,
): Promise<ObjectUse | null> {
  const { objectStore: store } = context.config;
  if (store === null) return null;
  const over = AbortSignal.any([context.stopping, AbortSignal.timeout(MILLISECONDS)]);
  try {
    return await withObjectsOf(context, { store, id, over }, sum);
  } catch (error) {
    context.log.warn({ installationId: id, err: error }, 'the objects of an app could not be counted');
    return null;
  }
}

async function sum(objects: ObjectsOfPrefix): Promise<ObjectUse> {
  let bytes = 0;
  let after = '';
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const { items, truncated } = await objects.sizes(after);
    for (const item of items) bytes += item.bytes;
    const last = items.at(-1)?.key;
    if (!truncated || last === undefined || last <= after) return { bytes, more: false };
    after = last;
  }
  return { bytes, more: true };
}
