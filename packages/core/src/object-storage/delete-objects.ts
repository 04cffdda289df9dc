// Deletes every object of an installation, and every upload that it never completed. Can be ended and begun again at any
// moment; the store itself says what is left.
import type { InstallationId } from '@platform/contract';
import { UnconfinedError } from '@platform/http/s3';
import type { ObjectStore } from '../config/config.ts';
import type { CoreContext } from '../context.ts';
import { type ObjectsOfPrefix, StoreRefusal } from './objects-of-prefix.ts';
import { withObjectsOf } from './store-of-prefix.ts';

/** The store could not be reached, refused, or kept objects that it was asked to delete; the message says which. */
export class ObjectStoreError extends Error {
  override readonly name = 'ObjectStoreError';
}

/**
 * Nothing may write below the prefix meanwhile.
 *
 * @param milliseconds after these no request is sent any more
 * @returns whether nothing is left; false when the time or the platform's was up before, which is no failure
 * @throws ObjectStoreError when nothing could be deleted
 */
export async function deleteObjects(
  context: Pick<CoreContext, 'config' | 'stopping'>,
  store: ObjectStore,
  id: InstallationId,
  milliseconds: number,
): Promise<boolean> {
  const over = AbortSignal.any([context.stopping, AbortSignal.timeout(milliseconds)]);
  return withObjectsOf(context, { store, id, over }, async (objects) => {
    const deletion = new Deletion(objects);
    try {
      await deletion.run();
      return true;
    } catch (error) {
      if (context.stopping.aborted || (over.aborted && deletion.progressed)) return false;
      throw new ObjectStoreError(storeReason(error), { cause: error });
    }
  });
}

/** For the log, in a word or a sentence of this platform. */
export function storeReason(error: unknown): string {
  if (error instanceof StoreRefusal || error instanceof UnconfinedError) return error.message;
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

class Deletion {
  readonly #objects: ObjectsOfPrefix;
  progressed = false;

  constructor(objects: ObjectsOfPrefix) {
    this.#objects = objects;
  }

  async run(): Promise<void> {
    await this.#abortUploads();
    const atOnce = (keys: readonly string[]) => this.#objects.deleteAll(keys);
    const oneByOne = async (keys: readonly string[]) => {
      for (const key of keys) await this.#objects.deleteOne(key);
    };
    // What a store did not find in a list of names, it may find by its path. Then it is asked what there still is.
    for (const deletePage of [atOnce, oneByOne]) if ((await this.#deleteEach(deletePage)) === 0) return;
    const { items } = await this.#objects.keys('');
    if (items.length > 0) throw new StoreRefusal('the store still lists objects that it deleted');
  }

  /** @returns how many there were */
  async #deleteEach(deletePage: (keys: readonly string[]) => Promise<void>): Promise<number> {
    let count = 0;
    for (let after: string | undefined = ''; after !== undefined; ) {
      const { items, truncated } = await this.#objects.keys(after);
      if (items.length > 0) await deletePage(items);
      this.progressed ||= items.length > 0;
      count += items.length;
      after = truncated ? items.at(-1) : undefined;
    }
    return count;
  }

  async #abortUploads(): Promise<void> {
    for (let more = true, after = undefined; more; ) {
      const { items, truncated } = await this.#objects.uploads(after);
      for (const upload of items) {
        await this.#objects.abort(upload);
        this.progressed = true;
      }
      after = items.at(-1);
      more = truncated && after !== undefined;
    }
  }
}
