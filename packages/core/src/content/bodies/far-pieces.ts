// Pieces of large bodies in the object store, where one is configured. Their rows name them before the store has them, so that none is
// ever there that no row knows of; what the store gives back is compared with what was put.
import { createHash, timingSafeEqual } from 'node:crypto';
import { refuse } from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import { CONTENT_PREFIX, type OpenObjects, openObjects, StoreRefusal, storeReason } from '../../object-storage/face.ts';

export type FarContext = Pick<CoreContext, 'config' | 'log' | 'stopping'>;

/** Of one upload, or one reader. To be closed. */
export class FarPieces {
  readonly #context: FarContext;
  #open: OpenObjects | undefined;

  constructor(context: FarContext) {
    this.#context = context;
  }

  /** Whether what is large goes there. */
  get isThere(): boolean {
    return this.#context.config.objectStore !== null;
  }

  /** @throws RefusalError `unavailable` */
  async put(key: string, bytes: Buffer): Promise<void> {
    try {
      await this.#objects().put(nameOf(key), bytes);
    } catch (error) {
      throw this.#refusal(error, 'The object store of this platform does not take files at the moment. Send it again.');
    }
  }

  /**
   * @returns `undefined` where the store has none
   * @throws RefusalError `unavailable`
   */
  async get(key: string, sha256: Buffer, most: number): Promise<Buffer | undefined> {
    try {
      const bytes = await this.#objects().get(nameOf(key), most);
      if (timingSafeEqual(hashOf(bytes), sha256)) return bytes;
      throw new StoreRefusal('the store gave other bytes than it was given');
    } catch (error) {
      if (error instanceof StoreRefusal && error.status === 404) return undefined;
      throw this.#refusal(error, 'The object store of this platform does not give this at the moment. Try again.');
    }
  }

  async close(): Promise<void> {
    await this.#open?.close();
  }

  #objects(): OpenObjects['objects'] {
    const { objectStore } = this.#context.config;
    if (objectStore === null) throw new StoreRefusal('PLATFORM_OBJECT_STORE_ENDPOINT is not set any more');
    const over = this.#context.stopping;
    this.#open ??= openObjects(this.#context, { store: objectStore, prefix: CONTENT_PREFIX, over });
    return this.#open.objects;
  }

  #refusal(error: unknown, words: string): Error {
    this.#context.log.warn({ reason: storeReason(error) }, 'the object store failed for a collection or file');
    return refuse('unavailable', words);
  }
}

export function hashOf(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}

function nameOf(key: string): string {
  return `${CONTENT_PREFIX}${key}`;
}
