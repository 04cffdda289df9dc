// Decides which images are loaded when: a few at a time, each only where there is room for what all that are being loaded
// will take, and one for all starts that wait for it.
import { stat } from 'node:fs/promises';
import type { RequireRoom } from '../../../disk-watch.ts';
import { labels } from '../engine.ts';
import type { AppImagesOptions } from './app-images.ts';
import { type LayerSizes, loadImage } from './load-image.ts';

/** The caller whose claim it is may not take so much; others that wait for the same image may. */
export class ClaimRefused extends Error {
  readonly claim: Wanted['claim'];
  constructor(claim: Wanted['claim'], cause: unknown) {
    super('the image may not be taken', { cause });
    this.claim = claim;
  }
}

export interface Loader {
  /** @throws as `loadImage`, ClaimRefused, or the errors of the checks for room */
  load(wanted: Wanted): Promise<void>;
  /** Whether this image is just being loaded. */
  isLoading(name: string): boolean;
}

interface Wanted {
  /** The archive. */
  readonly file: string;
  /** What the image is called in the engine. */
  readonly name: string;
  readonly claim: (bytes: number) => Promise<void>;
}

/** Each has a thread, which takes a processor while it reads. */
const AT_ONCE = 2;

type Options = Pick<AppImagesOptions, 'socketPath' | 'owner' | 'requireRoom' | 'requireEngineRoom' | 'copiesLayers'>;

export function createLoader(options: Options): Loader {
  const { socketPath, owner, copiesLayers = false } = options;
  const underWay = new Map<string, Promise<void>>();
  const waiting: (() => void)[] = [];
  let running = 0;
  /** Bytes that the images being loaded were found to take, and have not all taken yet. */
  let promised = 0;

  async function inTurn(work: () => Promise<void>): Promise<void> {
    if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  }

  async function load({ file, name, claim }: Wanted): Promise<void> {
    let own = 0;
    const roomFor: RequireRoom = (bytes = 0) => {
      options.requireRoom(promised + bytes);
      options.requireEngineRoom?.(promised + bytes);
    };
    roomFor((await stat(file)).size);
    try {
      await loadImage({ file, socketPath }, async (layers) => {
        const diskBytes = unpackedBytes(layers, copiesLayers);
        await claim(diskBytes).catch((error: unknown) => {
          throw new ClaimRefused(claim, error);
        });
        // The engine first stores the layers as they come.
        const needed = diskBytes + layers.reduce((sum, { bytes }) => sum + bytes, 0);
        roomFor(needed);
        own = needed;
        promised += own;
        return {
          name,
          labels: { [labels.role]: 'app', [labels.owner]: owner, [labels.diskBytes]: String(diskBytes) },
        };
      });
    } finally {
      promised -= own;
    }
  }

  return {
    async load(wanted) {
      const before = underWay.get(wanted.name);
      if (before !== undefined) return before;
      const work = inTurn(() => load(wanted)).finally(() => underWay.delete(wanted.name));
      underWay.set(wanted.name, work);
      return work;
    },
    isLoading: (name) => underWay.has(name),
  };
}

/** With copies a layer takes what all below it take as well. */
function unpackedBytes(layers: readonly LayerSizes[], copies: boolean): number {
  let sum = 0;
  let below = 0;
  for (const { diskBytes } of layers) {
    sum += diskBytes + (copies ? below : 0);
    below += diskBytes;
  }
  return sum;
}
