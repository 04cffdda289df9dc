// Where the drawing of an icon that is an SVG lies: beside the unpacked frontend of its package, whose one icon it is. It is
// made when a version is published, and for versions of before when their icon is first asked for.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import * as path from 'node:path';
import { limits } from '@platform/contract';
import { LRUCache } from 'lru-cache';
import { packageBlobs, type StoreContext } from '../package-file.ts';
import { imageType } from '../packages/image-type.ts';
import { readUpTo } from '../packages/read-bytes.ts';
import type { IconDrawer } from './icon-drawer.ts';

/** Beside `frontend/`, and no part of the package. */
export const DRAWN_ICON = 'icon.png';
/** Packages whose icon cannot be drawn, so that each ask does not try again; a restart does. */
const REMEMBERED = 10_000;

export type DrawnIcon = { readonly bytes: number } | { readonly fault: string };

/**
 * Draws the icon of an unpacked package, durably.
 *
 * @param unpacked holds `frontend/`
 * @param icon as the manifest names it
 * @returns how much is on the disk for it: nothing for an icon that is no SVG
 */
export async function drawIcon(drawer: IconDrawer, unpacked: string, icon: string): Promise<DrawnIcon> {
  const bytes = await readUpTo(path.join(unpacked, 'frontend', icon), limits.iconSize.value);
  if (imageType(bytes) !== 'image/svg+xml') return { bytes: 0 };
  const drawing = await drawer.draw(bytes.toString('utf8'));
  if ('fault' in drawing) return drawing;
  await writeDurably(path.join(unpacked, DRAWN_ICON), drawing.png);
  return { bytes: drawing.png.length };
}

/** Complete or not there, also where two draw the same at once. */
async function writeDurably(file: string, bytes: Uint8Array): Promise<void> {
  const written = `${file}.${randomUUID()}`;
  const handle = await open(written, 'wx', 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(written, file);
}

/** The drawings of published packages. */
export class DrawnIcons {
  readonly #context: StoreContext;
  readonly #drawer: IconDrawer;
  readonly #underWay = new Map<string, Promise<DrawnIcon>>();
  readonly #faulty = new LRUCache<string, true>({ max: REMEMBERED });

  constructor(context: StoreContext, drawer: IconDrawer) {
    this.#context = context;
    this.#drawer = drawer;
  }

  /**
   * The file of the drawing, which is made now if it is not there.
   *
   * @param icon as the manifest names it: an SVG
   * @returns `null` for one that cannot be drawn
   * @throws Error `ENOENT` when the package is gone
   */
  async fileOf(packageHash: string, icon: string): Promise<string | null> {
    const unpacked = packageBlobs(this.#context).unpacked(packageHash);
    const file = path.join(unpacked, DRAWN_ICON);
    if (existsSync(file)) return file;
    if (this.#faulty.has(packageHash)) return null;
    const drawn = await this.#once(packageHash, () => drawIcon(this.#drawer, unpacked, icon));
    if ('bytes' in drawn) return file;
    this.#faulty.set(packageHash, true);
    return null;
  }

  #once(packageHash: string, draw: () => Promise<DrawnIcon>): Promise<DrawnIcon> {
    const underWay = this.#underWay.get(packageHash);
    if (underWay !== undefined) return underWay;
    const begun = draw().finally(() => this.#underWay.delete(packageHash));
    this.#underWay.set(packageHash, begun);
    return begun;
  }
}
