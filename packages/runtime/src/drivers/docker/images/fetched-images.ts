// Images of registries: each fetched once, however many starts wait for it.
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ImageReference } from '@platform/contract';
import type { Log } from '../../../clock.ts';
import { fetchImage } from './fetch-image.ts';

export interface FetchedImages {
  /**
   * Brings an archive of the image here, has it taken by `take`, and removes it. Concurrent calls for one image share
   * the work, which ends when none of them waits any more.
   * @throws RegistryError, the errors of `take`, or the reason of `abort`
   */
  fetch(reference: ImageReference, take: (file: string) => Promise<unknown>, abort: AbortSignal): Promise<void>;
}

interface UnderWay {
  readonly work: Promise<void>;
  readonly controller: AbortController;
  waiting: number;
}

const UNFINISHED = '.new-';

export function openFetchedImages({ folder, log }: { readonly folder: string; readonly log: Log }): FetchedImages {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // What an earlier Runtime did not finish.
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { force: true });
  const underWay = new Map<string, UnderWay>();
  const hex = (digest: string) => digest.slice('sha256:'.length);

  function begin(reference: ImageReference, take: (file: string) => Promise<unknown>): UnderWay {
    const controller = new AbortController();
    const file = join(folder, `${UNFINISHED}${hex(reference.digest)}`);
    const work = (async () => {
      try {
        await fetchImage({ reference, file, abort: controller.signal, log });
        await take(file);
      } finally {
        rmSync(file, { force: true });
        underWay.delete(reference.digest);
      }
    })();
    // Waiting callers get the error; without any it must not be an unhandled rejection.
    work.catch(() => undefined);
    const begun = { work, controller, waiting: 0 };
    underWay.set(reference.digest, begun);
    return begun;
  }

  return {
    async fetch(reference, take, abort) {
      abort.throwIfAborted();
      const one = underWay.get(reference.digest) ?? begin(reference, take);
      one.waiting += 1;
      const { promise: given, reject } = Promise.withResolvers<never>();
      const give = () => reject(abort.reason);
      abort.addEventListener('abort', give);
      try {
        await Promise.race([one.work, given]);
      } finally {
        abort.removeEventListener('abort', give);
        one.waiting -= 1;
        if (one.waiting === 0) {
          // The next pull starts over and must not find remains of this one. The race above reports the outcome.
          one.controller.abort();
          await one.work.catch(() => undefined);
        }
      }
    },
  };
}
